/** Terms are counted in many texts at once as in each of them alone. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { countInTexts } from "../../../src/core/context/count-in-texts.ts";
import { countTerm, termsOf } from "../../../src/core/context/words.ts";

const piece = fc.constantFrom("default", "map", "default_map", "log", "cat", "ab", "a", "aa", "_", "-", " ", "\n", "");
const texts = fc.array(
  fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
  { maxLength: 8 },
);

test("any texts, empty ones and such with line ends too, are counted alike", () => {
  const terms = [...termsOf("the default map of the log; ab"), ...termsOf("`aa`")];
  fc.assert(
    fc.property(texts, fc.constantFrom(1, 50), (given, most) => {
      const counts = countInTexts(given, terms, most);
      const each = given.flatMap((text) => terms.map((term) => Math.min(most, countTerm(text, term, 50))));
      expect([...counts]).toEqual(each);
    }),
  );
});
