/** Keeps the end, the beginning and the lines of errors between them of a long text, and counts the rest. Pure. */
import { endOfLines, startOfLines } from "./cut-place.ts";
import { openErrorLines } from "./error-lines.ts";

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
  /** Whether something is left out. */
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
