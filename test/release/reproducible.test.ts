/** The same source gives the same bytes, wherever it is built (R57). */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "../grounds.ts";
import { sha256 } from "./fixture.ts";

const root = join(import.meta.dir, "../..");
/** On the disk of the checkout: its packages are linked, not copied. */
const shelf = newFolder("checkout", "reproducible");

/** Builds in a copy of the checkout at another path; sums of the binary and the man page. */
async function buildIn(folder: string): Promise<readonly string[]> {
  const copy = join(shelf, folder);
  mkdirSync(copy, { recursive: true });
  const names = ["src", "scripts", "package.json", "bun.lock", "tsconfig.json", "node_modules"];
  spawnSync("cp", ["-al", ...names, copy], { cwd: root });
  const env = { PATH: process.env["PATH"] ?? "", HOME: copy, PAI_DIST: join(copy, "out") };
  const child = Bun.spawn([process.execPath, "scripts/build.ts"], { cwd: copy, env, stdout: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0) throw new Error(await child.stderr.text());
  return ["pai", "pai.1"].map((name) => sha256(readFileSync(join(copy, "out", name))));
}

test("two folders, two builds, the same bytes (R57)", async () => {
  const [one, other] = await Promise.all(["one", "another/and deeper"].map(buildIn));
  expect(one).toEqual(other as readonly string[]);
});
