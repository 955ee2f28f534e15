/** Keeps the end, the beginning and the lines of errors between them of a long text, and counts the rest. Pure. */

/**
 * Where a text may be cut, the best place first: line feed, blank, double and single quotation mark, comma. No secret
 * holds one.
 */
const separators = [10, 32, 34, 39, 44] as const;
/** The share of a part in which a separator is looked for. */
const share = 4;

/** The end of the last whole line, or word: nothing recognises half a secret, so it may not stand beside the gap. */
export function endOfLines(bytes: Uint8Array): number {
  const earliest = bytes.length - Math.floor(bytes.length / share);
  const ends = separators.map((separator) => bytes.lastIndexOf(separator));
  return ends.find((at) => at >= earliest) ?? endOfCharacter(bytes);
}

export function startOfLines(bytes: Uint8Array): number {
  const latest = Math.floor(bytes.length / share);
  const starts = separators.map((separator) => bytes.indexOf(separator) + 1);
  return starts.find((at) => at > 0 && at <= latest) ?? startOfCharacter(bytes);
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

function startOfCharacter(bytes: Uint8Array): number {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at++;
  return at;
}

/** The end of the last complete character. */
function endOfCharacter(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? start : bytes.length;
}

/** Bytes of each part. */
export interface ClipRoom {
  readonly head: number;
  readonly tail: number;
  /** Lines between them that tell of errors; 0: none. */
  readonly errors: number;
}

export interface Clip {
  add(bytes: Uint8Array): void;
  /** Bytes added so far. */
  readonly total: number;
  readonly isCut: boolean;
  /** To be called once. Cut between lines, where they are not too long; never inside a character. */
  text(): string;
}

/** The parts of a text that is given to a model, of which the end matters most. */
export function shareOut(bytes: number): ClipRoom {
  const [head, errors] = [Math.floor(bytes * 0.1), Math.floor(bytes * 0.25)];
  return { head, errors, tail: bytes - head - errors };
}

/** Bytes behind the beginning that are held before what is too much leaves. */
const maxHeld = 1024 * 1024;
const newline = 10;

export function openClip(room: ClipRoom): Clip {
  let head = Buffer.alloc(0);
  /** What follows the beginning; the first `used` bytes count. */
  let held = Buffer.alloc(0);
  let [used, total] = [0, 0];
  /** The end of the beginning that is cut from it, to be searched with what follows it. */
  let rest = Buffer.alloc(0);
  const errors = openErrorLines(room.errors);
  const fits = (): boolean => total <= room.head + room.tail + room.errors;
  const search = (bytes: Buffer): void => {
    if (room.errors === 0) return;
    errors.add(rest.length === 0 ? bytes : Buffer.concat([rest, bytes]));
    rest = Buffer.alloc(0);
  };
  /** Lets whole lines go that the end does not need. */
  const leave = (): void => {
    const most = used - room.tail;
    const end = held.lastIndexOf(newline, most - 1) + 1 || most;
    search(held.subarray(0, end));
    held.copyWithin(0, end, used);
    used -= end;
  };
  const hold = (bytes: Uint8Array): void => {
    if (used + bytes.length > held.length) {
      const wider = Buffer.alloc(Math.max(2 * held.length, used + bytes.length));
      held.copy(wider, 0, 0, used);
      held = wider;
    }
    held.set(bytes, used);
    used += bytes.length;
    if (used > 2 * room.tail + room.errors + maxHeld) leave();
  };
  return {
    get total() {
      return total;
    },
    get isCut() {
      return !fits();
    },
    add(bytes) {
      total += bytes.length;
      const free = room.head - head.length;
      if (free > 0) {
        head = Buffer.concat([head, bytes.subarray(0, free)]);
        if (head.length === room.head) rest = head.subarray(endOfLines(head));
      }
      hold(bytes.subarray(Math.max(0, free)));
    },
    text() {
      const tail = held.subarray(0, used);
      if (fits()) return decode(Buffer.concat([head, tail]));
      const last = tail.subarray(Math.max(0, used - room.tail));
      const end = last.subarray(startOfLines(last));
      const start = head.subarray(0, endOfLines(head));
      search(tail.subarray(0, used - end.length));
      const { count, isAll, bytes } = errors.finish();
      const left = total - start.length - end.length - bytes.length;
      const which = `lines of errors among them, ${isAll ? "all" : "the newest"} ${count}`;
      const lines = count === 0 ? "" : `; ${which}:]\n${decode(bytes).trimEnd()}\n[and the end`;
      return `${decode(start)}\n[${left} bytes left out${lines}]\n${decode(end)}`;
    },
  };
}

/** A text that is there as a whole, clipped. */
export function clipText(text: string, room: ClipRoom): string {
  const bytes = Buffer.from(text);
  const clip = openClip(room);
  for (let at = 0; at < bytes.length; at += maxHeld) clip.add(bytes.subarray(at, at + maxHeld));
  return clip.text();
}

const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** Parts of words by which a log tells of errors, as it spells them: memory is searched for them, which no pattern is as fast as. */
const words = [
  ..."rror RROR fatal Fatal FATAL fail Fail FAIL anic ANIC xception raceback denied DENIED refused killed Killed".split(
    " ",
  ),
  ..."abort Abort ABORT orrupt egfault crit Crit CRIT emerg EMERG ALERT nreachable OOM".split(" "),
  ...["timed out", "Timed out", "timeout", "no space", "No space", "ut of memory", "bytes left out"],
  ...["500", "502", "503", "504"].map((status) => `" ${status} `),
].map((word) => Buffer.from(word));

/** Of longer lines only the part around the word is kept. */
const maxLine = 2000;

interface ErrorLines {
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
function openErrorLines(room: number): ErrorLines {
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
