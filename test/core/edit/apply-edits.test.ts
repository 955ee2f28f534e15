/** Edits: the table of cases from many tools, then what must hold for every file and every edit. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { applyEdits } from "../../../src/core/edit/apply-edits.ts";
import type { EditBlock } from "../../../src/core/script/script.ts";
import { type Encoding, encode } from "../../../src/core/text.ts";
import { expectCpu } from "../cpu-time.ts";
import { edit, toBytes, toText, tryEdits } from "./edit-on-text.ts";

interface ApplyCase {
  readonly id: string;
  readonly file_before: string | null;
  readonly search: string;
  readonly replace: string;
  readonly all?: true;
  /** Several in place of the one. */
  readonly blocks?: readonly EditBlock[];
  readonly expected: "applied" | "refused";
  readonly file_after?: string;
  /** Why it is refused, and words that the model is told. */
  readonly why?: string;
  readonly told?: string;
}

const file = readFileSync(join(import.meta.dir, "../../data/apply_cases.jsonl"), "utf8");
const cases = Bun.JSONL.parse(file) as readonly ApplyCase[];

describe("the corpus", () => {
  test.each(cases)("$id: $expected", ({ file_before, search, replace, all, blocks, ...one }) => {
    const block = all === true ? { search, replace, all } : { search, replace };
    const { after, why, told } = tryEdits(file_before, ...(blocks ?? [block]));
    if (one.expected === "applied") expect(after).toBe(one.file_after ?? "");
    else expect(why).toEqual(one.why ?? expect.any(String));
    expect(told).toContain(one.told ?? "");
  });
});

describe("several blocks", () => {
  test("the same block sent twice is done once", () => {
    const insert = { search: "import a\n", replace: "import a\nimport b\n" };
    expect(edit("import a\nx\n", insert, insert)).toBe("import a\nimport b\nx\n");
    const change = { search: "one = 1\n", replace: "two = 2\n" };
    expect(tryEdits("one = 1\nx\n", change, change).notes).toEqual(["edit 2 is already there"]);
  });

  test("what is inserted below a line stays there, though an earlier block inserted above the next one", () => {
    const file = "def div(a, b):\n    return a / b\n";
    const guard = { search: "    return a / b\n", replace: "    guard(b)\n    return a / b\n" };
    const about = { search: "def div(a, b):\n", replace: 'def div(a, b):\n    """Divides."""\n' };
    const both = 'def div(a, b):\n    """Divides."""\n    guard(b)\n    return a / b\n';
    expect(edit(file, guard, about)).toBe(both);
    expect(edit(file, about, guard)).toBe(both);
    const now = toBytes("def div(a, b):\n    guard(b)\n    return a / b\n");
    const later = applyEdits({ path: "f.py", now, shown: toBytes(file), blocks: [about] });
    expect(later.kind === "applied" && toText(later.bytes)).toBe(both);
  });

  test("what is inserted below one line keeps the order of the blocks, and is inserted once", () => {
    const below = (line: string) => ({ search: "import a\n", replace: `import a\n${line}\n` });
    const [first, second] = [below("import first"), below("import second")];
    const both = "import a\nimport first\nimport second\nx\n";
    expect(edit("import a\nx\n", first, second)).toBe(both);
    for (const block of [first, second])
      expect(
        applyEdits({ path: "f", now: toBytes(both), shown: toBytes("import a\nx\n"), blocks: [block] }),
      ).toMatchObject({ kind: "already" });
  });

  test("a file changed earlier in the batch: found as shown, applied to its current content", () => {
    const shown = toBytes("a = 1\nb = 2\nc = 3\n");
    const now = toBytes("header\na = 1\nb = 2\nc = 30\na = 1\n");
    const run = (search: string, replace: string) => {
      const result = applyEdits({ path: "f", now, shown, blocks: [{ search, replace }] });
      return result.kind === "applied" ? toText(result.bytes) : result.kind;
    };
    expect(run("a = 1\nb = 2\nc = 3\n", "a = 1\nb = 20\nc = 3\n")).toBe("header\na = 1\nb = 20\nc = 30\na = 1\n");
    expect(run("c = 3\n", "c = 4\n")).toBe("refused");
    expect(run("c = 30\n", "c = 4\n")).toBe("header\na = 1\nb = 2\nc = 4\na = 1\n");
  });
});

