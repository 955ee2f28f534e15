/** Finds known texts in another text. Pure. */

/** Every text must be at least this long. */
const minKnown = 6;
/** At most this many characters are held back, or one known text: some overlap themselves without end. */
const maxHeld = 4096;

type Replacement = (found: string) => string;

export function createKnownTexts() {
  const replacements = new Map<string, Replacement>();
  /** By the first `minKnown` characters: the lengths of the texts that begin so, longest first. */
  const lengths = new Map<string, number[]>();
  const beginnings = new Set<string>();
  /** Codes of the characters that known texts begin with: most places of a text end the search here. */
  const firsts = new Set<number>();
  let longest = 0;

  /** The longest known text that begins there; null: none. */
  const knownAt = (text: string, at: number): string | null => {
    if (!firsts.has(text.charCodeAt(at))) return null;
    for (const length of lengths.get(text.slice(at, at + minKnown)) ?? []) {
      const found = text.slice(at, at + length);
      if (replacements.has(found)) return found;
    }
    return null;
  };

  /** The first known text at `from` or after it, with those that overlap it: half a secret would be left otherwise. */
  const findNext = (text: string, from: number) => {
    if (replacements.size === 0) return null;
    for (let start = from; start + minKnown <= text.length; start += 1) {
      const first = knownAt(text, start);
      if (first === null) continue;
      let end = start + first.length;
      for (let at = start + 1; at < end; at += 1) end = Math.max(end, at + (knownAt(text, at)?.length ?? 0));
      return { start, end, replacement: replacements.get(first) ?? String };
    }
    return null;
  };

  const startOf = (text: string, at: number): number => {
    let found = findNext(text, 0);
    while (found !== null && found.end <= at) found = findNext(text, found.end);
    return found === null ? at : Math.min(found.start, at);
  };

  const isBegun = (end: string): boolean =>
    beginnings.has(end.slice(0, minKnown)) &&
    replacements.keys().some((each) => each.length > end.length && each.startsWith(end));

  return {
    /** From now on `replace` puts what `replacement` returns in the place of `text`. False: known, or under `minKnown`. */
    add(text: string, replacement: Replacement): boolean {
      if (text.length < minKnown || replacements.has(text)) return false;
      replacements.set(text, replacement);
      const beginning = text.slice(0, minKnown);
      const known = [...new Set(lengths.get(beginning)).add(text.length)];
      lengths.set(
        beginning,
        known.toSorted((a, b) => b - a),
      );
      firsts.add(text.charCodeAt(0));
      for (let length = 1; length <= minKnown; length += 1) beginnings.add(text.slice(0, length));
      longest = Math.max(longest, text.length);
      return true;
    },
    has: (text: string) => replacements.has(text),
    /** Replaces known texts, those that overlap as one; without any, returns the same string. */
    replace(text: string): string {
      const parts: string[] = [];
      let from = 0;
      for (let found = findNext(text, 0); found !== null; found = findNext(text, from)) {
        parts.push(text.slice(from, found.start), found.replacement(text.slice(found.start, found.end)));
        from = found.end;
      }
      return parts.length === 0 ? text : [...parts, text.slice(from)].join("");
    },
    /** How many characters at the end of the text may be the beginning of a known one. */
    begun(text: string): number {
      for (let at = Math.max(0, text.length - longest + 1); at < text.length; at += 1) {
        if (!isBegun(text.slice(at))) continue;
        return Math.max(text.length - at, Math.min(text.length - startOf(text, at), maxHeld));
      }
      return 0;
    },
  };
}

/** Behind `offset` other bytes, without the characters at its edges that depend on the bytes beside it. */
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

/** The text, and what it stands for where it is escaped, or encoded as the password in an address. */
export function meaningsOf(secret: string): readonly string[] {
  const meanings = [secret, secret.replace(/\\(.)/g, "$1")];
  try {
    return [...meanings, decodeURIComponent(secret)];
  } catch {
    return meanings;
  }
}

/** Plain, unescaped, base64 at any offset, hex, URL-encoded and decoded, JSON-escaped once and twice. */
export function spellingsOf(secret: string): ReadonlySet<string> {
  const json = JSON.stringify(secret).slice(1, -1);
  const hex = Buffer.from(secret).toString("hex");
  const escapedTwice = JSON.stringify(json).slice(1, -1);
  const spellings = new Set([
    ...meaningsOf(secret),
    escapedTwice,
    json,
    ...urlSpellings(secret),
    hex,
    hex.toUpperCase(),
  ]);
  for (let offset = 0; offset < 3; offset += 1) {
    const base64 = base64Core(secret, offset);
    spellings.add(base64).add(base64.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return spellings;
}
