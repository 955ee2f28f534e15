/** Finds lines of a private key in the output of a command, where its beginning may be missing. Pure. */

/** How long tools wrap base64: OpenSSL, OpenSSH, MIME. */
const widths = [64, 70, 76] as const;
const [least, most] = [64, 77];
/** A line beside key lines is a part of the key from this length on: before them, after them. */
const [leastBefore, leastAfter] = [16, 4];

/** Listings put this before the base64 of a line: blanks, the sign of a diff, `path:`, `12:`, `12-`, a column, a quote. */
const prefixShape = /^(?:|.*[\s:|>"'=]|[ \t]*[+-]|(?:.*-)?\d+-)$/;
const maxPrefix = 500;
const onlyHex = /^[0-9a-f]+$/i;

/** The base64 at the end of a line, with its prefix. */
interface Part {
  readonly from: number;
  readonly to: number;
  /** The same for all lines of a listing: without numbers, and without the sign of a diff. */
  readonly prefix: string;
}

const [plus, equals, blank, carriageReturn] = [43, 61, 32, 13];

/** 1 to 4: a small letter, a capital, a digit, a sign of base64; 0: another character. */
const kindOf = (code: number): number => {
  if (code >= 97 && code <= 122) return 1;
  if (code >= 65 && code <= 90) return 2;
  if (code >= 48 && code <= 57) return 3;
  return code === plus || code === 47 ? 4 : 0;
};

function trimmedEnd(text: string, start: number, end: number): number {
  let to = end;
  while (to > start && (text.charCodeAt(to - 1) === carriageReturn || text.charCodeAt(to - 1) === blank)) to -= 1;
  return to;
}

/** The base64 at the end of a line; null: none, or too much. `signed`: a plus before it is the sign of a diff. */
function partOf(text: string, start: number, end: number, signed: boolean): Part | null {
  const to = trimmedEnd(text, start, end);
  let from = to;
  while (to - from < 2 && from > start && text.charCodeAt(from - 1) === equals) from -= 1;
  while (from > start && to - from <= most && kindOf(text.charCodeAt(from - 1)) > 0) from -= 1;
  if (signed && text.charCodeAt(from) === plus) from += 1;
  const isOther = to - from > most || to - from < leastAfter || from - start > maxPrefix;
  const before = isOther ? "" : text.slice(start, from);
  if (isOther || !prefixShape.test(before)) return null;
  return { from, to, prefix: before.replace(/^[ +-]/, "").replace(/\s*\d+/g, "0") };
}

/** The base64 of one usual width at the end of a line. Few lines have a border there, so most are not read. */
function wideOf(text: string, start: number, end: number): Part | null {
  if (end - start < least) return null;
  const to = trimmedEnd(text, start, end);
  for (const width of widths) {
    const from = to - width;
    if (from < start) return null;
    const before = text.charCodeAt(from - 1);
    const signed = before === plus;
    if (from > start && !signed && kindOf(before) > 0) continue;
    const part = partOf(text, start, end, signed);
    if (part?.from === from) return part;
  }
  return null;
}

/** Whether the text changes between small, large and digits as often as chance does: names and paths do not. */
function isRandom(text: string): boolean {
  let [changes, last, kinds] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const kind = kindOf(text.charCodeAt(at));
    if (kind !== last) changes += 1;
    kinds |= 1 << kind;
    last = kind;
  }
  return (kinds & 0b1110) === 0b1110 && changes >= text.length * 0.4 && !onlyHex.test(text);
}

const endOf = (text: string, start: number): number => {
  const end = text.indexOf("\n", start);
  return end < 0 ? text.length : end;
};

/** The line that ends there, if it is the rest of a line of a key. */
function restBefore(text: string, end: number, { prefix }: Part, signed: boolean): readonly Part[] {
  if (end < 1) return [];
  const part = partOf(text, text.lastIndexOf("\n", end - 1) + 1, end, signed);
  return part !== null && part.prefix === prefix && part.to - part.from >= leastBefore ? [part] : [];
}

/** The lines of one key: those that are like the first, and what is left of it after and before them. */
function keyFrom(text: string, first: Part, start: number): { readonly parts: readonly Part[]; readonly next: number } {
  const width = first.to - first.from;
  const signed = text.charCodeAt(first.from - 1) === plus;
  const parts: Part[] = [];
  let [at, line]: [number, Part | null] = [start, first];
  while (line?.prefix === first.prefix && line.to - line.from === width) {
    parts.push(line);
    at = endOf(text, at) + 1;
    line = at < text.length ? partOf(text, at, endOf(text, at), signed) : null;
  }
  if (!parts.some(({ from, to }) => isRandom(text.slice(from, to)))) return { parts: [], next: at };
  const rest = line?.prefix === first.prefix && line.to - line.from < width ? [line] : [];
  return { parts: [...restBefore(text, start - 1, first, signed), ...parts, ...rest], next: at };
}

/**
 * Replaces the base64 of lines that look like those of a private key: lines of one usual width of which at least one
 * looks random, the rest of the key after them, and what is left of a line before them.
 */
export function replaceKeyLines(text: string, replace: (part: string) => string): string {
  let [out, copied] = ["", 0];
  for (let start = 0; start < text.length; ) {
    const end = endOf(text, start);
    const first = wideOf(text, start, end);
    if (first === null) {
      start = end + 1;
      continue;
    }
    const { parts, next } = keyFrom(text, first, start);
    for (const { from, to } of parts) {
      const part = text.slice(from, to);
      if (from < copied || onlyHex.test(part)) continue;
      out += text.slice(copied, from) + replace(part);
      copied = to;
    }
    start = next;
  }
  return copied === 0 ? text : out + text.slice(copied);
}
