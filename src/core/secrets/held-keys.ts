/** Takes the keys that pai holds out of what it shows and writes down, however they are spelled. */
import { mapTexts } from "./veil.ts";

/** The base64 of `bytes` behind `offset` other bytes, less the characters at its edges that the neighbours have a part in. */
function base64Core(bytes: Buffer, offset: number, encoding: "base64" | "base64url"): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString(encoding);
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function spellingsOf(key: string): Set<string> {
  const bytes = Buffer.from(key);
  const json = JSON.stringify(key).slice(1, -1);
  const url = encodeURIComponent(key);
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].flatMap((offset) => [
    base64Core(bytes, offset, "base64"),
    base64Core(bytes, offset, "base64url"),
  ]);
  const escapedTwice = JSON.stringify(json).slice(1, -1);
  const lowerUrl = url.replace(/%../g, (code) => code.toLowerCase());
  return new Set([key, escapedTwice, json, url, lowerUrl, hex, hex.toUpperCase(), ...base64]);
}

/** The same value with every text in it masked. Values are plain data. */
export type Mask = <T>(value: T) => T;

/** A mask that can be put on a text in pieces, too. */
export type KeyMask = Mask & {
  /** How many characters at the end of the text may be the beginning of a key. */
  readonly begun: (text: string) => number;
};

/**
 * Masks these keys: plain, base64 at any offset, hex, URL-encoded, JSON-escaped. Keys under 8 characters are passed
 * over: masking them would tear ordinary words.
 */
export function maskHeld(keys: readonly string[]): KeyMask {
  const shown = (key: string) => (key.length < 16 ? "[masked]" : `${key.slice(0, 4)}…[masked]`);
  const held = keys
    .filter((key) => key.length >= 8)
    .flatMap((key) => [...spellingsOf(key)].map((spelling) => ({ spelling, mask: shown(key) })))
    .sort((a, b) => b.spelling.length - a.spelling.length);
  // One search for the beginnings of all: looking for each spelling in a long reply took six times as long.
  const possible = new RegExp(held.map(({ spelling }) => RegExp.escape(spelling.slice(0, 16))).join("|"));
  const maskText = (text: string) =>
    possible.test(text) ? held.reduce((out, { spelling, mask }) => out.replaceAll(spelling, () => mask), text) : text;
  const firsts = new Set(held.map(({ spelling }) => spelling[0]));
  const longest = (held[0]?.spelling.length ?? 1) - 1;
  const isBegun = (text: string, at: number) => {
    const end = text.slice(at);
    // The end of a whole key may look like the beginning of one.
    return (
      held.some(({ spelling }) => spelling.startsWith(end)) && held.every(({ spelling }) => endOf(text, spelling) <= at)
    );
  };
  const begun = (text: string) => {
    for (let at = Math.max(0, text.length - longest); at < text.length; at += 1) {
      if (firsts.has(text[at]) && isBegun(text, at)) return text.length - at;
    }
    return 0;
  };
  return Object.assign(<T>(value: T) => (held.length === 0 ? value : mapTexts(value, maskText)), { begun });
}

/** Behind the last place where it stands; 0: nowhere. */
function endOf(text: string, spelling: string): number {
  const at = text.lastIndexOf(spelling);
  return at < 0 ? 0 : at + spelling.length;
}
