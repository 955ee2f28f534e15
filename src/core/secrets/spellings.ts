/** The ways a secret may be written: plain, escaped, encoded. Pure. */

/**
 * The base64 of a text that follows `offset` other bytes, without the characters at its edges that depend on the bytes
 * beside it.
 */
function base64Core(text: string, offset: number): string {
  const bytes = Buffer.from("\0".repeat(offset) + text);
  return bytes.toString("base64").slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

/** Plain, base64 at any offset, hex, URL-encoded, JSON-escaped once and twice. */
export function spellingsOf(secret: string): ReadonlySet<string> {
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret.toWellFormed());
  const hex = Buffer.from(secret).toString("hex");
  const base64 = [0, 1, 2].map((offset) => base64Core(secret, offset));
  const base64Url = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  const escapedTwice = JSON.stringify(json).slice(1, -1);
  const lowerUrl = url.includes("%") ? url.replace(/%../g, (code) => code.toLowerCase()) : url;
  return new Set([secret, escapedTwice, json, url, lowerUrl, hex, hex.toUpperCase(), ...base64, ...base64Url]);
}
