/** Finds many known texts in another text in one pass, about equally fast for any number (Wu and Manber). Pure. */
import { rememberLong } from "./remember-long.ts";

/** Every text must be at least this long. */
export const minKnown = 6;
/** The largest window of the search; it is never longer than the shortest known text. */
const maxWindow = 32;
const block = 3;
const slots = 1 << 16;
const firstBits = 127;
/** At most this many characters are held back, or one known text: some overlap themselves without end. */
const maxHeld = 4096;
/** Up to this many known texts, one pattern of their beginnings rules out most texts without the index. */
const maxBeginnings = 16;

interface Entry {
  readonly text: string;
  readonly replacement: Replacement;
}

/** What stands in the place of a known text. `found`: that text, or all that overlapping known texts cover. */
type Replacement = (found: string) => string;

type Entries = ReadonlyMap<string, Entry>;

export interface KnownTexts {
  /** From now on `replace` puts what `replacement` returns in the place of `text`. False: known, or under `minKnown`. */
  add(text: string, replacement: Replacement): boolean;
  has(text: string): boolean;
  /** Replaces known texts, those that overlap as one; without any, returns the same string. */
  replace(text: string): string;
  /** How many characters at the end of the text may be the beginning of a known one. */
  begun(text: string): number;
}

const slotOf = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & (slots - 1);

interface Index {
  /** How many characters at the beginning of each known text are searched. */
  readonly window: number;
  /** How far the window may move on from its last block; 0: the block may end the window of a known text. */
  readonly shifts: Uint8Array;
  /** Whether a known text may begin with the block. */
  readonly begins: Uint8Array;
  /** By the first `window` characters of a known text: the lengths of all texts that begin with them, longest first. */
  readonly lengths: ReadonlyMap<string, readonly number[]>;
  readonly entries: Entries;
}

/** Indexes the beginning of each known text, as many characters as the shortest one has. */
function indexOf(entries: Entries): Index {
  let window = maxWindow;
  for (const { length } of entries.keys()) window = Math.min(window, length);
  const shifts = new Uint8Array(slots).fill(window - block + 1);
  const begins = new Uint8Array(slots);
  const lengths = new Map<string, number[]>();
  for (const text of entries.keys()) {
    begins[slotOf(text, 0)] = 1;
    for (let at = 0; at + block <= window; at += 1) {
      const slot = slotOf(text, at);
      shifts[slot] = Math.min(shifts[slot] ?? 0, window - block - at);
    }
    const beginning = text.slice(0, window);
    const known = lengths.get(beginning);
    if (known === undefined) lengths.set(beginning, [text.length]);
    else if (!known.includes(text.length)) known.push(text.length);
  }
  for (const each of lengths.values()) each.sort((a, b) => b - a);
  return { window, shifts, begins, lengths, entries };
}

/** The longest known text that begins there, found without trying all of them. */
function entryAt(text: string, start: number, { window, lengths, entries }: Index): Entry | undefined {
  for (const length of lengths.get(text.slice(start, start + window)) ?? []) {
    const entry = entries.get(text.slice(start, start + length));
    if (entry !== undefined) return entry;
  }
  return undefined;
}

interface Found {
  readonly start: number;
  readonly end: number;
  readonly entry: Entry;
}

/** Where the last of the known texts ends that overlap: half a secret would be left, if one alone were replaced. */
function endOf(text: string, start: number, entry: Entry, index: Index): number {
  const back = index.window - block;
  let end = start + entry.text.length;
  for (let at = start + 1; at < end; at += 1) {
    if (index.begins[slotOf(text, at)] !== 1 || index.shifts[slotOf(text, at + back)] !== 0) continue;
    end = Math.max(end, at + (entryAt(text, at, index)?.text.length ?? 0));
  }
  return end;
}

/** The first known text at `from` or after it; null: none. No closure in the loop: it would take most of the time. */
function findNext(text: string, from: number, index: Index): Found | null {
  const { window, shifts } = index;
  const back = window - block;
  const last = text.length - block;
  let at = from + back;
  while (at <= last) {
    const slot = slotOf(text, at);
    const shift = shifts[slot] ?? 1;
    const entry = shift > 0 ? undefined : entryAt(text, at - back, index);
    if (entry !== undefined) return { start: at - back, end: endOf(text, at - back, entry, index), entry };
    at += shift > 0 ? shift : 1;
  }
  return null;
}

export function createKnownTexts(): KnownTexts {
  const entries = new Map<string, Entry>();
  /** By the low bits of a character: whether a known text begins with it. Quick, since every piece of a reply asks. */
  const firsts = new Uint8Array(firstBits + 1);
  let longest = 0;
  let index: Index | null = null;
  let beginnings: RegExp | null = null;

  const mayHold = (text: string): boolean => {
    if (entries.size === 0 || text.length < minKnown) return false;
    if (entries.size > maxBeginnings) return true;
    beginnings ??= new RegExp([...entries.keys()].map((each) => RegExp.escape(each.slice(0, minKnown))).join("|"));
    return beginnings.test(text);
  };

  /** Where the known texts begin that are replaced together with what begins at this place. */
  const startOf = (text: string, at: number): number => {
    if (!mayHold(text)) return at;
    index ??= indexOf(entries);
    let found = findNext(text, 0, index);
    while (found !== null && found.end <= at) found = findNext(text, found.end, index);
    return found === null ? at : Math.min(found.start, at);
  };

  const isBegun = (end: string): boolean =>
    entries.keys().some((each) => each.length > end.length && each.startsWith(end));

  const replacing = rememberLong((text: string): string => {
    if (!mayHold(text)) return text;
    index ??= indexOf(entries);
    // Joined at the end: each search in a text that grows piece by piece would flatten it again.
    const parts: string[] = [];
    let from = 0;
    for (let found = findNext(text, 0, index); found !== null; found = findNext(text, from, index)) {
      parts.push(text.slice(from, found.start), found.entry.replacement(text.slice(found.start, found.end)));
      from = found.end;
    }
    return parts.length === 0 ? text : [...parts, text.slice(from)].join("");
  });

  return {
    add(text, replacement) {
      if (text.length < minKnown || entries.has(text)) return false;
      entries.set(text, { text, replacement });
      firsts[text.charCodeAt(0) & firstBits] = 1;
      longest = Math.max(longest, text.length);
      index = null;
      beginnings = null;
      replacing.forget();
      return true;
    },
    has: (text) => entries.has(text),
    replace: replacing.in,
    begun(text) {
      for (let at = Math.max(0, text.length - longest + 1); at < text.length; at += 1) {
        const mayBegin = firsts[text.charCodeAt(at) & firstBits] === 1;
        if (!mayBegin || !isBegun(text.slice(at))) continue;
        return Math.max(text.length - at, Math.min(text.length - startOf(text, at), maxHeld));
      }
      return 0;
    },
  };
}
