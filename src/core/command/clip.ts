/** Keeps the end, the beginning and the lines of errors between them of a long text, and counts the rest. Pure. */

/** Where a text may be cut, best first: line feed, blank, quotation marks, comma. No secret holds one. */
const separators = [10, 32, 34, 39, 44] as const;
/** The share of a part in which a separator is looked for. */
const share = 4;

/** The end of the last whole line, or word: nothing recognises half a secret, so it may not stand beside the gap. */
function endOfLines(bytes: Uint8Array): number {
  const earliest = bytes.length - Math.floor(bytes.length / share);
  const ends = separators.map((separator) => bytes.lastIndexOf(separator));
  return ends.find((at) => at >= earliest) ?? endOfCharacter(bytes);
}

function startOfLines(bytes: Uint8Array): number {
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

function endOfCharacter(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? start : bytes.length;
}

/** Bytes of each part. */
interface ClipRoom {
  readonly head: number;
  readonly tail: number;
  /** Lines between them that tell of errors; 0: none. */
  readonly errors: number;
}

/** The parts of a text that is given to a model, of which the end matters most. */
export function shareOut(bytes: number): ClipRoom {
  const [head, errors] = [Math.floor(bytes * 0.1), Math.floor(bytes * 0.25)];
  return { head, errors, tail: bytes - head - errors };
}

/** Bytes that are held besides what is shown, before what is too much leaves. */
const maxHeld = 1024 * 1024;
const newline = 10;

export function openClip(room: ClipRoom) {
  const fitting = room.head + room.tail + room.errors;
  const errors = openErrorLines(room.errors);
  /** The beginning; null: it is still among what is held. */
  let start: Buffer | null = null;
  let held: Uint8Array[] = [];
  let [used, total] = [0, 0];
  /** What is held behind the beginning. */
  const joinHeld = (): Buffer => {
    const all = Buffer.concat(held);
    if (start !== null) return all;
    start = all.subarray(0, endOfLines(all.subarray(0, room.head)));
    return all.subarray(start.length);
  };
  return {
    /** Bytes added so far. */
    get total() {
      return total;
    },
    get isCut() {
      return total > fitting;
    },
    /** The bytes must not change afterwards. */
    add(bytes: Uint8Array): void {
      total += bytes.length;
      used += bytes.length;
      held.push(bytes);
      if (used <= fitting + room.tail + maxHeld) return;
      // Whole lines go that the end does not need.
      const all = joinHeld();
      const most = all.length - room.tail;
      const end = all.lastIndexOf(newline, most - 1) + 1 || most;
      errors.add(all.subarray(0, end));
      held = [all.subarray(end)];
      used = all.length - end;
    },
    /** To be called once. Cut between lines, where they are not too long; never inside a character. */
    text(): string {
      if (total <= fitting) return decode(Buffer.concat(held));
      const all = joinHeld();
      const last = all.subarray(Math.max(0, all.length - room.tail));
      const end = last.subarray(startOfLines(last));
      errors.add(all.subarray(0, all.length - end.length));
      const { count, isAll, bytes } = errors.finish();
      const left = total - (start?.length ?? 0) - end.length - bytes.length;
      const which = `lines of errors among them, ${isAll ? "all" : "the newest"} ${count}`;
      const lines = count === 0 ? "" : `; ${which}:]\n${decode(bytes).trimEnd()}\n[and the end`;
      return `${decode(start ?? all)}\n[${left} bytes left out${lines}]\n${decode(end)}`;
    },
  };
}

export function clipText(text: string, room: ClipRoom): string {
  const clip = openClip(room);
  clip.add(Buffer.from(text));
  return clip.text();
}

const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

const errorWords =
  /rror|RROR|[Ff]atal|FATAL|[Ff]ail|FAIL|anic|ANIC|xception|raceback|denied|DENIED|refused|[Kk]illed|[Aa]bort|ABORT|orrupt|egfault|[Cc]rit|CRIT|emerg|EMERG|ALERT|nreachable|OOM|[Tt]imed out|timeout|[Nn]o space|ut of memory|bytes left out|" 50[0234] /g;

/** Of longer lines only the part around the word is kept. */
const maxLine = 2000;

/** The line around a place, from `least` on; of a very long line the part around the place, cut between words. */
function lineAround(bytes: Buffer, at: number, least: number): readonly [from: number, to: number] {
  const start = Math.max(least, at === 0 ? 0 : bytes.lastIndexOf(newline, at - 1) + 1);
  const feed = bytes.indexOf(newline, at);
  const end = feed < 0 ? bytes.length : feed + 1;
  if (end - start <= maxLine) return [start, end];
  const from = Math.max(start, at - maxLine / 2);
  const part = bytes.subarray(from, Math.min(end, at + maxLine / 2));
  return [from + (from > start ? startOfLines(part) : 0), from + endOfLines(part)];
}

/** `room`: bytes of lines to keep, the newest. */
function openErrorLines(room: number) {
  let kept: Buffer[] = [];
  let isAll = true;
  return {
    /** Searches whole lines. */
    add(bytes: Buffer): void {
      if (room === 0) return;
      const text = bytes.toString("latin1");
      let done = 0;
      for (const { index } of text.matchAll(errorWords)) {
        if (index < done) continue;
        const [from, to] = lineAround(bytes, index, done);
        kept.push(Buffer.from(bytes.subarray(from, to)));
        done = Math.max(to, index + 1);
      }
      let [size, first] = [0, kept.length];
      while (first > 0 && size + (kept[first - 1]?.length ?? 0) <= room) size += kept[--first]?.length ?? 0;
      isAll &&= first === 0;
      kept = kept.slice(first);
    },
    finish: () => ({ count: kept.length, isAll, bytes: Buffer.concat(kept) }),
  };
}
