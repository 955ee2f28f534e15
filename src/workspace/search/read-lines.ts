/** Reads a range of lines from a text file of any size and keeps only those in memory. */
import { closeSync, readSync } from "node:fs";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { LineRange } from "../../core/ports.ts";
import { decode } from "../../core/text.ts";
import type { Root } from "../confine.ts";
import { showName } from "../parse-path.ts";

const chunkBytes = 256 * 1024;
const maxTextBytes = 1024 * 1024;
/** Larger files are not read to the end to count their lines. */
const maxCountedBytes = 64 * 1024 * 1024;
const newline = 10;

/**
 * Lines `from` to `to` (1-based, inclusive), at most 1 MiB, cut at a character. `to` in the result is the last line it
 * contains (`from - 1`: none). Decodes UTF-8, or else one byte a character. Throws file_unusable if the file is missing,
 * special, or binary.
 */
export async function readLines(root: Root, path: RelPath, from: number, to: number): Promise<LineRange> {
  const open = root.openFile(path);
  if (open === null) throw new PaiError("file_unusable", `${showName(path)} does not exist`);
  try {
    const range = openRange(from, to);
    const counted = open.stat.size <= maxCountedBytes;
    const chunk = new Uint8Array(chunkBytes);
    for (let n = 0; counted || !range.full(); n += 1) {
      const length = readSync(open.fd, chunk, 0, chunkBytes, null);
      if (length === 0) return range.finish(true);
      if (n === 0 && chunk.subarray(0, Math.min(length, 8192)).includes(0)) {
        throw new PaiError("file_unusable", `${showName(path)} is binary`);
      }
      range.add(chunk.subarray(0, length));
      if (n % 16 === 15) await Bun.sleep(0);
    }
    return range.finish(false);
  } finally {
    closeSync(open.fd);
  }
}

interface Range {
  add(chunk: Uint8Array): void;
  /** Whether the range is complete, so that further bytes are not needed. */
  full(): boolean;
  finish(ended: boolean): LineRange;
}

function openRange(from: number, to: number): Range {
  const kept: Uint8Array[] = [];
  let size = 0;
  let line = 1;
  let last = from - 1;
  let lastByte = newline;
  const keep = (bytes: Uint8Array) => {
    if (line < from || line > to || size >= maxTextBytes || bytes.length === 0) return;
    const part = bytes.slice(0, maxTextBytes - size);
    kept.push(part);
    size += part.length;
    last = line;
  };
  return {
    add(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        keep(chunk.subarray(start, end + 1));
        start = end + 1;
        line += 1;
      }
      keep(chunk.subarray(start));
      lastByte = chunk.at(-1) ?? lastByte;
    },
    full: () => line > to || size >= maxTextBytes,
    finish(ended) {
      const text = decodeCut(Buffer.concat(kept), size >= maxTextBytes);
      const total = lastByte === newline ? line - 1 : line;
      return { text: text.replace(/\r?\n$/, "").replaceAll("\r\n", "\n"), from, to: last, total: ended ? total : null };
    },
  };
}

/** If the bytes were cut, an incomplete last character is dropped. */
function decodeCut(bytes: Uint8Array, cut: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: cut });
  } catch {
    return decode(bytes)?.text ?? "";
  }
}
