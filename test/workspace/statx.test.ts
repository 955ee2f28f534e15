/** What statx reports of files is what node:fs reports. */
import { afterAll, expect, test } from "bun:test";
import { lstatSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toStat } from "../../src/workspace/system/stat.ts";
import { openStatx, openWholeStatx, type QuickStat } from "../../src/workspace/system/statx.ts";

const folder = mkdtempSync(join(tmpdir(), "pai-statx-"));
afterAll(() => rmSync(folder, { recursive: true }));

mkdirSync(join(folder, "below/é"), { recursive: true });
writeFileSync(join(folder, "below/é/file"), "five\n");
writeFileSync(join(folder, "old"), "");
utimesSync(join(folder, "old"), 1.25, 1.25);
writeFileSync(join(folder, "before 1970"), "x");
utimesSync(join(folder, "before 1970"), -3600.5, -3600.5);
symlinkSync("old", join(folder, "link"));
symlinkSync("nowhere", join(folder, "broken"));

function lookByNode(path: string): QuickStat | null {
  const stat = lstatSync(join(folder, path), { throwIfNoEntry: false });
  if (stat === undefined) return null;
  const kind = stat.isFile() ? "file" : stat.isDirectory() ? "folder" : "other";
  return { kind, size: stat.size, mtime: stat.mtimeMs, ctime: stat.ctimeMs, inode: stat.ino };
}

const look = openStatx();

test.skipIf(look === null)("tells of files, folders and links what node:fs tells", () => {
  const fd = openSync(folder, "r");
  for (const path of [".", "below", "below/é", "below/é/file", "old", "before 1970", "link", "broken"])
    expect(look?.(fd, path)).toEqual(lookByNode(path));
});

test.skipIf(look === null)("tells nothing of what is not there, and of no name that the system would cut", () => {
  const fd = openSync(folder, "r");
  const long = `${"below/../".repeat(500)}old`;
  for (const path of ["none", "old/none", "old\0", "", long]) expect(look?.(fd, path)).toBeNull();
  expect(look?.(9999, "old")).toBeNull();
});

const lookWhole = openWholeStatx();

test.skipIf(lookWhole === null)("tells every field of a stat as node:fs tells it, on any device", () => {
  const fd = openSync(folder, "r");
  for (const path of [".", "below", "below/é/file", "old", "before 1970", "/proc/self/stat", "/dev/null", "/dev/shm"]) {
    const at = path.startsWith("/") ? path : join(folder, path);
    expect(lookWhole?.(fd, path)).toEqual(toStat(lstatSync(at, { bigint: true }), null));
  }
});

test.skipIf(lookWhole === null)("leaves links, whose target it does not know, and what is missing to node:fs", () => {
  const fd = openSync(folder, "r");
  for (const path of ["link", "broken", "none"]) expect(lookWhole?.(fd, path)).toBeNull();
});
