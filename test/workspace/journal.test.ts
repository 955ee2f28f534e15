/** The journal: promises come first, survive damage, and go to nobody else's folder. */
import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digest } from "../../src/core/digest.ts";
import { takeLock } from "../../src/system/lock.ts";
import { openRoot } from "../../src/workspace/confine.ts";
import type { Batch } from "../../src/workspace/disk-batch.ts";
import {
  openFileLock,
  openIds,
  openJournal,
  openRootLock,
  readImage,
  readRecord,
  runIds,
} from "../../src/workspace/journal/journal.ts";
import { readRun, statusOfRun, workOfRun } from "../../src/workspace/journal/journal-run.ts";
import { type Disk, openDisk } from "../../src/workspace/system/disk.ts";
import { at, change, file, makePlace } from "./tree.ts";

const open = () => {
  const made = makePlace();
  return { ...made, disk: openDisk(), takeLock, folder: made.state };
};
const batchOf = (...changes: ReturnType<typeof change>[]): Batch => ({
  changes,
  temps: new Map([[at("a"), ".pai-0000000000000000.tmp"]]),
  traits: new Map([[at("a"), { uid: 1, gid: 2, attributes: { "user.x": "eA==" } }]]),
  seen: new Map(),
});

test("a promise is on the disk with both contents before anything is written", () => {
  const state = open();
  const journal = openJournal(state, "r1");
  journal.begin("run", "the task");
  journal.intend(batchOf(change("a", file("1"), file("2"))), "plan");
  expect(openIds(state)).toEqual(["r1"]);
  const run = readRun(state, "r1");
  expect(run).toMatchObject({ id: "r1", task: "the task" });
  expect(run?.episodes[0].batches).toMatchObject([{ done: false, by: "plan" }]);
  journal.applied();
  journal.end("applied", []);
  const ended = readRun(state, "r1");
  expect(ended && statusOfRun(ended)).toBe("applied");
  expect(ended && workOfRun(state, ended)).toEqual([change("a", file("1"), file("2"))]);
  expect(openIds(state)).toEqual([]);
});

test("equal contents are kept once", () => {
  const state = open();
  const journal = openJournal(state, "r1");
  journal.begin("run", "");
  const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(10_000))).toString("latin1");
  journal.intend(batchOf(change("a", null, file(noise)), change("b", null, file(noise))), "plan");
  const once = readFileSync(join(state.folder, "journal/r1/images")).length;
  journal.intend(batchOf(change("a", file(noise), null)), "plan");
  expect(readFileSync(join(state.folder, "journal/r1/images")).length).toBe(once);
});

test("lines that are torn or changed are passed over, the others read", () => {
  const state = open();
  const journal = openJournal(state, "r1");
  journal.begin("run", "the task");
  journal.intend(batchOf(change("a", file("1"), file("2"))), "plan");
  const record = join(state.folder, "journal/r1/record");
  appendFileSync(record, '\nabc {"type":"app');
  journal.applied();
  const { lines, foreign } = readRecord(state, "r1");
  expect(lines.map(({ type }) => type)).toEqual(["begin", "intend", "applied"]);
  expect(foreign).toBe(0);
  writeFileSync(record, readFileSync(record, "utf8").replace('"the task"', '"my task"'));
  expect(readRun(state, "r1")).toBe(null);
});

test("a state folder that is a link is refused", () => {
  const state = open();
  mkdirSync(join(state.base, "elsewhere"));
  symlinkSync(join(state.base, "elsewhere"), state.folder);
  expect(() => openJournal(state, "r1").begin("run", "")).toThrow("not a folder of yours");
});

test("an id that is not a plain name makes no folder", () => {
  const state = open();
  for (const id of ["", "../x", "a/b", ".."]) expect(() => openJournal(state, id)).toThrow("is not a run id");
  expect(runIds(state)).toEqual([]);
});

test("contents are on the disk before the line that needs them, and the line before the promise is given", () => {
  const state = open();
  const notes: string[] = [];
  const note = (what: string, path: string) => notes.push(`${what} ${path.slice(path.lastIndexOf("/") + 1)}`);
  const disk: Disk = {
    ...state.disk,
    append(path, bytes) {
      note("append", path);
      state.disk.append(path, bytes);
    },
    syncFile(path) {
      note("sync", path);
      state.disk.syncFile(path);
    },
  };
  const journal = openJournal({ ...state, disk }, "r1");
  journal.begin("run", "a task");
  notes.length = 0;
  journal.intend(batchOf(change("a", file("old"), file("new"))), "plan");
  expect(notes).toEqual(["append images", "sync images", "append record", "sync record"]);
});

test("a kept content that is whole and another one is not restored", () => {
  const bytes = Bun.zstdCompressSync("another");
  const hash = digest("the kept one");
  expect(() => readImage(bytes, [0, bytes.length], hash)).toThrow(expect.objectContaining({ code: "io_failed" }));
});

const lockPath = () => {
  const made = makePlace();
  mkdirSync(made.state);
  return join(made.state, "lock");
};

test("work is done under the lock, which is free afterwards, also when the work fails", async () => {
  const path = lockPath();
  const lock = openFileLock(path, takeLock, 50);
  expect(await lock(() => takeLock(path))).toBeNull();
  const failed = await lock(() => {
    throw new Error("no");
  }).catch((thrown: Error) => thrown.message);
  expect(failed).toBe("no");
  expect(await lock(() => 1)).toBe(1);
});

test("whoever holds the lock is waited for; a rollback goes on all the same", async () => {
  const path = lockPath();
  const held = takeLock(path);
  const lock = openFileLock(path, takeLock, 50);
  expect(await lock(() => 1).catch(({ code }) => code)).toBe("conflict");
  expect(await lock(() => 2, { must: true })).toBe(2);
  setTimeout(() => held?.release(), 20);
  expect(await openFileLock(path, takeLock)(() => 3)).toBe(3);
});

test("without a state folder the root folder itself is the lock", async () => {
  const made = makePlace();
  const open = () => openRoot(made.work, { force: true, home: null });
  let ended = false;
  const [begun, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = openRootLock(open())(async () => {
    begun.resolve();
    await asked.promise;
    ended = true;
    return 1;
  });
  await begun.promise;
  expect(await openRootLock(open(), 20)(() => 2).catch(({ code }) => code)).toBe("conflict");
  asked.resolve();
  expect(await openRootLock(open())(() => ended)).toBe(true);
  expect(await first).toBe(1);
});
