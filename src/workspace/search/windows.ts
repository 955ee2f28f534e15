/** A file of any size in windows of whole lines, for a search that holds only one of them at a time. */
import type { RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { openPieces } from "./text-pieces.ts";

const windowBytes = 1024 * 1024;
/** What a window repeats of a line that is longer than a window, so that no secret and no hit is cut in two. */
const overlapBytes = 4096;
const newline = 10;

/** NUL, which a crash leaves in logs, is a blank here: no part of a text counts as binary. */
function blankNul(bytes: Buffer): Buffer {
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) bytes[at] = 32;
  return bytes;
}

/** Each window is valid until the next one. Throws like `openPieces`. */
export async function* openWindows(root: Root, path: RelPath, signal?: AbortSignal): AsyncGenerator<Buffer> {
  let held = Buffer.allocUnsafeSlow(2 * windowBytes);
  let used = 0;
  for await (const piece of openPieces(root, path, signal)) {
    used += piece.copy(held, used);
    if (used < windowBytes) continue;
    const end = held.lastIndexOf(newline, used - 1) + 1 || used;
    yield blankNul(held.subarray(0, end));
    const from = end === used && held[used - 1] !== newline ? used - overlapBytes : end;
    held.copyWithin(0, from, used);
    used -= from;
  }
  if (used > 0) yield blankNul(held.subarray(0, used));
  held = Buffer.alloc(0);
}
