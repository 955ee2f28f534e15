/** A mistyped word is read as the word that it is meant for, and an unknown one is left as it is. */
import { describe, expect, test } from "bun:test";
import { findTypos, mendTerms } from "../../../src/core/context/typos.ts";
import { termsOf } from "../../../src/core/context/words.ts";

const paths = ["src/Confirm.py", "src/prompts/color_scheme.py", "tests/test_defaults.py", "src/close.py"];
const commits = ["validate the template", "template: close it", "calibrate once"].map((subject) => ({
  subject,
  body: "",
}));

const read = (request: string, held: readonly string[] = []) => {
  const terms = termsOf(request);
  const isFound = (at: number) => terms[at]?.spellings.some((spelling) => held.includes(spelling)) ?? false;
  const mended = findTypos(terms, isFound, paths, commits);
  const known = new Set(terms.flatMap(({ spellings }) => spellings));
  const fresh = mendTerms(terms, mended).flatMap(({ spellings }) => spellings.filter((each) => !known.has(each)));
  return [mended.map(({ word }) => word).sort(), fresh.sort()];
};

describe("a word that nothing holds", () => {
  test.each([
    ["swapped letters", "deafult", "defaults", "default"],
    ["a missing letter", "promt", "prompts", "prompt"],
    ["a letter too many", "confirmm", "confirm", "confirm"],
    ["another spelling", "colours", "color", "color"],
    ["a word of commits", "tempalte", "template", "templat"],
  ])("is read as a near one: %s", (_, request, word, meant) => {
    expect(read(request)).toEqual([[word], [meant]]);
  });

  test.each([
    ["another letter in a short word", "clone"],
    ["a word of a single commit", "calibrtae"],
    ["nothing is near", "wishlist"],
    ["the first letter", "gonfirm"],
    ["too short", "clos"],
    ["the other word is sought, too", "confrim confirm"],
  ])("stays: %s", (_, request) => {
    expect(read(request)[1]).toEqual([]);
  });

  test("but one that a file or a commit holds is none", () => {
    expect(read("deafult", ["deafult"])).toEqual([[], []]);
    expect(read("calibrate")).toEqual([[], []]);
  });
});
