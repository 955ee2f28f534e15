/** Diffs for people. */
import { expect, test } from "bun:test";
import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import type { Blob, Change } from "../../src/core/change.ts";
import { renderChanges } from "../../src/core/diff.ts";
import type { RelPath } from "../../src/core/path.ts";
import { renderDiff } from "../../src/ui/diff.ts";
import { highlight } from "../../src/ui/highlight.ts";
import { chooseStyle } from "../../src/ui/style.ts";

const screen = { TERM: "xterm", LANG: "C.UTF-8" };
const bare = chooseStyle({ tty: true, env: screen, flags: { noColor: true, plain: false } });
const colored = chooseStyle({ tty: true, env: screen, flags: { noColor: false, plain: false } });
const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join("");

test("shows files with counts and line numbers, folds what did not change", () => {
  const before = `first\n${lines(2, 30)}last\n`;
  const after = before.replace("first", "FIRST").replace("last", "LAST\nmore");
  const diff = createTwoFilesPatch("a/x.txt", "b/x.txt", before, after, undefined, undefined, { context: 40 });
  expect(renderDiff(diff, bare, { fold: 2 })).toMatchInlineSnapshot(`
    "● x.txt  +3 -2
        1 - first
        1 + FIRST
        2   line 2
        3   line 3
        …   25 unchanged lines
       29   line 29
       30   line 30
       31 - last
       31 + LAST
       32 + more
    "
  `);
});

test("names new, deleted and moved files, and counts the lines between hunks", () => {
  const diff = [
    "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+one\n",
    "--- a/old.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n\\ No newline at end of file\n",
    "diff --git a/src/a.ts b/src/b.ts\nsimilarity index 100%\nrename from src/a.ts\nrename to src/b.ts\n",
    "--- c.txt\t\n+++ d.txt\t\n@@ -1,1 +1,1 @@\n-a\n+b\n@@ -20,1 +20,1 @@\n-c\n+d\n",
  ].join("");
  expect(renderDiff(diff, bare, { fold: 3 })).toMatchInlineSnapshot(`
    "● new.txt (new)  +1
        1 + one

    ● old.txt (deleted)  -1
        1 - one
            no newline at end of file

    ● src/a.ts → src/b.ts

    ● c.txt → d.txt  +2 -2
        1 - a
        1 + b
        …   18 unchanged lines
       20 - c
       20 + d
    "
  `);
});

test("content that looks like a heading is content", () => {
  const diff = createTwoFilesPatch("a/q.sql", "b/q.sql", "-- old\nx\n", "++ new\n@@ -1 +1 @@\n");
  expect(renderDiff(diff, bare, { fold: 3 })).toMatchInlineSnapshot(`
    "● q.sql  +2 -2
        1 - -- old
        2 - x
        1 + ++ new
        2 + @@ -1 +1 @@
    "
  `);
});

test("colour carries what a sign also says, and content cannot add any (S88)", () => {
  const diff = createTwoFilesPatch("a/\x1b[2Jx", "b/\x1b[2Jx", "a\n", "\x1b]0;t\x07\n");
  expect(renderDiff(diff, colored, { fold: 3 })).toBe(
    [
      "\x1b[36m●\x1b[39m \\x1b[2Jx  \x1b[32m+1\x1b[39m \x1b[31m-1\x1b[39m",
      "  \x1b[31m  1 -\x1b[39m \x1b[31ma\x1b[39m",
      "  \x1b[32m  1 +\x1b[39m \x1b[32m\\x1b]0;t\\x07\x1b[39m",
      "",
    ].join("\n"),
  );
});

test("no diff is nothing", () => expect(renderDiff("", bare, { fold: 3 })).toBe(""));

test("reads everything our own diffs say: folders, empty files, moves, modes, binaries, odd names", () => {
  const file = (text: string, mode = 0o644): Blob => ({ kind: "file", bytes: Buffer.from(text), mode });
  const change = (path: string, before: Blob | null, after: Blob | null, from: string | null = null): Change => ({
    path: path as RelPath,
    before,
    after,
    from: from as RelPath | null,
  });
  const diff = renderChanges([
    change("src", null, { kind: "folder", mode: 0o755 }),
    change("empty", null, file("")),
    change("gone", file(""), null),
    change("old", file("1\n2\n"), null),
    change("new 日本", null, file("1\n3\n"), "old"),
    change("run.sh", file("a\n"), file("a\n", 0o755)),
    change("data", file("\0a"), file("\0b")),
    change("we\x1bird", file("a\n"), file("b\n")),
  ]);
  expect(renderDiff(diff, bare, { fold: 3 })).toMatchInlineSnapshot(`
    "● src/ (new)

    ● empty (new)

    ● gone (deleted)

    ● old → new 日本  +1 -1
        1   1
        2 - 2
        2 + 3

    ● run.sh
            old mode 100644
            new mode 100755

    ● data
            binary

    ● we\\x1bird  +1 -1
        1 - a
        1 + b
    "
  `);
});

const patch = (name: string, before: string, after: string) =>
  createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after);

test("the words that changed stand out in both lines, and nothing does where the whole line is another", () => {
  const shown = renderDiff(patch("x", "let total = first + 1;\n", "let total = second + 1;\n"), colored, { fold: 3 });
  expect(shown).toContain("let total = \x1b[7mfirst\x1b[27m + 1;");
  expect(shown).toContain("let total = \x1b[7msecond\x1b[27m + 1;");
  expect(renderDiff(patch("x", "one thing\n", "quite another\n"), colored, { fold: 3 })).not.toContain("\x1b[7m");
  expect(renderDiff(patch("x", "a b c d\n", "a b c d\n\n"), bare, { fold: 3 })).not.toContain("\x1b");
});

test("code has the colours of its language, and its text stays what it is", () => {
  const after = "import os\n\ndef area(x):  # round\n    return '日本' * 3\n";
  const shown = renderDiff(patch("a.py", "import os\n", after), colored, { fold: 3, highlight });
  expect(shown).toContain("\x1b[35mreturn\x1b[39m");
  expect(shown).toContain("\x1b[2m# round\x1b[22m");
  const plain = renderDiff(patch("a.py", "import os\n", after), bare, { fold: 3 });
  expect(Bun.stripANSI(shown)).toBe(plain);
  expect(renderDiff(patch("a.unknown", "x\n", "y\n"), colored, { fold: 3, highlight })).not.toContain("\x1b[35m");
});

test("no text loses or gains a character by its colours or marks, and a hostile one is shown", () => {
  const line = fc.string({
    unit: fc.constantFrom("a", "b", " ", "(", "'", '"', "日", "\t", "\x1b[7m", "/*", "`", "${", "0"),
    maxLength: 12,
  });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), fc.array(line, { maxLength: 6 }), (before, after) => {
      const diff = patch("a.ts", before.join("\n"), after.join("\n"));
      expect(Bun.stripANSI(renderDiff(diff, colored, { fold: 3, highlight }))).toBe(
        renderDiff(diff, bare, { fold: 3 }),
      );
    }),
    { numRuns: 200 },
  );
});

test("a diff of 500 lines is drawn in 30 ms", () => {
  const source = Array.from(
    { length: 250 },
    (_, at) => `export function f${at}(a: string): number { return a.length + ${at}; } // ${at}\n`,
  );
  const diff = patch("a.ts", source.join(""), source.join("").replaceAll("length", "size"));
  const draw = () => {
    const started = performance.now();
    renderDiff(diff, colored, { fold: 3, highlight });
    return performance.now() - started;
  };
  expect(Math.min(draw(), draw(), draw(), draw())).toBeLessThan(30);
});
