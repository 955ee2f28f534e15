/** Two changes of one file are merged when they touch different lines, and nothing of either is lost. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { splitLines } from "../../src/core/line-diff.ts";
import { mergeBlobs, mergeTexts } from "../../src/core/three-way.ts";
import { file as bytes } from "./changes.ts";
import { expectCpu } from "./cpu-time.ts";

const wide = (text: string) => new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"));
const latin = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const contentOf = (merge: ReturnType<typeof mergeBlobs>) =>
  merge.kind === "merged" ? Buffer.from(merge.blob.bytes).toString("latin1") : merge.kind;
const asLatin = (content: string | Uint8Array) => Buffer.from(content).toString("latin1");

const base = "1\n2\n3\n4\n5\n";

test.each([
  ["one line of each side", base, "1\nA\n3\n4\n5\n", "1\n2\n3\nB\n5\n", "1\nA\n3\nB\n5\n"],
  ["insertions", base, "0\n1\n2\n3\n4\n5\n", "1\n2\n3\n4\n5\n6\n", "0\n1\n2\n3\n4\n5\n6\n"],
  ["a deletion and an insertion", base, "2\n3\n4\n5\n", "1\n2\n3\n4\nx\n5\n", "2\n3\n4\nx\n5\n"],
  ["the same edit of both", base, "1\nA\n3\n4\n5\n", "1\nA\n3\n4\nB\n", "1\nA\n3\n4\nB\n"],
  ["only the other side", base, base, "1\n2\n", "1\n2\n"],
  ["line ends of two bytes", "1\r\n2\r\n3\r\n", "A\r\n2\r\n3\r\n", "1\r\n2\r\nB\r\n", "A\r\n2\r\nB\r\n"],
  ["a last line without an end", "1\n2\n3", "A\n2\n3", "1\n2\nB", "A\n2\nB"],
  ["a last line that gets its end", "1\n2\n3", "A\n2\n3", "1\n2\n3\n", "A\n2\n3\n"],
  ["the mark of UTF-8", "\ufeff1\n2\n3\n", "\ufeff1\n2\nA\n", "\ufeffB\n2\n3\n", "\ufeffB\n2\nA\n"],
  ["a mark that somebody added", "1\n2\n3\n", "1\n2\nA\n", "\ufeff1\n2\n3\n", "\ufeff1\n2\nA\n"],
  ["UTF-16", wide("1\n2\n3\n"), wide("ä\n2\n3\n"), wide("1\n2\nß\n"), wide("ä\n2\nß\n")],
  ["single bytes", latin("1\n2\né\n"), latin("ä\n2\né\n"), latin("1\n2\né\n4\n"), latin("ä\n2\né\n4\n")],
  ["single bytes of one side", "1\n2\n3\n", "1\n2\nA\n", latin("é\n2\n3\n"), latin("é\n2\nA\n")],
])("%s", (_, from, ours, theirs, wanted) => {
  expect(contentOf(mergeBlobs(bytes(from), bytes(ours), bytes(theirs)))).toBe(asLatin(wanted));
  expect(contentOf(mergeBlobs(bytes(from), bytes(theirs), bytes(ours)))).toBe(asLatin(wanted));
});

test.each([
  ["the same line", base, "1\nA\n3\n4\n5\n", "1\nB\n3\n4\n5\n", [2, "2\n", "A\n", "B\n"]],
  ["neighbours", base, "1\nA\n3\n4\n5\n", "1\n2\nB\n4\n5\n", [2, "2\n3\n", "A\n3\n", "2\nB\n"]],
  ["two ends", "1\n", "1\n2\n", "1\n3\n", [2, "", "2\n", "3\n"]],
  ["a deletion below a change", "1\n2\n3\n", "1\n3\n", "A\n2\n3\n", [1, "1\n2\n", "1\n", "A\n2\n"]],
] as const)("%s are a dispute that holds both sides' words", (_, from, left, right, [line, base, ours, theirs]) => {
  const disputes = [{ line, base, ours, theirs }];
  expect(mergeBlobs(bytes(from), bytes(left), bytes(right))).toEqual({ kind: "disputed", disputes });
});

test.each([
  ["binary content", bytes(new Uint8Array([0, 1, 10])), bytes("a\n"), bytes("b\n")],
  ["two encodings", bytes("1\n2\n3\n"), bytes("é\n2\n3\n"), bytes(latin("1\n2\né\n"))],
  ["a file that is gone", bytes("1\n"), bytes("2\n"), null],
  ["a new file", null, bytes("2\n"), bytes("3\n")],
  ["two modes", bytes("1\n"), bytes("2\n", 0o755), bytes("1\n", 0o600)],
])("%s is not merged", (_, from, ours, theirs) => {
  expect(mergeBlobs(from, ours, theirs)).toEqual({ kind: "unmergeable" });
});

test("the mode is that of the side that changed it", () => {
  const merged = mergeBlobs(bytes("1\n2\n3\n"), bytes("A\n2\n3\n"), bytes("1\n2\n3\n", 0o755));
  expect(merged).toMatchObject({ kind: "merged", blob: { mode: 0o755 } });
});

/** Edits of numbered lines, all different, with a kept line between any two. */
const oneEdit = fc.tuple(fc.boolean(), fc.nat(2), fc.nat(3), fc.integer({ min: 1, max: 4 }));
const edits = fc
  .array(oneEdit, { minLength: 1, maxLength: 12 })
  .filter((all) => all.every(([, gone, made]) => gone + made > 0));

