/** Every deliberate bug still fits the source, so that `bun scripts/prove.ts mutants` can try it. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readMutants } from "./mutant.ts";

const root = join(import.meta.dir, "..");
const mutants = readMutants(root);

test("mutants say what they break and who must notice", () => {
  expect(mutants.length).toBeGreaterThanOrEqual(24);
  for (const { what, tests } of mutants) {
    expect(what).toMatch(/^\S.{10,}$/);
    for (const file of tests) expect([file, existsSync(join(root, file))]).toEqual([file, true]);
  }
});

test.skipIf(Bun.which("git") === null)("each mutant applies on its own", async () => {
  const misfits = await Promise.all(
    mutants.map(async ({ name, path }) => {
      // Outside a repository too: an exported tree has none.
      const env = { PATH: process.env["PATH"], GIT_DIR: "/nonexistent" };
      const check = Bun.spawn(["git", "apply", "--check", path], { cwd: root, env, stderr: "pipe" });
      return (await check.exited) === 0 ? [] : [`${name}: ${await new Response(check.stderr).text()}`];
    }),
  );
  expect(misfits.flat()).toEqual([]);
});
