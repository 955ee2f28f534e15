/** Bytes to text and back without losing one: encodings, byte order marks, and lines with their own endings. */

/** How a file's bytes spell its text. `single-byte` shows every byte as Windows-1252 does, which is reversible. */
export interface Encoding {
  readonly name: "utf-8" | "utf-16le" | "utf-16be" | "single-byte";
  readonly bom: boolean;
}

export interface Line {
  readonly text: string;
  /** "" only for a last line without one. */
  readonly ending: "\n" | "\r\n" | "\r" | "";
}

/** Text of a file without its mark, or null when it is binary (holds NUL). `encode` gives the same bytes back. */
export function decode(bytes: Uint8Array): { readonly text: string; readonly encoding: Encoding } | null {
  const name = wideName(bytes);
  if (name !== null) {
    const text = decodeWide(bytes.subarray(2), name);
    return text === null || text.includes("\0") ? null : { text, encoding: { name, bom: true } };
  }
  if (bytes.includes(0)) return null;
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bom ? bytes.subarray(3) : bytes);
    return { text, encoding: { name: "utf-8", bom } };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), encoding: { name: "single-byte", bom: false } };
  }
}

/** The bytes of a text, or null when it has a character the encoding cannot hold (see findForeign). */
export function encode(text: string, encoding: Encoding): Uint8Array | null {
  if (findForeign(text, encoding) !== null) return null;
  if (encoding.name === "utf-8") return new TextEncoder().encode(encoding.bom ? `\ufeff${text}` : text);
  if (encoding.name !== "single-byte") return encodeWide(`\ufeff${text}`, encoding.name);
  const toByte = singleBytes();
  return Uint8Array.from({ length: text.length }, (_, at) => toByte.get(text.charAt(at)) ?? 0);
}

/** The first character of a text that a file of this encoding cannot hold; NUL would make it binary. */
export function findForeign(text: string, encoding: Encoding): string | null {
  if (text.includes("\0")) return "\0";
  if (encoding.name === "utf-16le" || encoding.name === "utf-16be") return null;
  if (encoding.name === "utf-8") return /\p{Surrogate}/u.exec(text)?.[0] ?? null;
  if (isAscii(text)) return null;
  const toByte = singleBytes();
  for (const character of text) if (!toByte.has(character)) return character;
  return null;
}

export const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/** Cuts a text at LF, CRLF and lone CR. Joining every text with its ending gives the same text back. */
export function cutLines(text: string): readonly Line[] {
  const lines: Line[] = [];
  let from = 0;
  // A CR before CRLF is content: only the last two of CR CR LF are the ending.
  const endings = /\r\n|\n|\r(?!\r\n)/g;
  for (let match = endings.exec(text); match !== null; match = endings.exec(text)) {
    lines.push({ text: text.slice(from, match.index), ending: match[0] as Line["ending"] });
    from = match.index + match[0].length;
  }
  if (from < text.length) lines.push({ text: text.slice(from), ending: "" });
  return lines;
}

export function mainEnding(lines: readonly Line[]): "\n" | "\r\n" | "\r" {
  const counts = { "\n": 0, "\r\n": 0, "\r": 0, "": 0 };
  for (const line of lines) counts[line.ending]++;
  if (counts["\r\n"] > counts["\n"] && counts["\r\n"] >= counts["\r"]) return "\r\n";
  return counts["\r"] > counts["\n"] ? "\r" : "\n";
}

const sniffedBytes = 8000;

/** UTF-16: its mark, and NUL soon. Without NUL every reader takes them for single bytes, whatever they begin with. */
export const isWide = (bytes: Uint8Array): boolean => wideName(bytes) !== null;

function wideName(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe;
  if (!isLittle && !(bytes[0] === 0xfe && bytes[1] === 0xff)) return null;
  if (!bytes.subarray(0, sniffedBytes).includes(0)) return null;
  return isLittle ? "utf-16le" : "utf-16be";
}

// TextDecoder replaces or refuses lone surrogates; a file that has them must still come back unchanged.
function decodeWide(bytes: Uint8Array, name: "utf-16le" | "utf-16be"): string | null {
  if (bytes.length % 2 !== 0) return null;
  const units = Buffer.from(bytes);
  return (name === "utf-16le" ? units : units.swap16()).toString("utf16le");
}

function encodeWide(text: string, name: "utf-16le" | "utf-16be"): Uint8Array {
  const units = Buffer.from(text, "utf16le");
  return new Uint8Array(name === "utf-16le" ? units : units.swap16());
}

function singleBytes(): ReadonlyMap<string, number> {
  const all = new TextDecoder("windows-1252").decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  return new Map([...all].map((character, byte) => [character, byte]));
}

/** `maxCalls` as the command line spells it: `max-calls`. */
export const kebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Rows as lines, each column as wide as its widest cell. */
export function alignRows(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Bytes as text that converts back to the same bytes. */
export interface OpenedText {
  readonly text: string;
  readonly toBytes: (text: string) => Uint8Array;
}

/** UTF-16 with its mark; null: it is none. */
export function openWide(bytes: Uint8Array): OpenedText | null {
  const wide = isWide(bytes) ? decode(bytes) : null;
  return wide && { text: wide.text, toBytes: (other) => encode(other, wide.encoding) ?? bytes };
}

export function openNarrow(bytes: Uint8Array): OpenedText {
  try {
    return { text: strict.decode(bytes), toBytes: (text) => new TextEncoder().encode(text) };
  } catch {
    const text = Buffer.from(bytes).toString("latin1");
    return { text, toBytes: (other) => new Uint8Array(Buffer.from(other, "latin1")) };
  }
}

/** The bytes with their text changed; the same array when they are no such text, or it stays the same. */
export function changeText(
  open: (bytes: Uint8Array) => OpenedText | null,
  bytes: Uint8Array,
  edit: (text: string) => string,
): Uint8Array {
  const opened = open(bytes);
  if (opened === null) return bytes;
  const edited = edit(opened.text);
  return edited === opened.text ? bytes : opened.toBytes(edited);
}

export const holdsText = (bytes: Uint8Array, text: string): boolean =>
  openNarrow(bytes).text.includes(text) || openWide(bytes)?.text.includes(text) === true;
