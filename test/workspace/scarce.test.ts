/** No space, no inodes, a read-only mount: the old bytes stay, the failure is reported, nothing half-done is left. */
import { expect } from "bun:test";
import { join } from "node:path";
import { newFolder } from "../grounds.ts";
import { needs, ownMounts } from "../needs.ts";

async function commitWithout(scarce: "space" | "files" | "writing", where = "both") {
  const base = newFolder("disk", "test");
  const command = ["unshare", "-rm", process.execPath, join(import.meta.dir, "mounted.ts"), base, scarce, where];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  const result: unknown = await new Response(child.stdout).json();
  return result as { readonly said: Readonly<Record<string, number>>; readonly wrong: readonly string[] };
}

needs(ownMounts).test("with any room that is left, a commit happens whole or not at all", async () => {
  const { said, wrong } = await commitWithout("space");
  expect(wrong).toEqual([]);
  expect(Object.keys(said).sort()).toEqual(["disk_full", "done"]);
});

needs(ownMounts).test("with any number of files that are left, too", async () => {
  const { said, wrong } = await commitWithout("files");
  expect(wrong).toEqual([]);
  expect(Object.keys(said).sort()).toEqual(["disk_full", "done"]);
});

needs(ownMounts).test("nothing is changed where nothing can be written", async () => {
  for (const where of ["work", "state"]) {
    const { said, wrong } = await commitWithout("writing", where);
    expect(wrong).toEqual([]);
    expect(Object.keys(said)).toEqual(["read_only"]);
  }
});
