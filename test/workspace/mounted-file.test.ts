/** A file that cannot be replaced as it is, is written in its place, and comes back all the same. */
import { expect } from "bun:test";
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "../grounds.ts";
import { needs, otherUser, ownMounts } from "../needs.ts";

async function wrongIn(base: string, starter: readonly string[], how: "group" | "mount"): Promise<unknown> {
  const command = [...starter, process.execPath, join(import.meta.dir, "mounted-file.ts"), base, how];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  return JSON.parse(await new Response(child.stdout).text());
}

needs(ownMounts).test("a mounted file is written in place, and is back after any death", async () => {
  const base = newFolder("disk", "test");
  expect(await wrongIn(base, ["unshare", "-rm"], "mount")).toEqual([]);
});

needs(otherUser).test("a file of a group that is not the user's keeps it, and is back after any death", async () => {
  const base = newFolder("disk", "test");
  const file = join(base, "work", "hosts");
  mkdirSync(join(base, "work"));
  writeFileSync(file, "");
  for (const path of [base, join(base, "work")]) chownSync(path, 65534, 65534);
  chownSync(file, 65534, 33);
  chmodSync(file, 0o644);
  const starter = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  expect([await wrongIn(base, starter, "group"), statSync(file).gid]).toEqual([[], 33]);
});
