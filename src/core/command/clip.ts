/** Keeps the beginning and the end of a long output and counts the bytes between them. Pure. */

export interface Clip {
  add(bytes: Uint8Array): void;
  /** Bytes added so far. */
  readonly total: number;
  /** Cut between lines, where they are not too long; never inside a character. */
  text(): string;
}

export function openClip(headBytes: number, tailBytes: number): Clip {
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let total = 0;
  return {
    get total() {
      return total;
    },
    add(bytes) {
      total += bytes.length;
      const room = headBytes - head.length;
      if (room > 0) head = Buffer.concat([head, bytes.subarray(0, room)]);
      const rest = bytes.subarray(Math.max(0, room));
      if (rest.length === 0) return;
      tail = Buffer.concat([tail, rest.subarray(-2 * tailBytes)]);
      if (tail.length > 2 * tailBytes) tail = tail.subarray(-tailBytes);
    },
    text() {
      if (head.length + tail.length === total && tail.length <= tailBytes) return decode(Buffer.concat([head, tail]));
      const first = head.subarray(0, endOfLines(head));
      const last = tail.subarray(-tailBytes);
      const rest = last.subarray(startOfLines(last));
      return `${decode(first)}\n[${total - first.length - rest.length} bytes left out]\n${decode(rest)}`;
    },
  };
}

/** A text that is there as a whole, clipped. */
export function clipText(text: string, headBytes: number, tailBytes: number): string {
  const clip = openClip(headBytes, tailBytes);
  clip.add(Buffer.from(text));
  return clip.text();
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/**
 * Where a text may be cut, the best place first: line feed, blank, double and single quotation mark, comma. No secret
 * holds one.
 */
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

/** The end of the last complete character. */
function endOfCharacter(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? start : bytes.length;
}
