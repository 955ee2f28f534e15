/** A file that is mounted by itself cannot be replaced: it is written where it is, and comes back all the same. */
import { expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needs, ownMounts } from "../needs.ts";

needs(ownMounts).test("a mounted file is written in place, and is back after any death", async () => {
  const base = mkdtempSync(join(tmpdir(), "pai-test-"));
  const command = ["unshare", "-rm", process.execPath, join(import.meta.dir, "mounted-file.ts"), base];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  expect(JSON.parse(await new Response(child.stdout).text())).toEqual([]);
  rmSync(base, { recursive: true });
});
