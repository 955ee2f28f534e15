/** The bytes of a file as texts in which secrets are looked for, and back. Pure. */
import { decode, encode, isWide } from "../text.ts";

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
