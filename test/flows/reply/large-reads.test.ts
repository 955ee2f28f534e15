/** What a run remembers of large files that it reads: enough to notice a change, not their bytes. */
import { expect, test } from "bun:test";
import type { Blob } from "../../../src/core/change.ts";
import type { RelPath } from "../../../src/core/path.ts";
import type { View } from "../../../src/core/ports.ts";
import { createVeil } from "../../../src/core/secrets/veil.ts";
import { createOverlay, createVeiledView } from "../../../src/flows/stage.ts";

const mib = 1024 * 1024;
const path = "data.txt" as RelPath;
const fileOf = (bytes: Uint8Array, mode = 0o644): Blob => ({ kind: "file", bytes, mode });

/** A view of which only reading works. */
const viewOf = (read: (path: RelPath) => Blob | null) => ({ read: async (each: RelPath) => read(each) }) as View;

/** Reads a large file, changes it to `next`, and tells whether that is a conflict. */
async function isConflict(next: Blob | null): Promise<boolean> {
  let now: Blob | null = fileOf(new Uint8Array(mib).fill(97));
  const overlay = createOverlay(viewOf(() => now));
  await overlay.read(path);
  now = next;
  const thrown = await overlay.refuseConflict([path]).then(
    () => null,
    (error: { readonly code: string }) => error.code,
  );
  return thrown === "conflict";
}

test("a large file that somebody changed is a conflict, and one with the same content is none", async () => {
  const bytes = new Uint8Array(mib).fill(97);
  expect(await isConflict(fileOf(bytes))).toBe(false);
  expect(await isConflict(fileOf(bytes.with(mib - 1, 98)))).toBe(true);
  expect(await isConflict(fileOf(bytes.subarray(1)))).toBe(true);
  expect(await isConflict(fileOf(bytes, 0o755))).toBe(true);
  expect(await isConflict(null)).toBe(true);
});

test("the bytes of large files that were read are given back", async () => {
  const files = 20;
  const read: WeakRef<Uint8Array>[] = [];
  const overlay = createOverlay(
    viewOf(() => {
      const bytes = new Uint8Array(4 * mib).fill(97);
      read.push(new WeakRef(bytes));
      return fileOf(bytes);
    }),
  );
  const stage = createVeiledView(overlay, createVeil()).stage();
  for (let at = 0; at < files; at += 1) await stage.read(`f${at}.txt` as RelPath);
  await Bun.sleep(1);
  Bun.gc(true);
  const alive = read.filter((each) => each.deref() !== undefined).length;
  expect(read.length).toBe(files);
  expect(alive).toBeLessThan(files / 2);
});
