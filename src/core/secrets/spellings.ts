/** The ways a secret may be written: plain, escaped, encoded. Pure. */

/**
 * The base64 of `bytes` after `offset` other bytes, without the characters at its edges that also depend on the
 * neighbouring bytes.
 */
function base64Core(bytes: Buffer, offset: number, encoding: "base64" | "base64url"): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString(encoding);
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/** Plain, base64 at any offset, hex, URL-encoded, JSON-escaped once and twice. */
export function spellingsOf(secret: string): ReadonlySet<string> {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret.toWellFormed());
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].flatMap((offset) => [
    base64Core(bytes, offset, "base64"),
    base64Core(bytes, offset, "base64url"),
  ]);
  const escapedTwice = JSON.stringify(json).slice(1, -1);
  const lowerUrl = url.replace(/%../g, (code) => code.toLowerCase());
  return new Set([secret, escapedTwice, json, url, lowerUrl, hex, hex.toUpperCase(), ...base64]);
}
