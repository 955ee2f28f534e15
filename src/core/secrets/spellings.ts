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
  const escapedTwice = JSON.stringify(json).slice(1, -1);
  const lowerUrl = url.includes("%") ? url.replace(/%../g, (code) => code.toLowerCase()) : url;
  const spellings = new Set([secret, escapedTwice, json, url, lowerUrl, hex, hex.toUpperCase()]);
  for (let offset = 0; offset < 3; offset += 1) {
    const base64 = base64Core(secret, offset);
    spellings.add(base64).add(base64.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return spellings;
}
