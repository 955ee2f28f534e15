/** A promise of the journal is worth something: it lasts before the work begins, and damage is noticed. */
import { afterEach, expect, test } from "bun:test";
import { takeLock } from "../../src/system/lock.ts";
import type { Batch } from "../../src/workspace/disk-batch.ts";
import { openJournal, readImage } from "../../src/workspace/journal/journal.ts";
import { type Disk, openDisk } from "../../src/workspace/system/disk.ts";
import { change, file, makePlace, type Place } from "./tree.ts";

let place: Place = makePlace();
afterEach(() => place.remove());

/** A disk that writes down what it does to the journal's files: `append record`, `sync images`. */
function noting(): { readonly disk: Disk; readonly notes: string[] } {
  const notes: string[] = [];
  const note = (what: string, path: string) => notes.push(`${what} ${path.slice(path.lastIndexOf("/") + 1)}`);
  const disk = openDisk();
  return {
    notes,
    disk: {
      ...disk,
      append(path, bytes) {
        note("append", path);
        disk.append(path, bytes);
      },
      syncFile(path) {
        note("sync", path);
        disk.syncFile(path);
      },
    },
  };
}

test("contents are on the disk before the line that needs them, and the line before the promise is given", () => {
  place = makePlace();
  const { disk, notes } = noting();
  const journal = openJournal({ folder: place.state, disk, takeLock }, "r1");
  const batch: Batch = {
    changes: [change("a.txt", file("old"), file("new"))],
    temps: new Map(),
    traits: new Map(),
    seen: new Map(),
  };
  journal.begin("run", "a task");
  notes.length = 0;
  journal.intend(batch, "plan");
  expect(notes).toEqual(["append images", "sync images", "append record", "sync record"]);
});

test("a kept content that is whole and another one is not restored", () => {
  const bytes = Bun.zstdCompressSync("another");
  const hash = new Bun.CryptoHasher("sha256").update("the kept one").digest("hex");
  expect(() => readImage(bytes, [0, bytes.length], hash)).toThrow(expect.objectContaining({ code: "io_failed" }));
});
