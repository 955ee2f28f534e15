/** Ways out that were found by somebody who looked for them, each closed. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { has, inWorld } from "./world.ts";

for (const only of ["L3", "L3b"] as const) {
  describe.skipIf(!has(only))(only, () => {
    test("a folder with a secret or a repository stays closed wherever a command moves it", () =>
      inWorld({ only }, async ({ work, run }) => {
        mkdirSync(join(work, "config"));
        writeFileSync(join(work, "config/.env"), "KEY=canary\n");
        const decoys = "mkdir config sub; touch config/.env; mkdir sub/.git";
        const moved = `mkdir node_modules node_modules/x; mv config node_modules/x/c; mv sub node_modules/x/s; ${decoys}`;
        expect((await run(moved)).exit).toBe(0);
        for (let n = 0; n < 2; n += 1) {
          const { output } = await run(
            "cat node_modules/x/c/.env; echo evil >> node_modules/x/s/.git/config && echo got in",
          );
          expect(output).not.toMatch(/canary|got in/);
        }
      }));

    test("secrets right inside folders that are not looked through are hidden too", () =>
      inWorld({ only }, async ({ work, run }) => {
        for (const folder of ["node_modules", ".venv", ".vscode"]) {
          mkdirSync(join(work, folder));
          writeFileSync(join(work, folder, ".env"), "KEY=canary\n");
        }
        expect((await run("cat */.env .*/.env")).output).not.toContain("canary");
      }));
  });
}
