/** What a transaction promises: all or nothing, exact bytes and modes, and never over somebody else's work. */
import { expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { Blob, Change } from "../../src/core/change.ts";
import { isTemporary } from "../../src/workspace/atomic-write.ts";
import { openDisk } from "../../src/workspace/system/disk.ts";
import { needs, rootUser } from "../needs.ts";
import { at, change, file, makePlace, openPlace, treeOf } from "./tree.ts";

test("creates, modifies, deletes, moves and links in one batch, and takes it all back", async () => {
  const { work, ...rest } = makePlace({ "a.txt": "one\r\n", "old/b.txt": "b", "gone.txt": "g" });
  chmodSync(join(work, "a.txt"), 0o754);
  mkdirSync(join(work, "empty"), { mode: 0o750 });
  const before = treeOf(work);
  const tx = openPlace({ work, ...rest }).begin("r1");
  await tx.apply([
    change("a.txt", file("one\r\n", 0o754), file("two\r\n", 0o754)),
    change("new/deep/c.txt", null, file("", 0o666)),
    change("gone.txt", file("g"), null),
    change("old/b.txt", file("b"), null),
    change("old", { kind: "folder", mode: 0o755 }, null),
    change("moved/b.txt", null, file("b"), "old/b.txt"),
    change("link", null, { kind: "link", target: "a.txt" }),
    change("empty", { kind: "folder", mode: 0o750 }, null),
  ]);
  expect(treeOf(work)).toEqual({
    "a.txt": "file 754 two\r\n",
    link: "link a.txt",
    moved: "folder 755",
    "moved/b.txt": "file 644 b",
    new: "folder 755",
    "new/deep": "folder 755",
    "new/deep/c.txt": "file 644 ",
  });
  expect((await tx.rollback()).left).toEqual([]);
  expect(treeOf(work)).toEqual(before);
});

test("a conflict names the file and touches nothing", async () => {
  const made = makePlace({ "a.txt": "mine", "b.txt": "b" });
  const tx = openPlace(made).begin("r1");
  const before = treeOf(made.work);
  const apply = tx.apply([change("a.txt", file("theirs"), file("x")), change("b.txt", file("b"), file("c"))]);
  await expect(apply).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("a.txt") });
  expect(treeOf(made.work)).toEqual(before);
});

test("refuses to create over a file, and to modify one that is missing, has another mode or became a link", async () => {
  const made = makePlace({ "a.txt": "a", "b.txt": "b", "real.txt": "c" });
  chmodSync(join(made.work, "b.txt"), 0o600);
  symlinkSync("real.txt", join(made.work, "c.txt"));
  const tx = openPlace(made).begin("r1");
  const modified = ["z", "b", "c"].map((one) => change(`${one}.txt`, file(one), file("x")));
  const wrong = [change("a.txt", null, file("x")), ...modified];
  for (const one of wrong) await expect(tx.apply([one])).rejects.toMatchObject({ code: "conflict" });
});

test("a file where a folder is needed fails with nothing made", async () => {
  const made = makePlace({ f: "f" });
  const tx = openPlace(made).begin("r1");
  await expect(tx.apply([change("new/x", null, file("x")), change("f/x", null, file("x"))])).rejects.toMatchObject({
    code: "file_unusable",
  });
  expect(treeOf(made.work)).toEqual({ f: "file 644 f" });
});

test("a folder that holds more than the changes take away is not removed", async () => {
  const made = makePlace({ "d/a": "a", "d/b": "b" });
  const tx = openPlace(made).begin("r1");
  const removal = [change("d", { kind: "folder", mode: 0o755 }, null), change("d/a", file("a"), null)];
  await expect(tx.apply(removal)).rejects.toMatchObject({ code: "delete_refused" });
  expect(Object.keys(treeOf(made.work))).toEqual(["d", "d/a", "d/b"]);
});

