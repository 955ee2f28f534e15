/** Takes the keys that pai holds out of what it shows and writes down, however they are spelled (S122, S123). */

/** The characters of a base64 text that depend on nothing but `bytes`, when `offset` other bytes stand before them. */
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

/**
 * Masks these keys: plain, base64 at any offset, hex, URL-encoded, JSON-escaped. Keys under 8 characters are passed
 * over: masking them would tear ordinary words.
 */
export function maskHeld(keys: readonly string[]): Mask {
  const shown = (key: string) => (key.length < 16 ? "[masked]" : `${key.slice(0, 4)}…[masked]`);
  const held = keys
    .filter((key) => key.length >= 8)
    .flatMap((key) => [...spellingsOf(key)].map((spelling) => ({ spelling, mask: shown(key) })))
    .sort((a, b) => b.spelling.length - a.spelling.length);
  const shortest = held.at(-1)?.spelling.length ?? 0;
  const maskText = (text: string) => {
    if (text.length < shortest) return text;
    return held.reduce(
      (out, { spelling, mask }) => (out.includes(spelling) ? out.replaceAll(spelling, () => mask) : out),
      text,
    );
  };
  const maskAll = (value: unknown): unknown => {
    if (typeof value === "string") return maskText(value);
    if (Array.isArray(value)) return value.map(maskAll);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskAll(inner)]));
  };
  return <T>(value: T) => (held.length === 0 ? value : (maskAll(value) as T));
}
