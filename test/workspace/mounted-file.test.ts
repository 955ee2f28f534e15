/** Files that are mounted, disks that are scarce, records that are sealed. */
import { expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSeal, prepareSeal } from "../../src/workspace/journal/record.ts";
import { type Disk, openDisk } from "../../src/workspace/system/disk.ts";
import { newFolder } from "../grounds.ts";
import { needs, otherUser, ownMounts } from "../needs.ts";

/** What a script of this folder says as JSON. */
async function said(starter: readonly string[], script: string, ...args: readonly string[]): Promise<unknown> {
  const command = [...starter, process.execPath, join(import.meta.dir, script), ...args];
  return new Response(Bun.spawn(command, { stdout: "pipe", stderr: "inherit" }).stdout).json();
}
const privately = ["unshare", "-rm"];

needs(ownMounts).test("a mounted file is written in place, and is back after any death", async () => {
  expect(await said(privately, "mounted-file.ts", newFolder("disk", "test"), "mount")).toEqual([]);
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
  expect([await said(starter, "mounted-file.ts", base, "group"), statSync(file).gid]).toEqual([[], 33]);
});

async function commitWithout(scarce: "space" | "files" | "writing", where = "both") {
  const result = await said(privately, "mounted.ts", newFolder("disk", "test"), scarce, where);
  return result as { readonly said: Readonly<Record<string, number>>; readonly wrong: readonly string[] };
}

needs(ownMounts).test.each(["space", "files"] as const)(
  "however little is left of %s, a commit happens whole or not at all",
  async (scarce) => {
    const { said, wrong } = await commitWithout(scarce);
    expect(wrong).toEqual([]);
    expect(Object.keys(said).sort()).toEqual(["disk_full", "done"]);
  },
);

needs(ownMounts).test("nothing is changed where nothing can be written", async () => {
  for (const where of ["work", "state"]) {
    const { said, wrong } = await commitWithout("writing", where);
    expect(wrong).toEqual([]);
    expect(Object.keys(said)).toEqual(["read_only"]);
  }
});

const line = "a line of a record";
const sealOf = (folder: string) => openSeal({ folder, disk: openDisk() }, "run")?.(line) ?? null;

test("the key of the one that was quicker stays: what it sealed can be undone", () => {
  const folder = newFolder("disk", "seal");
  const disk = openDisk();
  let quicker: string | null = null;
  /** The other makes its key and seals with it while this one has written its own but not named it. */
  const late: Disk = {
    ...disk,
    createFile(...given) {
      const created = disk.createFile(...given);
      prepareSeal({ folder, disk });
      quicker = sealOf(folder);
      return created;
    },
  };
  prepareSeal({ folder, disk: late });
  expect(quicker).not.toBeNull();
  expect([sealOf(folder), readdirSync(folder)]).toEqual([quicker, ["seal"]]);
});