test("a file becomes a folder and a folder a file, and back", async () => {
  const made = makePlace({ f: "f", "d/x": "x" });
  const before = treeOf(made.work);
  const tx = openPlace(made).begin("r1");
  await tx.apply([
    change("f", file("f"), { kind: "folder", mode: 0o755 }),
    change("f/in", null, file("in")),
    change("d", { kind: "folder", mode: 0o755 }, file("d")),
    change("d/x", file("x"), null),
  ]);
  expect(treeOf(made.work)).toEqual({ d: "file 644 d", f: "folder 755", "f/in": "file 644 in" });
  await tx.rollback();
  expect(treeOf(made.work)).toEqual(before);
});

test("rollback leaves and reports what somebody else changed meanwhile", async () => {
  const made = makePlace({ "a.txt": "a", "b.txt": "b" });
  const tx = openPlace(made).begin("r1");
  const edits = [change("a.txt", file("a"), file("A")), change("b.txt", file("b"), file("B"))];
  await tx.apply([...edits, change("new/c.txt", null, file("c"))]);
  writeFileSync(join(made.work, "a.txt"), "theirs");
  writeFileSync(join(made.work, "new/other"), "other");
  const report = await tx.rollback();
  expect(report.left.toSorted()).toEqual([at("a.txt"), at("new")]);
  expect(treeOf(made.work)).toEqual({
    "a.txt": "file 644 theirs",
    "b.txt": "file 644 b",
    new: "folder 755",
    "new/other": "file 644 other",
  });
});

test("several batches are one transaction", async () => {
  const made = makePlace({ "a.txt": "1" });
  const tx = openPlace(made).begin("r1");
  await tx.apply([change("a.txt", file("1"), file("2"))]);
  await tx.apply([change("a.txt", file("2"), file("3"))]);
  await tx.apply([change("a.txt", file("3"), null)]);
  expect(tx.changes.length).toBe(3);
  await tx.rollback();
  expect(treeOf(made.work)).toEqual({ "a.txt": "file 644 1" });
});

test("a file that nobody changed keeps its time, and suid bits are never written", async () => {
  const made = makePlace({ "a.txt": "a", "b.txt": "b" });
  utimesSync(join(made.work, "b.txt"), 1000, 1000);
  chmodSync(join(made.work, "a.txt"), 0o4755);
  const tx = openPlace(made).begin("r1");
  await tx.apply([change("a.txt", file("a", 0o4755), file("A", 0o4755))]);
  expect(lstatSync(join(made.work, "b.txt")).mtimeMs).toBe(1_000_000);
  expect(lstatSync(join(made.work, "a.txt")).mode & 0o7777).toBe(0o755);
});

needs(rootUser).test("owner is kept when pai is root", async () => {
  const made = makePlace({ "a.txt": "a" });
  const { chownSync } = await import("node:fs");
  chownSync(join(made.work, "a.txt"), 1234, 2345);
  const tx = openPlace(made).begin("r1");
  await tx.apply([change("a.txt", file("a"), file("b"))]);
  const owner = () => [lstatSync(join(made.work, "a.txt")).uid, lstatSync(join(made.work, "a.txt")).gid];
  expect(owner()).toEqual([1234, 2345]);
  await tx.apply([change("a.txt", file("b"), null)]);
  await tx.rollback();
  expect(owner()).toEqual([1234, 2345]);
});

const errnos = ["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS", "EACCES"];

test("whatever the disk refuses, wherever: old bytes, an error, no temporary file", async () => {
  const made = makePlace();
  for (let n = 0; ; n++) {
    rmSync(made.work, { recursive: true });
    mkdirSync(made.work);
    writeFileSync(join(made.work, "a.txt"), "a");
    writeFileSync(join(made.work, "b.txt"), "b");
    const before = treeOf(made.work);
    const errno = errnos[n % errnos.length] ?? "EIO";
    let effects = 0;
    const disk = openDisk(() => {
      if (effects++ === n) throw Object.assign(new Error(errno), { code: errno });
    });
    const tx = openPlace(made, disk).begin(`r${n}`);
    const edits = [change("a.txt", file("a"), file("A")), change("b.txt", file("b"), null)];
    const applied = tx.apply([...edits, change("d/c.txt", null, file("c"))]);
    const failed = await applied.then(() => null).catch((error: { code: string }) => error.code);
    if (effects <= n) break;
    const tree = treeOf(made.work);
    expect(Object.keys(tree).filter((path) => isTemporary(path.split("/").at(-1) ?? ""))).toEqual([]);
    if (failed === null || "d/c.txt" in tree) expect(Object.keys(tree)).toEqual(["a.txt", "d", "d/c.txt"]);
    else expect(tree).toEqual(before);
  }
});

