/** What a planned command changed without a copy of the project is judged by the same rules as a proposal. */
import { expect, test } from "bun:test";
import { finish, planTo } from "../plans.ts";
import { play, type Setup } from "../scripted.ts";

const files = {
  ".gitignore": "dist/\nnotes/\n*.csv\n",
  "a.txt": "one\n",
  "b.txt": "two\n",
  "kept.csv": "1\n",
  "dist/out.js": "old\n",
  "notes/mine.txt": "mine\n",
};
const lines = (command: string) => [
  planTo(`RUN ${command}`),
  `RUN::${command}\n${finish()}`,
  finish("It could not be."),
  finish("It could not be."),
];

const sandbox = { choice: "off" } as const;
const run = (command: string, options = {}, where: Pick<Setup, "sandbox"> = { sandbox }) =>
  play({ files, lines: lines(command), options: { allowRun: true, ...options }, ...where });

test("what is refused of it refuses all of it: outside --only, a deletion", async () => {
  for (const [command, options, why] of [
    ["echo x >> a.txt; echo y >> b.txt", { only: [["a.txt"]] }, "b.txt is outside --only a.txt"],
    ["echo x >> a.txt; rm b.txt", { only: [["a.txt"]], allowDelete: true }, "b.txt is outside --only a.txt"],
    ["echo x >> a.txt; mkdir new", { only: [["a.txt"]] }, "new is outside --only a.txt"],
    ["echo x >> a.txt; rm b.txt", {}, "it deletes b.txt: headless that needs --allow-delete"],
    ["rm notes/mine.txt", {}, "it deletes notes/mine.txt: headless that needs --allow-delete"],
  ] as const) {
    const ran = await run(command, options);
    expect([command, ran.files]).toEqual([command, files]);
    const [first] = ran.eventsOf("call.finished");
    expect(first?.text).toContain(`what the command changed was taken back. ${why}`);
    expect(ran.outcome.changes).toEqual([]);
  }
  expect((await run("echo x >> a.txt", { only: [["a.txt"]] })).files["a.txt"]).toBe("one\nx\n");
});

test("a file too large to be kept is judged, too, and goes back with the rest", async () => {
  const large = "head -c 1500000 /dev/zero";
  for (const command of [`${large} > new.bin`, `${large} > b.txt`, `echo x >> a.txt; ${large} > new.bin`]) {
    const ran = await run(command, { only: [["a.txt"]] });
    expect([command, ran.files]).toEqual([command, files]);
    expect(ran.eventsOf("call.finished")[0]?.text).toContain("is outside --only a.txt");
  }
});

test("ignored files outside --only are left out, and what is lost of them is refused", async () => {
  const ran = await run("echo x >> a.txt; echo n > notes/new.txt", { only: [["a.txt"]] });
  expect(ran.files).toEqual({ ...files, "a.txt": "one\nx\n" });
  const told = ran.notices();
  expect(told.join("\n")).toContain("notes/new.txt is ignored: it was not kept, as --only a.txt leaves it out");
  const lost = await run("rm -r dist; echo x >> a.txt");
  expect(lost.files["a.txt"]).toBe("one\n");
  expect(lost.eventsOf("call.finished")[0]?.text).toContain(
    "it deleted dist, which cannot be restored: headless that needs --allow-delete",
  );
  expect(lost.outcome.stays).toEqual({ count: 1, paths: ["dist"] });
});

test("what cannot be taken back of a refused command is counted and told, and is no conflict later", async () => {
  const large = "head -c 1500000 /dev/zero";
  const command = `rm -rf dist; ${large} > new.bin; echo K > .env.new`;
  const again = `RUN::${command}
${finish()}`;
  const ran = await play({
    files,
    lines: [planTo(`RUN ${command}`), again, again, finish("It could not be.")],
    options: { allowRun: true },
    sandbox,
  });
  expect(Object.keys(ran.files)).toEqual([".gitignore", "a.txt", "b.txt", "kept.csv", "notes/mine.txt"]);
  expect(ran.outcome).toMatchObject({ changes: [], stays: { count: 1, paths: ["dist"] } });
  const told = ran.notices();
  expect(told.join("\n")).toContain("dist is ignored: no undo takes its change back");
  expect(told.join("\n")).not.toContain("new.bin changed");
  expect(ran.outcome.error?.code).not.toBe("conflict");
});

test("what a check of the user does to ignored files of the run is the run's, and goes back with it", async () => {
  const ran = await run("echo n > new.csv", { checks: ["echo checked >> new.csv; false"] }, {});
  expect(ran.files).toEqual(files);
  expect(ran.notices("left_in_place")).toEqual([]);
  const other = await run("echo n > a.txt", { checks: ["echo checked >> kept.csv; false"] }, {});
  expect(other.outcome).toMatchObject({ changes: [], stays: { count: 1, paths: ["kept.csv"] } });
});
