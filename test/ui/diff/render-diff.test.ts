/** Diffs for people: what words and colours show, and what is left out. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { renderChanges } from "../../../src/core/diff.ts";
import { type DiffOptions, renderDiff } from "../../../src/ui/diff/render-diff.ts";
import { highlight } from "../../../src/ui/highlight.ts";
import { chooseStyle } from "../../../src/ui/style.ts";
import { change, file } from "../../workspace/tree.ts";

const screen = { TERM: "xterm", LANG: "C.UTF-8" };
const bare = chooseStyle({ tty: true, env: { ...screen, NO_COLOR: "1" }, plain: false });
const colored = chooseStyle({ tty: true, env: screen, plain: false });
const plain: DiffOptions = { columns: null, highlight: null };

const edit = (name: string, before: string, after: string) => renderChanges([change(name, file(before), file(after))]);
const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join("");

test("shows a file with counts and line numbers, and how much between changes is left out", () => {
  const before = `first\n${lines(2, 30)}last\n`;
  const diff = edit("x.txt", before, before.replace("first", "FIRST").replace("last", "LAST\nmore"));
  expect(renderDiff(diff, bare, plain)).toMatchInlineSnapshot(`
    "● x.txt  +3 -2
        1 - first
        1 + FIRST
        2   line 2
        3   line 3
        4   line 4
        …   23 unchanged lines
       28   line 28
       29   line 29
       30   line 30
       31 - last
       31 + LAST
       32 + more
    "
  `);
});

test("lines are left out where that saves room, and not before the first change: its number says where it is", () => {
  const before = lines(1, 30);
  const gap = (size: number) =>
    renderDiff(edit("x", before, before.replace("line 9\n", "A\n").replace(`line ${10 + size}\n`, "B\n")), bare, plain);
  expect(gap(9)).not.toContain("unchanged");
  expect(gap(10)).toContain("…   4 unchanged lines");
  expect(gap(10).split("\n")[1]).toBe("    6   line 6");
});

test("content that looks like a heading is content", () => {
  expect(renderDiff(edit("q.sql", "-- old\nx\n", "++ new\n@@ -1 +1 @@\n"), bare, plain)).toMatchInlineSnapshot(`
    "● q.sql  +2 -2
        1 - -- old
        2 - x
        1 + ++ new
        2 + @@ -1 +1 @@
    "
  `);
});

test("no diff is nothing", () => expect(renderDiff("", bare, plain)).toBe(""));

test("says what happened to every kind of path, in names that cannot act", () => {
  const diff = renderChanges([
    change("src", null, { kind: "folder", mode: 0o755 }),
    change("lib", { kind: "folder", mode: 0o755 }, null),
    change("empty", null, file("")),
    change("gone", file("1\n2"), null),
    change("a b/old", file("1\n2\n"), null),
    change("a b/new 日本", null, file("1\n3\n"), "a b/old"),
    change("here", file("1\n"), null),
    change("there", null, file("1\n"), "here"),
    change("run.sh", file("a\n"), file("b\n", 0o755)),
    change("idle.sh", file("a\n", 0o755), file("a\n")),
    change("private", file("a\n"), file("a\n", 0o600)),
    change("data", file("\0a"), file("\0b")),
    change("link", null, { kind: "link", target: "src" }),
    change("we\x1bird", file("a\n"), file("b\n")),
  ]);
  expect(renderDiff(diff, bare, plain)).toMatchInlineSnapshot(`
    "● "we\\033ird"  +1 -1
        1 - a
        1 + b

    ● a b/old → a b/new 日本  +1 -1
        1   1
        2 - 2
        2 + 3

    ● data
            binary

    ● empty (new)

    ● gone (deleted)  -2
        1 - 1
        2 - 2
            no newline at end of file

    ● idle.sh
            no longer executable

    ● lib/ (deleted)

    ● link (new link)  +1
        1 + src
            no newline at end of file

    ● private
            mode 644 → 600

    ● run.sh  +1 -1
            executable now
        1 - a
        1 + b

    ● src/ (new)

    ● here → there
    "
  `);
});

describe("what cannot be seen is said", () => {
  const shown = (before: string, after: string) => renderDiff(edit("x", before, after), bare, plain);

  test("lines that all end in CRLF, once and not in each of them", () => {
    expect(shown("a\r\nb\r\nc", "a\r\nB\r\nc")).toMatchInlineSnapshot(`
      "● x  +1 -1
              lines end in CRLF
          1   a
          2 - b
          2 + B
          3   c
              no newline at end of file
      "
    `);
  });
  test("a line feed that is missing at the end", () => {
    expect(shown("a\nb", "a\nb\n")).toContain("    2 - b\n        no newline at end of file\n    2 + b\n");
    expect(shown("a\nb\n", "a\nb")).toEndWith("    2 - b\n    2 + b\n        no newline at end of file\n");
  });
});

describe("long lines", () => {
  const long = "var a=1;".repeat(1250);
  const shown = (before: string, after: string) => renderDiff(edit("x.js", before, after), bare, plain).split("\n");

  test("are cut to what changed in them, with a count of what is missing", () => {
    const [, before = "", missing, after = ""] = shown(
      `${long}\n`,
      `${long.slice(0, 5000)}evil();${long.slice(5000)}\n`,
    );
    expect(before).toMatch(/^ {4}1 - ….{200}…$/);
    expect(missing).toBe("        9,800 of 10,000 characters not shown");
    expect(after).toContain("=1;evil();var");
  });
  test("are cut to what changed where the file has no last line feed, and where a question follows", () => {
    const [before, after] = [long, `${long.slice(0, 5000)}evil();${long.slice(5000)}`];
    for (const whole of [false, true]) {
      const text = renderDiff(edit("x.js", before, after), bare, { ...plain, whole });
      expect([text.includes("=1;evil();var"), text.length < 1000]).toEqual([true, true]);
    }
  });
  // F25
  test("are shown whole at a question where it cannot be said what of them changed", () => {
    const text = renderDiff(edit("x.js", `${long}\n`, `${"b(2)".repeat(2500)}\n`), bare, { ...plain, whole: true });
    expect(text.includes("characters not shown")).toBe(false);
  });
  test("are cut to how they begin where they did not change", () => {
    expect(shown(`${long}\na\n`, `${long}\nb\n`).slice(1, 3)).toEqual([
      `    1   ${long.slice(0, 100)}…`,
      "        9,900 of 10,000 characters not shown",
    ]);
  });
  test("show 2,000 characters of what is new, never half of one", () => {
    const [, line = "", missing] = shown("", `x${"😀".repeat(2000)}\n`);
    expect(line).toBe(`    1 + x${"😀".repeat(999)}?…`);
    expect(missing).toBe("        2,001 of 4,001 characters not shown");
    expect(shown("", `${"x".repeat(1900)}\n`)[1]).toHaveLength(1908);
  });
  test("keep the background of a marked word out of the margin", () => {
    const words = (word: string) => `${"same ".repeat(9)}${`${word} `.repeat(9)}z\n`;
    const shown = renderDiff(edit("x", words("one"), words("two")), colored, { columns: 24, highlight: null });
    const rows = shown.split("\n").filter((row) => row.includes("\x1b[7m"));
    expect(rows.length).toBeGreaterThan(3);
    for (const row of rows) expect(row.match(/\x1b\[7m/g)?.length).toBe(row.match(/\x1b\[27m/g)?.length);
  });
  test("are wrapped below their own beginning, so that no text can pass for a line of the diff", () => {
    const diff = edit("日.md", "", `${"漢".repeat(9)}\tx${" ".repeat(20)}9 + y\n`);
    expect(renderDiff(diff, bare, { columns: 24, highlight: null })).toMatchInlineSnapshot(`
      "● 日.md  +1
          1 + 漢漢漢漢漢漢漢漢
              漢      x       
                           9 +
               y
      "
    `);
  });
  test("fit, whatever they hold", () => {
    const text = fc.string({ unit: fc.constantFrom("a", " ", "日", "\t", "é", "\x1b[1m", "0"), maxLength: 90 });
    fc.assert(
      fc.property(text, text, fc.integer({ min: 18, max: 90 }), (before, after, columns) => {
        const [, ...rows] = renderDiff(edit("x.ts", before, after), colored, { columns, highlight }).split("\n");
        for (const row of rows) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(columns);
      }),
    );
  });
});

describe("colour", () => {
  test("carries what a sign also says, and content cannot add any", () => {
    expect(renderDiff(edit("\x1b[2Jx", "a\n", "\x1b]0;t\x07\n"), colored, plain)).toBe(
      [
        '\x1b[36m●\x1b[39m "\\033[2Jx"  \x1b[32m+1\x1b[39m \x1b[31m-1\x1b[39m',
        "  \x1b[31m  1 -\x1b[39m \x1b[31ma\x1b[39m",
        "  \x1b[32m  1 +\x1b[39m \x1b[32m\\x1b]0;t\\x07\x1b[39m",
        "",
      ].join("\n"),
    );
  });

  test("marks the words that changed in both lines, and none where the whole line is another", () => {
    const shown = renderDiff(edit("x", "let total = first + 1;\n", "let total = second + 1;\n"), colored, plain);
    expect(shown).toContain("\x1b[31mlet total = \x1b[39m\x1b[7m\x1b[31mfirst\x1b[39m\x1b[27m\x1b[31m + 1;\x1b[39m");
    expect(shown).toContain("\x1b[32mlet total = \x1b[39m\x1b[7m\x1b[32msecond\x1b[39m\x1b[27m\x1b[32m + 1;\x1b[39m");
    expect(renderDiff(edit("x", "one thing\n", "quite another\n"), colored, plain)).not.toContain("\x1b[7m");
    expect(renderDiff(edit("x", "a b c d\n", "a b c e\n"), bare, plain)).not.toContain("\x1b");
  });

  test("of a mark is the one of its line, whatever colour the code below has", () => {
    const shown = renderDiff(edit("a.ts", "x; // the old note\n", "x; // the new note\n"), colored, {
      columns: 80,
      highlight,
    });
    expect(shown).toContain("\x1b[2m// the \x1b[22m\x1b[7m\x1b[32mnew\x1b[39m\x1b[27m\x1b[2m note\x1b[22m");
  });

  test("of code is the one of its language, and its text stays what it is", () => {
    const diff = edit("a.py", "import os\n", "import os\n\ndef area(x):  # round\n    return '日本' * 3\n");
    const shown = renderDiff(diff, colored, { columns: null, highlight });
    expect(shown).toContain("\x1b[35mreturn\x1b[39m");
    expect(shown).toContain("\x1b[2m# round\x1b[22m");
    expect(Bun.stripANSI(shown)).toBe(renderDiff(diff, bare, plain));
    expect(renderDiff(edit("a.unknown", "x\n", "y\n"), colored, { columns: null, highlight })).not.toContain(
      "\x1b[35m",
    );
  });

  test("of code goes on behind a note: a comment that was open stays one", () => {
    const before = "/*\n  one\n */\n";
    const shown = renderDiff(edit("a.ts", before, before.replace("  one", "\tone")), colored, {
      columns: null,
      highlight,
    });
    expect(shown).toContain("\x1b[2m */\x1b[22m");
  });

  test("adds and takes away no character, and a hostile one is shown", () => {
    const line = fc.string({
      unit: fc.constantFrom("a", "b", " ", "(", "'", '"', "日", "\t", "\r", "\x1b[7m", "/*", "`", "${", "0"),
      maxLength: 12,
    });
    const some = fc.array(line, { maxLength: 6 });
    fc.assert(
      fc.property(some, some, fc.constantFrom(null, 20, 80), (before, after, columns) => {
        const diff = edit("a.ts", before.join("\n"), after.join("\n"));
        const inColor = renderDiff(diff, colored, { columns, highlight });
        expect(Bun.stripANSI(inColor)).toBe(renderDiff(diff, bare, { columns, highlight: null }));
      }),
      { numRuns: 200 },
    );
  });
});
