/** The index counts what a reading of the files counts. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { openCounter, type Term, termsOf } from "../../../src/core/context/words.ts";
import { createSegment, searchSegment } from "../../../src/workspace/index/segment.ts";

function search(texts: readonly string[], terms: readonly Term[]): (readonly number[] | null)[] {
  const builder = createSegment();
  for (const text of texts) builder.add(text.toLowerCase());
  const { counts, holds } = searchSegment(builder.build(), terms, texts.length);
  return texts.map((_, at) =>
    holds[at] === 1 ? [...counts.subarray(at * terms.length, (at + 1) * terms.length)] : null,
  );
}

const read = (texts: readonly string[], terms: readonly Term[]) =>
  texts.map((text) => {
    const counts = openCounter(terms)(text.toLowerCase());
    return counts === null ? null : [...counts];
  });

const request = "the default map of parseArgs() drops is_set and the log when `maxCount` is 12; größe und käse";

test("words, parts of words, joined spellings and short ones are counted alike", () => {
  const texts = [
    "defaultMap default_map DEFAULT",
    "catalog log blog _log log2",
    "is_set isSet maxcount max_count",
    "Größe KÄSE",
    "",
    "none",
  ];
  const terms = termsOf(request);
  expect(search(texts, terms)).toEqual(read(texts, terms));
  expect(search(texts, terms)[0]).not.toBeNull();
});

const word = fc.constantFrom(
  "default",
  "map",
  "Map",
  "log",
  "parse",
  "Args",
  "max",
  "Count",
  "set",
  "is",
  "_",
  "-",
  ".",
  " ",
  "\n",
  "größe",
  "9",
  "x",
);

test("any texts made of such pieces are counted alike", () => {
  const terms = termsOf(request);
  fc.assert(
    fc.property(fc.array(fc.array(word, { maxLength: 40 }), { maxLength: 6 }), (pieces) => {
      const texts = pieces.map((each) => each.join(""));
      expect(search(texts, terms)).toEqual(read(texts, terms));
    }),
  );
});

test("postings that were damaged end the search and nothing else", () => {
  const builder = createSegment();
  for (let at = 0; at < 300; at += 1) builder.add(`default map ${at}`);
  const segment = builder.build();
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: segment.postings.length, maxLength: segment.postings.length }),
      (postings) => {
        searchSegment({ ...segment, postings }, termsOf(request), 300);
      },
    ),
    { numRuns: 20 },
  );
});