describe("for every file", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "é", " ", "\t", "(", "=", "-"), maxLength: 8 });
  const ending = fc.constantFrom("\n", "\r\n", "\r");
  const encodings: readonly Encoding[] = [
    { name: "utf-8", bom: false },
    { name: "utf-8", bom: true },
    { name: "utf-16le", bom: true },
    { name: "utf-16be", bom: true },
    { name: "single-byte", bom: false },
  ];
  const someFile = fc.record({
    lines: fc.array(fc.tuple(word, ending), { minLength: 3, maxLength: 12 }),
    finalEnding: fc.boolean(),
    encoding: fc.constantFrom(...encodings),
    from: fc.nat(11),
    length: fc.integer({ min: 1, max: 3 }),
    replace: fc.array(word, { maxLength: 4 }),
  });

  /** Lines made unique, and the bytes of a slice of them. */
  function openFile({ lines, finalEnding, encoding, from, length, replace }: FileSpec) {
    const start = from % lines.length;
    const end = Math.min(lines.length, start + length);
    const texts = lines.map(([text], at) => `é${at}${text}.`);
    const endings = lines.map(([, one], at) => (at === lines.length - 1 && !finalEnding ? "" : one));
    const join = (a: number, b: number) =>
      texts
        .slice(a, b)
        .map((text, at) => text + endings[a + at])
        .join("");
    const bytesOf = (text: string) => encode(text, encoding) ?? new Uint8Array();
    const withoutMark = (text: string) => bytesOf(text).slice(bytesOf("").length);
    return {
      bytes: bytesOf(join(0, lines.length)),
      before: bytesOf(join(0, start)),
      after: withoutMark(join(end, lines.length)),
      search: `${texts.slice(start, end).join("\n")}\n`,
      replace: replace.map((text, at) => `é${at}${text}:\n`).join(""),
      atEnd: end === lines.length,
    };
  }
  type FileSpec = typeof someFile extends fc.Arbitrary<infer T> ? T : never;

  test("no byte outside the matched lines changes: encodings, marks, endings, final newline", () => {
    fc.assert(
      fc.property(someFile, (spec) => {
        const file = openFile(spec);
        const { search, replace } = file;
        const result = applyEdits({ path: "f", now: file.bytes, shown: null, blocks: [{ search, replace }] });
        if (result.kind !== "applied") throw new Error(JSON.stringify(result));
        // Removing the last line of a file without a final newline takes the newline before it too.
        const kept = file.atEnd && replace === "" && !spec.finalEnding ? file.before.length - 4 : file.before.length;
        expect(result.bytes.slice(0, Math.max(0, kept))).toEqual(file.before.slice(0, Math.max(0, kept)));
        expect(result.bytes.slice(result.bytes.length - file.after.length)).toEqual(file.after);
      }),
      { numRuns: 300 },
    );
  });

  test("an edit and its inverse give the same bytes back", () => {
    fc.assert(
      fc.property(someFile, (spec) => {
        const file = openFile(spec);
        const count = file.search.split("\n").length - 1;
        const replace = Array.from({ length: count }, (_, at) => `é new ${at}${spec.replace[at] ?? ""}!\n`).join("");
        const change = { search: file.search, replace };
        const forth = applyEdits({ path: "f", now: file.bytes, shown: null, blocks: [change] });
        if (forth.kind !== "applied") throw new Error(JSON.stringify(forth));
        const blocks = [{ search: replace, replace: file.search }];
        const back = applyEdits({ path: "f", now: forth.bytes, shown: null, blocks });
        expect(back).toEqual({ kind: "applied", bytes: file.bytes, notes: [] });
      }),
      { numRuns: 300 },
    );
  });

  test("any blocks on any bytes: an answer, never a throw, and the input is left as it was", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "b", "\n", " ", "\t", "...", "\r", "1", "|", "é", "\\n"),
      maxLength: 20,
    });
    const block = fc.record({ search: text, replace: text });
    fc.assert(
      fc.property(fc.option(text), fc.option(text), fc.array(block, { maxLength: 3 }), (before, seen, blocks) => {
        const now = before === null ? null : toBytes(before);
        const result = applyEdits({ path: "f.ts", now, shown: seen === null ? null : toBytes(seen), blocks });
        expect(now).toEqual(before === null ? null : toBytes(before));
        expect("bytes" in result).toBe(result.kind === "applied");
        if (result.kind === "applied") expect(result.bytes).not.toEqual(now ?? toBytes("\0"));
      }),
      { numRuns: 1000 },
    );
  });

  test("what blocks insert above and below lines stands where they say, whatever the order of the blocks", () => {
    const place = fc.record({ line: fc.nat(4), side: fc.constantFrom("above", "below") });
    fc.assert(
      fc.property(fc.uniqueArray(place, { maxLength: 6, selector: ({ line, side }) => `${line}${side}` }), (places) => {
        const lines = ["def a():", "  b = 1", "", "  return b", "end"].map((text, at) => `${text} # ${at}`);
        const blocks = places.map(({ line, side }) => {
          const [text = "", added] = [lines[line], `new ${side} ${line}`];
          const replace = side === "above" ? [added, text] : [text, added];
          return { search: `${text}\n`, replace: `${replace.join("\n")}\n` };
        });
        const hasPlace = (side: string, line: number) =>
          places.some((each) => each.side === side && each.line === line);
        const expected = lines.flatMap((text, line) => [
          ...(hasPlace("above", line) ? [`new above ${line}`] : []),
          text,
          ...(hasPlace("below", line) ? [`new below ${line}`] : []),
        ]);
        const shown = toBytes(`${lines.join("\n")}\n`);
        let now: Uint8Array = shown;
        for (const block of blocks) {
          const result = applyEdits({ path: "f", now, shown, blocks: [block] });
          if (result.kind === "applied") now = result.bytes;
        }
        expect(toText(now)).toBe(`${expected.join("\n")}\n`);
        if (blocks.length > 0) expect(edit(toText(shown), ...blocks)).toBe(toText(now));
      }),
    );
  });
});

