/** Finds many known texts in another one at once, in time that hardly depends on how many they are (Wu and Manber). Pure. */

/** Every text must be at least this long: it is how far the search looks at once. */
export const leastKnown = 8;
const block = 3;
const slots = 1 << 16;
/** Up to this many known texts, one pattern of their beginnings rules out most texts, which then never need the index. */
const maxBeginnings = 100;

interface Entry {
  readonly text: string;
  readonly replacement: () => string;
}

export interface KnownTexts {
  /** From now on `text` is replaced by what `replacement` gives when it is found. Texts under `leastKnown` are passed over. */
  add(text: string, replacement: () => string): void;
  has(text: string): boolean;
  /** The same text, the very same one where none is found. Of texts that begin at the same place the longest counts. */
  replace(text: string): string;
  /** How many characters at the end of the text may be the beginning of a known one. */
  begun(text: string): number;
}

const slotOf = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & (slots - 1);

/** How far to go on from a block that ends a window, and the texts whose window ends in it. */
interface Index {
  readonly shifts: Uint8Array;
  readonly byEnd: ReadonlyMap<number, readonly Entry[]>;
}

/** Of each text the first `leastKnown` characters are the window that is looked for. */
function indexOf(entries: readonly Entry[]): Index {
  const shifts = new Uint8Array(slots).fill(leastKnown - block + 1);
  const byEnd = new Map<number, Entry[]>();
  for (const entry of entries) {
    for (let at = 0; at + block <= leastKnown; at += 1) {
      const slot = slotOf(entry.text, at);
      shifts[slot] = Math.min(shifts[slot] ?? 0, leastKnown - block - at);
    }
    const end = slotOf(entry.text, leastKnown - block);
    byEnd.set(end, [...(byEnd.get(end) ?? []), entry]);
  }
  for (const entriesOfEnd of byEnd.values()) entriesOfEnd.sort((a, b) => b.text.length - a.text.length);
  return { shifts, byEnd };
}

/** Positions of known texts, none inside another. */
function* findAll(
  text: string,
  { shifts, byEnd }: Index,
): Generator<{ readonly start: number; readonly entry: Entry }> {
  const back = leastKnown - block;
  let at = back;
  let from = 0;
  while (at + block <= text.length) {
    const slot = slotOf(text, at);
    const start = at - back;
    const shift = shifts[slot] ?? 1;
    const entry =
      shift > 0 || start < from ? undefined : byEnd.get(slot)?.find((each) => text.startsWith(each.text, start));
    if (entry === undefined) at += Math.max(shift, 1);
    else {
      yield { start, entry };
      from = start + entry.text.length;
      at = from + back;
    }
  }
}

/** The end of its last occurrence; 0: there is none. */
function endOf(text: string, known: string): number {
  const at = text.lastIndexOf(known);
  return at < 0 ? 0 : at + known.length;
}

export function createKnownTexts(): KnownTexts {
  const entries = new Map<string, Entry>();
  const firsts = new Set<string>();
  let longest = 0;
  let index: Index | null = null;
  let beginnings: RegExp | null = null;

  const mayHold = (text: string): boolean => {
    if (entries.size === 0 || text.length < leastKnown) return false;
    if (entries.size > maxBeginnings) return true;
    beginnings ??= new RegExp([...entries.keys()].map((each) => RegExp.escape(each.slice(0, leastKnown))).join("|"));
    return beginnings.test(text);
  };

  const isBegun = (text: string, at: number): boolean => {
    const end = text.slice(at);
    const known = [...entries.keys()];
    // The end of a whole text may look like the beginning of one.
    return known.some((each) => each.startsWith(end)) && known.every((each) => endOf(text, each) <= at);
  };

  return {
    add(text, replacement) {
      if (text.length < leastKnown || entries.has(text)) return;
      entries.set(text, { text, replacement });
      firsts.add(text.charAt(0));
      longest = Math.max(longest, text.length);
      index = null;
      beginnings = null;
    },
    has: (text) => entries.has(text),
    replace(text) {
      if (!mayHold(text)) return text;
      index ??= indexOf([...entries.values()]);
      let out = "";
      let from = 0;
      for (const { start, entry } of findAll(text, index)) {
        out += text.slice(from, start) + entry.replacement();
        from = start + entry.text.length;
      }
      return from === 0 ? text : out + text.slice(from);
    },
    begun(text) {
      for (let at = Math.max(0, text.length - longest + 1); at < text.length; at += 1) {
        if (firsts.has(text.charAt(at)) && isBegun(text, at)) return text.length - at;
      }
      return 0;
    },
  };
}
