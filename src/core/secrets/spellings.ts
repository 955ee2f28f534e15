/** The ways a secret may be written: plain, escaped, encoded. Pure. */

/**
 * The base64 of a text that follows `offset` other bytes, without the characters at its edges that depend on the bytes
 * beside it.
 */
function base64Core(text: string, offset: number): string {
  const bytes = Buffer.from("\0".repeat(offset) + text);
  return bytes.toString("base64").slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

/** Encoders differ in what they leave as it is, in the case of digits, and in a blank. */
function urlSpellings(secret: string): readonly string[] {
  const url = encodeURIComponent(secret.toWellFormed());
  const strict = url.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const all = [url, strict, ...(url.includes("%20") ? [url, strict].map((each) => each.replaceAll("%20", "+")) : [])];
  return all.flatMap((each) =>
    each.includes("%") ? [each, each.replace(/%../g, (code) => code.toLowerCase())] : each,
  );
}

/** The text that an encoded one, as the password in an address, stands for; the same where it is none. */
function decodeUrl(secret: string): string {
  if (!/%[\da-f]{2}/i.test(secret)) return secret;
  try {
    return decodeURIComponent(secret);
  } catch {
    return secret;
  }
}

/** Plain, base64 at any offset, hex, URL-encoded and decoded, JSON-escaped once and twice. */
export function spellingsOf(secret: string): ReadonlySet<string> {
  const json = JSON.stringify(secret).slice(1, -1);
  const hex = Buffer.from(secret).toString("hex");
  const escapedTwice = JSON.stringify(json).slice(1, -1);
  const spellings = new Set([
    secret,
    escapedTwice,
    json,
    ...urlSpellings(secret),
    hex,
    hex.toUpperCase(),
    decodeUrl(secret),
  ]);
  for (let offset = 0; offset < 3; offset += 1) {
    const base64 = base64Core(secret, offset);
    spellings.add(base64).add(base64.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return spellings;
}
