/** Keeps the newest lines of a long text that tell of errors. Pure. */
import { endOfLines, startOfLines } from "./cut-place.ts";

/** Parts of words by which a log tells of errors, as it spells them: memory is searched for them, which no pattern is as fast as. */
const words = [
  ..."rror RROR fatal Fatal FATAL fail Fail FAIL anic ANIC xception raceback denied DENIED refused killed Killed".split(
    " ",
  ),
  ..."abort Abort ABORT orrupt egfault crit Crit CRIT emerg EMERG ALERT nreachable OOM".split(" "),
  ...["timed out", "Timed out", "timeout", "no space", "No space", "ut of memory", "bytes left out"],
  ...["500", "502", "503", "504"].map((status) => `" ${status} `),
].map((word) => Buffer.from(word));

const newline = 10;
/** Of longer lines only the part around the word is kept. */
const maxLine = 2000;

export interface ErrorLines {
  /** Searches whole lines. */
  add(bytes: Buffer): void;
  /** The newest lines that fit; `isAll`: there were no others. */
  finish(): { readonly count: number; readonly isAll: boolean; readonly bytes: Uint8Array };
}

/** Where the line around a place begins and ends; of a very long line the part around the place, cut between words. */
function lineAround(bytes: Buffer, at: number): readonly [number, number] {
  const start = at === 0 ? 0 : bytes.lastIndexOf(newline, at - 1) + 1;
  const feed = bytes.indexOf(newline, at);
  const end = feed < 0 ? bytes.length : feed + 1;
  if (end - start <= maxLine) return [start, end];
  const from = Math.max(start, at - maxLine / 2);
  const part = bytes.subarray(from, Math.min(end, at + maxLine / 2));
  return [from + (from > start ? startOfLines(part) : 0), from + endOfLines(part)];
}

/** The lines with a word, from the last one upwards until they fill the room: start and end of each. */
function findUpwards(bytes: Buffer, word: Buffer, room: number): readonly (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  let size = 0;
  for (let at = bytes.lastIndexOf(word); at >= 0 && size <= room; ) {
    const line = lineAround(bytes, at);
    found.push(line);
    size += line[1] - line[0];
    at = line[0] === 0 ? -1 : bytes.lastIndexOf(word, Math.min(line[0], at) - 1);
  }
  return found;
}

/** `room`: bytes of lines to keep. */
export function openErrorLines(room: number): ErrorLines {
  let kept: Buffer[] = [];
  let isAll = true;
  const trim = (): void => {
    let [size, from] = [0, kept.length];
    while (from > 0 && size + (kept[from - 1]?.length ?? 0) <= room) size += kept[--from]?.length ?? 0;
    isAll &&= from === 0;
    kept = kept.slice(from);
  };
  return {
    add(bytes) {
      const lines = new Map(words.flatMap((word) => findUpwards(bytes, word, room)));
      if (lines.size === 0) return;
      const starts = [...lines.keys()].sort((a, b) => a - b);
      for (const start of starts) kept.push(Buffer.from(bytes.subarray(start, lines.get(start))));
      trim();
    },
    finish: () => ({ count: kept.length, isAll, bytes: Buffer.concat(kept) }),
  };
}
