/** Many known texts are found in one pass: the same as looking for each. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createKnownTexts } from "../../../src/core/secrets/known-texts.ts";

/** Where the known text ends that begins at `at`, with all that overlap; `at`: none begins there. */
function endOf(text: string, at: number, known: readonly string[]): number {
  let end = at;
  for (let from = at; from === at || from < end; from += 1) {
    for (const each of known) if (text.startsWith(each, from)) end = Math.max(end, from + each.length);
  }
  return end;
}

/** The plain way: at every place where a known text stands; those that overlap are one. */
function replacePlainly(text: string, known: readonly string[]): string {
  let out = "";
  for (let at = 0; at < text.length; ) {
    const end = endOf(text, at, known);
    out += end === at ? text.charAt(at) : "#";
    at = Math.max(end, at + 1);
  }
  return out;
}

const few = fc.constantFrom("a", "b", "é");
const word = fc.array(few, { minLength: 6, maxLength: 14 }).map((parts) => parts.join(""));
/** All of these are known; what is found becomes what `name` returns. */
function knowing(known: readonly string[], name: (found: string) => string = () => "#") {
  const texts = createKnownTexts();
  for (const each of known) texts.add(each, name);
  return texts;
}

test("every known text is replaced, wherever it occurs, and those that overlap as one", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(word, { maxLength: 6 }),
      fc.array(fc.oneof(few, word), { maxLength: 40 }),
      (known, parts) => {
        const text = parts.join("") + known.slice(0, 2).join("a");
        expect(knowing(known).replace(text)).toBe(replacePlainly(text, known));
      },
    ),
    { numRuns: 2000 },
  );
});

test("where a known text overlaps another, nothing of either is left", () => {
  const texts = knowing(["id=a1b2&api_key=Z", "Zx9kQ2mR7tLp4Vw"], (found) => `<${found.length}>`);
  expect(texts.replace("x?id=a1b2&api_key=Zx9kQ2mR7tLp4Vw#Zx9kQ2mR7tLp4Vw")).toBe("x?<31>#<15>");
  expect(texts.begun("x?id=a1b2&api_key=Zx9k")).toBe(20);
});

test("a known text that overlaps itself without end holds back a stream of it only in part", () => {
  const texts = knowing(["a1B2a1B2a1B2a1B2"]);
  expect(texts.begun("a1B2".repeat(500))).toBe(2000);
  expect(texts.begun("a1B2".repeat(5_000))).toBe(4096);
});

test("a known text that ends where a longer one may go on is held back as well", () => {
  const texts = knowing(["secret-value", "secret-value.and-more"]);
  expect(["", ".", "!"].map((end) => texts.begun(`a secret-value${end}`))).toEqual([12, 13, 0]);
});

test("property: a text in pieces becomes what it becomes as a whole, and only beginnings of known texts are held back", () => {
  const narrow = fc.array(fc.constantFrom("a", "b"), { minLength: 8, maxLength: 14 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.oneof(narrow, word), { minLength: 1, maxLength: 4 }),
      fc.array(fc.oneof(few, fc.constantFrom("\u00e1", "\u0161", "\u{1f600}"), narrow, word), { maxLength: 14 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      fc.nat(13),
      (known, parts, cuts, begun) => {
        const texts = knowing(known);
        const text = parts.join("") + (known[0] ?? "").slice(0, begun);
        let [shown, waiting] = ["", ""];
        for (let [at, cut] = [0, 0]; at < text.length; cut += 1) {
          const length = cuts[cut % cuts.length] ?? 1;
          const piece = waiting + text.slice(at, at + length);
          at += length;
          const end = piece.length - texts.begun(piece);
          waiting = piece.slice(end);
          const isBeginning = (end: string) => known.some((each) => each.length > end.length && each.startsWith(end));
          const reached = endOf(waiting, 0, known);
          const places = Array.from(waiting, (_, from) => from).filter((from) => from === 0 || from < reached);
          expect(waiting === "" || places.some((from) => isBeginning(waiting.slice(from)))).toBe(true);
          shown += texts.replace(piece.slice(0, end));
        }
        expect(shown + texts.replace(waiting)).toBe(texts.replace(text));
      },
    ),
    { numRuns: 5000 },
  );
});

test("texts that are too short are passed over", () => {
  const texts = knowing(["short"]);
  expect([texts.has("short"), texts.replace("a short text")]).toEqual([false, "a short text"]);
});
