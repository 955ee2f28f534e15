/** What commands do to closed files, ignored paths, shut folders and processes: found, told and put back, with and without a sandbox. */
import { expect, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { needs, otherUser } from "../../needs.ts";
import { oddTime, wakes } from "../../processes.ts";
import { readOutcome } from "../contract.ts";
import { configure, findBinary, openPlace, type Place, readTree } from "../harness.ts";
import { done, hello, planned, write } from "../replies.ts";

const files = {
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": "[core]\n",
  ".git/hooks/pre-commit": "#!/bin/sh\n",
  ".git/modules/sub/HEAD": "ref: refs/heads/main\n",
  ".git/modules/sub/config": "[core]\n",
  ".gitignore": "build/\n.envrc\n",
  ".env": "KEY=mine\n",
  "build/out.js": "1\n",
  "a.txt": "a\n",
};
/** Settings, not flags, so that an old binary can be tried as well. */
const bare = { sandbox: "off" };
const ran = (command: string) => [planned([`RUN ${command}`]), done(`RUN::${command}\n`), done(""), done("")];

// F6
test.concurrent("a command of the plan that changes orders of git, or secrets, is refused as a whole", async () => {
  for (const command of [
    "echo evil >.git/config; echo A >a.txt",
    "echo evil >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout",
    "rm .git/HEAD",
    "echo evil >.git/modules/sub/config",
    "echo KEY=theirs >.env; echo A >a.txt",
    "mkdir -p .ssh; echo evil >.ssh/config",
    "echo evil >.envrc",
  ]) {
    await using place = openPlace(ran(command), files);
    chmodSync(join(place.root, ".git/hooks/pre-commit"), 0o755);
    configure(place, bare);
    const { stdout } = await place.pai(["run", "-y", "--json", "--allow-run", "build it"]);
    expect([command, place.tree()]).toEqual([command, files]);
    expect(readdirSync(place.root)).not.toContain(".ssh");
    expect(statSync(join(place.root, ".git/hooks/pre-commit")).mode & 0o777).toBe(0o755);
    expect([command, JSON.parse(stdout).changes]).toEqual([command, []]);
    expect(place.gemini.requests.at(-1)?.body).toMatch(/may not be changed|may run code later/);
  }
});

test.concurrent("a repository that a command of the plan makes goes again; --allow-write .git lets commands write it", async () => {
  await using place = openPlace(ran("git init -q && echo A >a.txt"), { "a.txt": "a\n" });
  configure(place, bare);
  await place.pai(["run", "-y", "--allow-run", "build it"]);
  expect([place.tree(), readdirSync(place.root).includes(".git")]).toEqual([{ "a.txt": "a\n" }, false]);
  await using other = openPlace(ran("echo evil >.git/config"), files);
  configure(other, bare);
  await other.pai(["run", "-y", "--allow-run", "--allow-write", ".git", "build it"]);
  expect(other.tree()).toEqual({ ...files, ".git/config": "evil\n" });
});

test.concurrent("behind the sandbox too, what a check makes anew of hidden names that run code does not stay", async () => {
  const check =
    "mkdir -p sub/.git .vscode .claude && echo x | tee sub/.git/config .vscode/tasks.json .claude/x > out.txt";
  await using place = openPlace(hello, { ".gitignore": ".claude/\n" });
  const ran = await place.pai(["run", "-y", "--no-baseline", "--check", check, "say hello"]);
  expect(ran.code).toBe(0);
  expect(Object.keys(place.tree())).toEqual([".gitignore", "hello.txt", "out.txt"]);
  expect(ran.stderr).toMatch(/which was taken back: .*\.claude\/x/);
});

const ignored = { ".gitignore": "dist/\n*.csv\n", "a.txt": "a\n", "kept.csv": "1\n", "dist/old.js": "1\n" };
const building = "echo 2 > kept.csv; echo 2 > new.csv; echo 2 > dist/new.js";
const built = [planned([`RUN ${building}`]), done(""), done("")];

/** The receipts and the log of its runs. */
function textsOf({ home, root }: Place): readonly string[] {
  const all = Object.entries({ ...readTree(home), ...readTree(join(root, ".pai_history")) });
  return all.flatMap(([name, text]) => (/\/runs\/.+\.jsonl$|\.log$/.test(name) ? [text] : []));
}

// G13
test.concurrent("a run that failed says what ignored paths stay: in words, in the document, receipt and log", async () => {
  await using place = openPlace(built, ignored);
  const args = ["run", "-y", "--allow-run", "--no-baseline", "--check", "false", "build"];
  const { code, stdout } = await place.pai(args);
  expect([code, place.tree()]).toEqual([9, { ...ignored, "dist/new.js": "2\n" }]);
  expect(stdout).toMatch(/failed, all that it had changed was taken back but 1 ignored path: dist/);
  const texts = textsOf(place);
  expect(texts.length).toBe(2);
  const stays = /"stays":\{"count":1,"paths":\["dist"\]| STAYS changed by commands, ignored and not taken back: dist\n/;
  for (const text of texts) expect(text).toMatch(stays);
  await using other = openPlace(built, ignored);
  expect(readOutcome(await other.pai([...args, "--json"]))).toMatchObject({ changes: [], stays: { count: 1 } });
});

const byOther = needs(otherUser).test.concurrent;

const folders = { "src.txt": "good\n", "d/b.txt": "good\n", "d/e/c": "good\n" };
const asOther = 'setpriv --reuid=65534 --regid=65534 --clear-groups "$PAI"';
const owned = "chmod 755 ..; chown -R 65534:65534 ..";
const shape = "find . -name .pai_history -prune -o -printf '%p %m %y\\n' | sort > ../spare";

const shutting = {
  "that is listed and not entered, is shut, read-only or new":
    "for each in d s r; do echo evil > $each/b.txt; done; echo evil > src.txt; echo n > new.txt; echo n > r/n; mkdir -p n/o; echo n > n/o/f; chmod 444 d; chmod 000 s n/o; chmod 555 r",
  "that is the project itself": "echo evil > src.txt; chmod 000 .",
};

for (const [what, command] of Object.entries(shutting)) {
  byOther(`a failed check leaves no folder ${what}`, async () => {
    const all = { ...folders, "s/b.txt": "good\n", "r/b.txt": "good\n" };
    await using place = openPlace([planned(["WRITE t.sh"]), done(write("t.sh", `${command}; exit 9\n`))], all);
    const run = `${asOther} run -y --json --max-calls 2 --no-baseline --check "sh t.sh" "go"`;
    const result = await place.shell(`${owned}; ${shape}/before; ${run}; code=$?; ${shape}/after; exit $code`);
    expect(readOutcome(result)).toMatchObject({ code: 13, changes: [] });
    const left = await place.shell("diff ../spare/before ../spare/after; cat src.txt d/e/c [dsr]/b.txt");
    expect(left.stdout).toBe("good\n".repeat(5));
    expect(await place.shell(`${asOther} history`)).toMatchObject({ code: 0, stderr: "" });
  });
}

byOther("what a verified check changed is told and undone, though it shut a folder", async () => {
  const script = "echo evil > src.txt; chmod 444 d\n";
  await using place = openPlace([planned(["WRITE t.sh"]), done(write("t.sh", script))], folders);
  const run = `${asOther} run -y --json --max-calls 2 --no-baseline --check "sh t.sh" "go"`;
  const outcome = readOutcome(await place.shell(`${owned}; ${run}`));
  expect([outcome.code, outcome.changes.map(({ path }) => path)]).toEqual([0, ["t.sh", "src.txt"]]);
  expect(JSON.stringify(outcome.notices)).toContain("d lacked rights of its owner after it");
  expect((await place.shell(`${asOther} undo -y; cat src.txt d/b.txt`)).stdout).toContain("good\ngood\n");
});

for (const mode of ["000", "111", "444"]) {
  byOther(`a folder of mode ${mode} stops no check, and a command that opens it loses nothing in it`, async () => {
    const command = "chmod 755 d; echo evil > src.txt; echo n > d/n";
    await using place = openPlace([planned(["WRITE t.md"]), done(write("t.md", "x\n")), ...ran(command)], folders);
    const run = `${asOther} run -y --json --max-calls 2 --no-baseline`;
    const first = `ln -s b.txt d/l; ${owned}; chmod ${mode} d; ${run} --check true "first"`;
    expect(readOutcome(await place.shell(first)).code).toBe(0);
    const failing = `${run} --sandbox off --allow-run --allow-delete --check false "second"`;
    expect(readOutcome(await place.shell(failing)).changes).toEqual([]);
    const left = await place.shell("cat src.txt d/b.txt d/e/c; ls d");
    expect(left.stdout).toBe(`${"good\n".repeat(3)}b.txt\ne\nl\n${mode === "444" ? "" : "n\n"}`);
  });
}

const writing = [planned(["WRITE a.txt"]), done(write("a.txt", "a\n"))];

// F8; on a busy machine one is missed now and then (docs/safety.md, "What is open").
const again = { retry: 2 };
test.concurrent("a process that left its session and its environment ends with its command", again, async () => {
  await using place = openPlace(writing);
  const time = oddTime(120);
  const check = `env -i setsid sh -c '(setsid sleep ${time} &) ; sleep 0.1' >/dev/null 2>&1 & sleep 0.5`;
  configure(place, bare);
  expect((await place.pai(["run", "-y", "--check", check, "make a.txt"])).code).toBe(0);
  await wakes(time);
});

// F7
needs(otherUser).test.concurrent("no command of an ordinary user reads the environment of pai", async () => {
  await using place = openPlace(writing);
  configure(place, bare);
  for (const folder of [dirname(place.root), place.root, place.home, place.spare]) chmodSync(folder, 0o777);
  Bun.spawnSync(["chown", "-R", "65533:65533", dirname(place.root)]);
  Bun.spawnSync(["cp", findBinary(), join(place.spare, "pai")]);
  const out = join(place.spare, "environ");
  const check = `cat /proc/$PPID/environ > ${out} 2>&1; cat /proc/*/environ 2>/dev/null | tr '\\\\0' '\\\\n' | grep -a GEMINI_API_KEY >> ${out}; true`;
  const quoted = check.replaceAll("$", "\\$").replaceAll('"', '\\"');
  // A user of its own: of the others' it would read what tests beside it start.
  const other = asOther.replaceAll("65534", "65533").replace('"$PAI"', "../spare/pai");
  const result = await place.shell(`chmod 755 ../spare/pai; exec ${other} run -y --check "${quoted}" "make a.txt"`);
  expect(result.code).toBe(0);
  expect(readFileSync(out, "latin1")).not.toContain("AIza");
  rmSync(out);
});