const names = ["a", "b", "d", "d/x", "d/y", "d/e", "d/e/z"];
const blobs: fc.Arbitrary<Blob> = fc.oneof(
  fc.record({
    kind: fc.constant("file" as const),
    bytes: fc.uint8Array({ maxLength: 20 }),
    mode: fc.constantFrom(0o644, 0o600, 0o755, 0o640),
  }),
  fc.record({ kind: fc.constant("folder" as const), mode: fc.constantFrom(0o755, 0o700) }),
  fc.record({ kind: fc.constant("link" as const), target: fc.constantFrom("a", "nowhere", "../..") }),
);
const trees = fc.dictionary(fc.constantFrom(...names), blobs, { noNullPrototype: true }).map(wellFormed);

/** Only what has folders above it can stand in a tree. */
function wellFormed(tree: Record<string, Blob>): Map<string, Blob> {
  const kept = new Map<string, Blob>();
  for (const name of names) {
    const blob = tree[name];
    const parent = name.split("/").slice(0, -1).join("/");
    if (blob && (parent === "" || kept.get(parent)?.kind === "folder")) kept.set(name, blob);
  }
  return kept;
}

test("from any tree to any other and back is the same tree", async () => {
  await fc.assert(
    fc.asyncProperty(trees, trees, async (from, to) => {
      const made = makePlace();
      try {
        const paths = names.filter((name) => from.has(name) || to.has(name));
        const between = (a: Map<string, Blob>, b: Map<string, Blob>): Change[] =>
          paths.map((name) => change(name, a.get(name) ?? null, b.get(name) ?? null));
        const opened = openPlace(made);
        await opened.begin("r0").apply(between(new Map(), from));
        const before = treeOf(made.work);
        const tx = opened.begin("r1");
        const now = new Map(from);
        for (const [name, blob] of now) {
          if (blob.kind === "file") now.set(name, { ...blob, mode: lstatSync(join(made.work, name)).mode & 0o7777 });
        }
        await tx.apply(between(now, to));
        expect(Object.keys(treeOf(made.work)).sort()).toEqual([...to.keys()].sort());
        expect((await tx.rollback()).left).toEqual([]);
        expect(treeOf(made.work)).toEqual(before);
        opened.root.close();
      } finally {
        made.remove();
      }
    }),
    { numRuns: 60 },
  );
});

/** A signal that is aborted when it is asked for the time of this number; `asked` counts. */
function abortedAt(time: number): { readonly signal: AbortSignal; readonly asked: () => number } {
  const { signal } = new AbortController();
  let count = 0;
  Object.defineProperty(signal, "aborted", { get: () => ++count >= time });
  Object.defineProperty(signal, "reason", { value: new Error("stopped") });
  return { signal, asked: () => count };
}

const thousand = Array.from({ length: 1000 }, (_, at) => change(`d${at % 20}/f${at}.txt`, null, file(`${at}`)));
const batch = [change("a.txt", file("a"), file("A")), ...thousand];

test("a batch of a thousand that is interrupted at any step is not done", async () => {
  const made = makePlace({ "a.txt": "a" });
  const before = treeOf(made.work);
  const whole = openPlace(made).begin("r0");
  const never = abortedAt(Number.POSITIVE_INFINITY);
  await whole.apply(batch, "plan", never.signal);
  await whole.rollback();
  const steps = never.asked();
  expect(steps).toBeGreaterThan(batch.length);
  const tx = openPlace(made).begin("r1");
  for (const part of [0, 0.5, 0.9]) {
    const { signal } = abortedAt(1 + Math.floor(part * steps));
    await expect(tx.apply(batch, "plan", signal)).rejects.toThrow("stopped");
    expect(treeOf(made.work)).toEqual(before);
  }
  expect(tx.changes).toEqual([]);
});
