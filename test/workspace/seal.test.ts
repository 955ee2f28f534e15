/** The key of the journal's seal, where two of pai begin at the same moment. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { openSeal, prepareSeal } from "../../src/workspace/journal/record.ts";
import { type Disk, openDisk } from "../../src/workspace/system/disk.ts";
import { newFolder } from "../grounds.ts";

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
