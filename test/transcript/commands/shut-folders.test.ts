/** An ordinary user's run whose check or command takes rights from folders: it is seen, told and taken back all the same. */
import { expect } from "bun:test";
import { needs, otherUser } from "../../needs.ts";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, planned, write } from "../replies.ts";

const byOther = needs(otherUser).test.concurrent;

const files = { "src.txt": "good\n", "d/b.txt": "good\n", "d/e/c": "good\n" };
const asOther = 'setpriv --reuid=65534 --regid=65534 --clear-groups "$PAI"';
const owned = "chmod 755 ..; chown -R 65534:65534 ..";
const shape = "find . -name .pai_history -prune -o -printf '%p %m %y\\n' | sort > ../spare";

const commands = {
  "that is listed and not entered, is shut, read-only or new":
    "for each in d s r; do echo evil > $each/b.txt; done; echo evil > src.txt; echo n > new.txt; echo n > r/n; mkdir -p n/o; echo n > n/o/f; chmod 444 d; chmod 000 s n/o; chmod 555 r",
  "that is the project itself": "echo evil > src.txt; chmod 000 .",
};

for (const [what, command] of Object.entries(commands)) {
  byOther(`a failed check leaves no folder ${what}`, async () => {
    const all = { ...files, "s/b.txt": "good\n", "r/b.txt": "good\n" };
    await using place = openPlace([planned(["WRITE t.sh"]), done(write("t.sh", `${command}; exit 9\n`))], all);
    const run = `${asOther} run -y --json --max-calls 2 --no-baseline --check "sh t.sh" "go"`;
    const result = await place.shell(`${owned}; ${shape}/before; ${run}; code=$?; ${shape}/after; exit $code`);
    const outcome = readOutcome(result);
    expect([outcome.code, outcome.changes]).toEqual([13, []]);
    expect((await place.shell("diff ../spare/before ../spare/after; cat src.txt d/e/c [dsr]/b.txt")).stdout).toBe(
      "good\n".repeat(5),
    );
    expect(await place.shell(`${asOther} history`)).toMatchObject({ code: 0, stderr: "" });
  });
}

byOther("what a verified check changed is told and undone, though it shut a folder", async () => {
  const script = "echo evil > src.txt; chmod 444 d\n";
  await using place = openPlace([planned(["WRITE t.sh"]), done(write("t.sh", script))], files);
  const run = `${asOther} run -y --json --max-calls 2 --no-baseline --check "sh t.sh" "go"`;
  const outcome = readOutcome(await place.shell(`${owned}; ${run}`));
  expect([outcome.code, outcome.changes.map(({ path }) => path)]).toEqual([0, ["t.sh", "src.txt"]]);
  expect(JSON.stringify(outcome.notices)).toContain("d lacked rights of its owner after it");
  expect((await place.shell(`${asOther} undo -y; cat src.txt d/b.txt`)).stdout).toContain("good\ngood\n");
});

for (const mode of ["000", "111", "444"]) {
  byOther(
    `a folder of mode ${mode} beforehand stops no check, and a command that opens it loses nothing in it`,
    async () => {
      const command = "chmod 755 d; echo evil > src.txt; echo n > d/n";
      const answers = [
        planned(["WRITE t.md"]),
        done(write("t.md", "x\n")),
        planned([`RUN ${command}`]),
        done(`RUN::${command}\n`),
      ];
      await using place = openPlace(answers, files);
      const run = `${asOther} run -y --json --max-calls 2 --no-baseline`;
      const first = `ln -s b.txt d/l; ${owned}; chmod ${mode} d; ${run} --check true "first"`;
      expect(readOutcome(await place.shell(first)).code).toBe(0);
      const failing = `${run} --sandbox off --allow-run --allow-delete --check false "second"`;
      expect(readOutcome(await place.shell(failing)).changes).toEqual([]);
      const left = await place.shell("cat src.txt d/b.txt d/e/c; ls d");
      expect(left.stdout).toBe(`${"good\n".repeat(3)}b.txt\ne\nl\n${mode === "444" ? "" : "n\n"}`);
    },
  );
}
