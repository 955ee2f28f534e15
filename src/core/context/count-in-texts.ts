/** Counts terms in many short texts: one search through the joined texts is much quicker than many small ones. Pure. */
import { countsAt, type Term } from "./words.ts";

/** Calls `tell` for each place of a spelling that counts, in order. */
function eachPlace(text: string, spelling: string, tell: (at: number) => void): void {
  for (let at = text.indexOf(spelling); at >= 0; at = text.indexOf(spelling, at + spelling.length))
    if (countsAt(text, spelling, at)) tell(at);
}

/** The end of each text when they are joined with one character between them. */
function endsOf(texts: readonly string[]): Uint32Array {
  const ends = new Uint32Array(texts.length);
  let end = -1;
  for (const [at, text] of texts.entries()) {
    end += text.length + 1;
    ends[at] = end;
  }
  return ends;
}

/** Occurrences of terms in texts, at `text * terms.length + term`, at most `maxCount`; counts as `countTerm` does. */
export function countInTexts(texts: readonly string[], terms: readonly Term[], maxCount: number): Uint8Array {
  const all = texts.join("\n");
  const ends = endsOf(texts);
  const counts = new Uint8Array(texts.length * terms.length);
  for (const [number, { spellings }] of terms.entries()) {
    for (const spelling of spellings) {
      let text = 0;
      eachPlace(all, spelling, (at) => {
        while (at >= (ends[text] ?? all.length)) text += 1;
        const place = text * terms.length + number;
        counts[place] = Math.min(maxCount, (counts[place] ?? 0) + 1);
      });
    }
  }
  return counts;
}
