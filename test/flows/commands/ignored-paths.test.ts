/** What a command does in ignored paths goes back with the run, needs the same yes, or is counted in the outcome. */
import { expect, test } from "bun:test";
import { needs } from "../../needs.ts";
import { copies } from "../../workspace/sandbox/here.ts";
import { finish, plan } from "../plans.ts";
import { play } from "../scripted.ts";

const onCopies = needs(copies).test;
const files = {
  ".gitignore": "dist/\nnode_modules/\n*.csv\n*.log\nnotes/\n",
  "a.txt": "one\n",
  "kept.csv": "1\n",
  "notes/mine.txt": "mine\n",
  "dist/out.js": "old\n",
  "old.log": "log\n",
};
const lines = (command: string) => [
  plan({ steps: [`RUN ${command}`] }),
  `RUN::${command}\n${finish()}`,
  finish("It could not be."),
  finish("It could not be."),
];
const run = (command: string, options = {}) =>
  play({ files, lines: lines(command), options: { allowRun: true, ...options } });

// G13
onCopies("small ignored files that a command made, changed or removed go back with a run that fails", async () => {
  const command = "echo 2 > kept.csv; echo n > new.csv; mkdir -p notes/deep; echo x > notes/deep/x; echo b > dist/b.js";
  const ran = await run(command, { checks: ["false"] });
  expect(ran.files).toEqual({ ...files, "dist/b.js": "b\n" });
  expect(ran.outcome).toMatchObject({ status: "failed", changes: [], stays: { count: 1, paths: ["dist"] } });
  const well = await run(command);
  expect(well.files).toMatchObject({ "kept.csv": "2\n", "new.csv": "n\n", "notes/deep/x": "x\n" });
  expect(well.outcome.changes.map(({ op, path }) => `${op} ${path}`).sort()).toEqual([
    "create new.csv",
    "create notes/deep/x",
    "mkdir notes/deep",
    "modify kept.csv",
  ]);
  expect(well.outcome.diff).toBe("");
});

// G23
onCopies(
  "removing ignored files headless needs --allow-delete; what a tool made and what is passing does not",
  async () => {
    for (const [command, what] of [
      ["rm kept.csv", "it deletes kept.csv: headless that needs --allow-delete"],
      ["rm -r notes", "it deletes notes/mine.txt: headless that needs --allow-delete"],
      ["rm -r dist", "it deletes dist, ignored and cannot be restored: headless that needs --allow-delete"],
      ["rm -r notes; echo n > notes", "it deletes notes/mine.txt"],
    ] as const) {
      const ran = await run(command);
      expect([command, ran.files]).toEqual([command, files]);
      expect(ran.eventsOf("call.finished")[0]?.text).toContain(what);
    }
    expect((await run("rm dist/out.js old.log; echo n > dist/new.js")).files).toMatchObject({ "dist/new.js": "n\n" });
    const allowed = await run("rm -r notes dist", { allowDelete: true, checks: ["false"] });
    expect(allowed.files).toMatchObject({ "notes/mine.txt": "mine\n" });
    expect(allowed.outcome).toMatchObject({ changes: [], stays: { count: 1, paths: ["dist"] } });
  },
);

test("what a check of the user does to ignored files of the run is the run's, and goes back with it", async () => {
  const ran = await run("echo n > new.csv", { checks: ["echo checked >> new.csv; false"] });
  expect(ran.files).toEqual(files);
  expect(ran.eventsOf("notice").filter(({ code }) => code === "left_in_place")).toEqual([]);
  const other = await run("echo n > a.txt", { checks: ["echo checked >> kept.csv; false"] });
  expect(other.outcome).toMatchObject({ changes: [], stays: { count: 1, paths: ["kept.csv"] } });
});