describe("worst cases stay under a second", () => {
  const equal = "  x = 1;\n".repeat(10_000);
  const million = Array.from(
    { length: 20_000 },
    (_, at) => `    line ${(at * 7919) % 10_007} of the file, ${at}\n`,
  ).join("");
  const hugeLine = "abc ".repeat(250_000);
  const inputs: readonly (readonly [string, string, EditBlock])[] = [
    ["equal lines, one", equal, { search: "x = 1;\n", replace: "y\n" }],
    ["equal lines, half, and one other", equal, { search: `${"x = 1;\n".repeat(5000)}z\n`, replace: "y\n" }],
    ["equal lines, near", equal, { search: `x = 1;\n${"x = 3;\n".repeat(2000)}x = 1;\n`, replace: "y\n" }],
    ["equal lines, all", equal, { search: "x = 1;\n", replace: "y\nz\n", all: true }],
    ["a megabyte, not found", million, { search: "not here\nnor here\nnor there\n", replace: "y\n" }],
    ["a megabyte replaced by another", million, { search: million, replace: million.replaceAll("file", "tile") }],
    ["one huge line, not found", hugeLine, { search: "abd\n", replace: "y\n" }],
    ["one huge line, all", hugeLine, { search: "abc\n", replace: "y\n", all: true }],
    ["huge lines, near", `a\n${hugeLine}\nb\nc\n`, { search: `a\n${hugeLine}x\nb\nc\n`, replace: "y\n" }],
    ["blank lines only", "\n".repeat(200_000), { search: "a\n\n\nb\n", replace: "y\n" }],
  ];
  test.each(inputs)("%s", (_, before, block) => {
    expectCpu(1000, () => edit(before, block));
  });
});