test("what two sides did to different lines is what one would have done to all of them", () => {
  fc.assert(
    fc.property(edits, fc.boolean(), (all, ends) => {
      const whole = { base: "", ours: "", theirs: "", both: "" };
      let n = 0;
      const keep = (count: number) => {
        for (let i = 0; i < count; i++) {
          const line = `line ${n++}\r\n`;
          for (const side of ["base", "ours", "theirs", "both"] as const) whole[side] += line;
        }
      };
      keep(1);
      for (const [isOurs, gone, made, kept] of all) {
        const old = Array.from({ length: gone }, () => `line ${n++}\n`).join("");
        const now = Array.from({ length: made }, () => `new ${n++}\n`).join("");
        whole.base += old;
        whole.ours += isOurs ? now : old;
        whole.theirs += isOurs ? old : now;
        whole.both += now;
        keep(kept);
      }
      const cut = (text: string) => (ends ? text : text.trimEnd());
      expect(mergeTexts(cut(whole.base), cut(whole.ours), cut(whole.theirs))).toBe(cut(whole.both));
    }),
  );
});

test.each([
  ["neighbours", "1\n2\n", "A\n2\n", "1\nB\n", "A\nB\n", "A\nB\n"],
  ["a line of each, one of both", "1\n2\n", "A\n2\n", "A\nB\n", "A\nB\n", "A\nB\n"],
  ["a change and an insertion below it", "1\n2\n", "A\n2\n", "1\nB\n2\n", "A\nB\n2\n", "A\nB\n2\n"],
  ["the same insertion", "1\n", "1\nA\n", "1\nA\n", "1\nA\n", "1\nA\n"],
  ["the same line, and one of ours", "1\n2\n3\n", "A\n2\nC\n", "B\n2\n3\n", null, "B\n2\nC\n"],
])("%s: side by side both are taken, and of a dispute what is theirs", (_, from, ours, theirs, beside, wanted) => {
  const merged = mergeTexts(from, ours, theirs, "beside");
  expect(typeof merged === "string" ? merged : null).toBe(beside);
  expect(mergeTexts(from, ours, theirs, "theirs")).toBe(wanted);
});

const nearnesses = ["apart", "beside", "theirs"] as const;

test("any two sides are merged into lines of both, or every line that is in question is shown", () => {
  const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n"), { maxLength: 9 }).map((lines) => lines.join(""));
  fc.assert(
    fc.property(text, text, text, fc.constantFrom(...nearnesses), (from, ours, theirs, near) => {
      const merged = mergeTexts(from, ours, theirs, near);
      expect(mergeTexts(from, ours, from, near)).toBe(ours);
      expect(mergeTexts(from, from, theirs, near)).toBe(theirs);
      expect(mergeTexts(from, ours, ours, near)).toBe(ours);
      if (typeof merged === "string") {
        const known = new Set([...splitLines(ours), ...splitLines(theirs)]);
        for (const line of splitLines(merged)) expect(known).toContain(line);
      } else for (const { ours: mine, theirs: other } of merged) expect(mine).not.toBe(other);
    }),
  );
});

test("10,000 lines are merged in a moment", () => {
  const lines = Array.from({ length: 10_000 }, (_, n) => `line ${n % 900} of ${n}\n`);
  const side = (from: number) => lines.map((line, n) => (n % 400 === from ? `changed ${n}\n` : line)).join("");
  const all = [lines.join(""), side(3), side(200)] as const;
  expectCpu(60, () => mergeTexts(...all));
});

test("an edit behind 800,000 lines is merged", () => {
  const empty = "\n".repeat(800_000);
  expect(mergeTexts(`${empty}a\n`, `${empty}b\n`, `${empty}a\n`) === `${empty}b\n`).toBe(true);
});
