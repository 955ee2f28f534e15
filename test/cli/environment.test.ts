/** The line that says what is here: short, true to the files, and found without running anything. */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeEnvironment } from "../../src/cli/compose/environment.ts";
import { finish, plan, write } from "../flows/plans.ts";
import { play } from "../flows/scripted.ts";

test("system, tools with the versions their files tell, package manager and branch, on one line", () => {
  const root = mkdtempSync(join(tmpdir(), "pai-here-"));
  const bin = join(root, "bin");
  mkdirSync(bin);
  mkdirSync(join(root, ".git"));
  for (const name of ["python3.11", "gcc-12", "make"]) writeFileSync(join(bin, name), "#!/bin/sh\nexit 1\n");
  symlinkSync("python3.11", join(bin, "python3"));
  symlinkSync("gcc-12", join(bin, "gcc"));
  writeFileSync(join(root, ".git/HEAD"), "ref: refs/heads/feature/x\n");
  writeFileSync(join(root, "pnpm-lock.yaml"), "");
  const said = describeEnvironment({ PATH: `relative:${bin}` }, root);
  rmSync(root, { recursive: true, force: true });
  expect(said).toContain("python 3.11, gcc 12, make; packages by pnpm; git branch feature/x");
  expect(said.length).toBeLessThanOrEqual(300);
  expect(said).not.toContain("\n");
});

test("stands in the plan call before the tree", async () => {
  const lines = [plan({ steps: ["WRITE a.txt"] }), write("a.txt", "1\n") + finish()];
  const ran = await play({ lines, options: { environment: "Debian 12, x64; make" } });
  expect(ran.asked(1)).toStartWith("Here: Debian 12, x64; make\n\n<tree>");
});
