/** Reads a range of lines, or both ends, of a text file of any size and keeps only those in memory. */
import { orNull } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { LineEnds, LineRange } from "../../core/ports.ts";
import { decode } from "../../core/text.ts";
import type { Root } from "../confine.ts";
import { openPieces } from "./text-pieces.ts";

const maxTextBytes = 1024 * 1024;
/** The end of a file that is kept at least while it is read. */
const keptBytes = maxTextBytes / 2;
/** Larger files are not read to the end to count their lines. */
const maxCountedBytes = 64 * 1024 * 1024;
const newline = 10;

/**
 * Lines `from` to `to` (1-based, inclusive), at most 1 MiB, cut at a character. `to` in the result is the last line it
 * contains (`from - 1`: none). Decodes UTF-8, or else one byte a character. Throws file_unusable like `openPieces`.
 */
export async function readLines(root: Root, path: RelPath, from: number, to: number): Promise<LineRange> {
  const range = openRange(from, to);
  let size = 0;
  for await (const piece of openPieces(root, path)) {
    range.add(piece);
    size += piece.length;
    if (size > maxCountedBytes && range.full()) return range.finish(false);
  }
  return range.finish(true);
}

/** The first and the last lines, and how many there are. Throws file_unusable like `openPieces`. */
export async function readEnds(root: Root, path: RelPath, lines: number): Promise<LineEnds> {
  const first = openRange(1, lines);
  const held = Buffer.allocUnsafe(maxTextBytes);
  let used = 0;
  for await (const piece of openPieces(root, path)) {
    first.add(piece);
    if (used + piece.length > held.length) used = held.copy(held, 0, used - keptBytes, used);
    used += piece.copy(held, used);
  }
  const head = first.finish(true);
  const total = head.total ?? 0;
  const last = held.subarray(0, used);
  const whole = decodeCut(used >= keptBytes ? last.subarray(last.indexOf(newline) + 1) : last, false);
  const texts = whole
    .replace(/\r?\n$/, "")
    .replaceAll("\r\n", "\n")
    .split("\n")
    .slice(-lines);
  const from = Math.max(1, total - texts.length + 1);
  return { head, tail: { text: texts.join("\n"), from, to: total, total } };
}

function openRange(from: number, to: number) {
  const kept: Uint8Array[] = [];
  let size = 0;
  let line = 1;
  let last = from - 1;
  let lastByte = newline;
  const keep = (chunk: Uint8Array, start: number, end = chunk.length) => {
    if (line < from || line > to || size >= maxTextBytes || start === end) return;
    // A copy: the piece is read into again.
    const part = new Uint8Array(chunk.subarray(start, Math.min(end, start + maxTextBytes - size)));
    kept.push(part);
    size += part.length;
    last = line;
  };
  return {
    add(chunk: Uint8Array): void {
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        keep(chunk, start, end + 1);
        start = end + 1;
        line += 1;
      }
      keep(chunk, start);
      lastByte = chunk.at(-1) ?? lastByte;
    },
    full: () => line > to || size >= maxTextBytes,
    finish(ended: boolean): LineRange {
      const text = decodeCut(Buffer.concat(kept), size >= maxTextBytes);
      const total = lastByte === newline ? line - 1 : line;
      return { text: text.replace(/\r?\n$/, "").replaceAll("\r\n", "\n"), from, to: last, total: ended ? total : null };
    },
  };
}

/** If the bytes were cut, an incomplete last character is dropped. */
function decodeCut(bytes: Uint8Array, cut: boolean): string {
  const text = orNull(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: cut }));
  return text ?? decode(bytes)?.text ?? "";
}
