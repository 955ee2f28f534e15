/** Answers in Markdown: rendered, streamed, safe. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { highlight } from "../../src/ui/highlight.ts";
import { openMarkdown, renderMarkdown } from "../../src/ui/markdown.ts";
import { visible } from "../../src/ui/sanitize.ts";
import { chooseStyle, ownCodes } from "../../src/ui/style.ts";
import { expectCpu } from "../core/cpu-time.ts";

const env = { TERM: "xterm", LANG: "C.UTF-8" };
const bare = {
  columns: 40,
  style: chooseStyle({ tty: true, env: { ...env, NO_COLOR: "1" }, plain: false }),
  highlight: () => highlight,
};
const colored = { ...bare, style: chooseStyle({ tty: true, env, plain: false }) };

const answer = `# Result

The **area** of \`circle\` is now in *one* place,
and this line is long enough that it must be wrapped somewhere.

- first with [a link](https://example.org/a)
- second

1. one
2. two

\`\`\`py
def area(r):
    return 3 * r  # r
\`\`\`

| name | 値 |
|---|---|
| 面積 | 2 |

See https://example.org/x for more.
`;

test("headings, lists, links, code and tables, at the width of the terminal", () => {
  expect(renderMarkdown(answer, bare)).toMatchInlineSnapshot(`
    "Result
    ======

    The area of circle is now in one place,
    and this line is long enough that it
    must be wrapped somewhere.

      * first with a
        link (https://example.org/a)
      * second

       1. one
       2. two

      def area(r):
          return 3 * r  # r

    +------+-----+
    | name | 値  |
    +------+-----+
    | 面積 | 2   |
    +------+-----+

    See https://example.org/x for more.
    "
  `);
});

test("bold and code have a look, fences the colours of their language", () => {
  const shown = renderMarkdown(answer, colored);
  expect(shown).toContain("\x1b[1marea\x1b[22m");
  expect(shown).toContain("\x1b[35mreturn\x1b[39m");
});

test("every look that Markdown gets is one that the screen lets through", () => {
  const marks = [
    ...["# ", "## ", "###### ", "> ", "> > ", "- ", "- [x] ", "1. ", "  ", "    ", "| a | b |", "|-|-|", "---"],
  ];
  const spans = ["`code`", "**bold**", "*both `c`*", "~~gone~~", "[l](http://a.b)", "![i](x.png)", "<b>x</b>", "a"];
  const pieces = [...marks, ...spans, "\n", "\n\n", "```js\nlet a = 1; // b\n```\n"];
  const codesOf = (text: string) => renderMarkdown(text, colored).match(/\x1b\[[\d;]*m/g) ?? [];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      expect(codesOf(parts.join("")).filter((code) => !ownCodes.has(code))).toEqual([]);
    }),
    { numRuns: 500 },
  );
  const known = ["> a", "`a`", "~~a~~"].map((text) => codesOf(text).length);
  expect(Math.min(...known)).toBeGreaterThan(0);
});

test("plain words are shown as they come, marked ones when they are whole", () => {
  const stream = openMarkdown(bare);
  expect(stream.push("I will move the ")).toBe("I will move the");
  expect(stream.push("formula **here")).toBe(" formula");
  expect(stream.push("** and\n")).toBe(" here and\n");
  expect(stream.push("> a\n> b\n")).toBe("");
  expect(stream.push("\n")).toBe("| a b\n\n");
});

test("an item of a list is shown when the next begins, with what is inside it", () => {
  const stream = openMarkdown(bare);
  expect(stream.push("8. a\n   - b\n")).toBe("");
  expect(stream.push("9. c\n")).toBe("   8. a\n        * b\n");
  expect(stream.push("10. d\n")).toBe("   9. c\n");
  expect(stream.end()).toBe("   10. d\n");
});

test("code is shown line by line", () => {
  const stream = openMarkdown(bare);
  expect(stream.push("```js\nlet a")).toBe("");
  expect(stream.push(" = 1;\n\nlet b")).toBe("  let a = 1;\n\n");
  expect(stream.push("\n```\n")).toBe("  let b\n");
  expect(stream.end()).toBe("");
});

test("line by line, comments and strings of several lines keep their colour", () => {
  const code = ["/* a", " * b */", "let a = `x $", "{b}", " return", "`;", "return a; // c", "// return", ""]
    .join("\n")
    .replace("$\n", "$");
  const whole = highlight("ts")?.(code);
  const paint = highlight("ts");
  const lines = code.split(/(?<=\n)/).map((line) => paint?.(line));
  expect(lines.join("")).toBe(whole ?? "");
  expect(whole).toContain("\x1b[33m return\x1b[39m");
});

test("cut anywhere, the same is shown, and no line of words is too wide", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(answer.length), { maxLength: 8 }), (cuts) => {
      const stream = openMarkdown(bare);
      const edges = [0, ...cuts.sort((a, b) => a - b), answer.length];
      const shown = edges.slice(1).map((edge, at) => stream.push(answer.slice(edges[at], edge)));
      expect(shown.join("") + stream.end()).toBe(renderMarkdown(answer, bare));
    }),
    { numRuns: 200 },
  );
  for (const line of renderMarkdown(answer, bare).split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(40);
});

test("nothing decoded or linked acts on the terminal (R34)", () => {
  const hostile = "a &#27;[2J b\n\n- &zwj; &rlm; &#x202e;\n\n[ok](javascript:alert(1)) **\x1b[31mred** &Tab;\n";
  const shown = renderMarkdown(visible(hostile), colored);
  expect(shown.replace(/\x1b\[[\d;]*m/g, "")).not.toMatch(/\x1b|\u200d|\u200f|\u202e/);
  expect(shown).toContain("javascript:alert(1)");
  expect(shown).toContain("\\x1b[31mred");
});

test("any text keeps its words, and never throws", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("a", "b ", "\n", "*", "`", "_", "#", "- ", "1. ", "|", "<", "&lt;", "\\", "日", "```\n"),
        maxLength: 40,
      }),
      (text) => {
        const letters = (all: string) => all.replace(/[^ab日]/g, "");
        const shown = renderMarkdown(text, bare);
        if (!/[<&`~|]/.test(text)) expect(letters(shown)).toBe(letters(text));
      },
    ),
    { numRuns: 300 },
  );
});

test("code that is hard to read is coloured soon, or not at all", () => {
  const bars = "  a".repeat(30);
  const hard: readonly (readonly [language: string, code: string])[] = [
    ["html", `<a${bars}\n`],
    ["xml", `<a b="${"\\a".repeat(40)}\n`],
    ["css", "a-".repeat(50_000)],
    ["css", "a\n".repeat(50_000)],
    ["js", `${"A".repeat(900)}\n`.repeat(100)],
    ["bash", `"${" ".repeat(50_000)}`],
    ["py", `"""\n${"a\n".repeat(40_000)}`],
  ];
  for (const [language, code] of hard) {
    const show = () => renderMarkdown(`\`\`\`${language}\n${code}\n\`\`\`\n`, colored);
    expectCpu(5000, show, language);
    const painted = highlight(language)?.(code);
    expect(painted?.replace(/\x1b\[[\d;]*m/g, "") === code).toBe(true);
  }
});

test("what a diff adds and removes has the colours of a diff", () => {
  expect(highlight("diff")?.("@@ -1 +1 @@\n-a\n+b\n c\n")).toBe(
    "\x1b[34m@@ -1 +1 @@\x1b[39m\n\x1b[31m-a\x1b[39m\n\x1b[32m+b\x1b[39m\n c\n",
  );
});

test("a name in double underscores is shown with them, also in code and addresses; several words in them are bold", () => {
  const shown = (text: string) => renderMarkdown(text, { ...bare, columns: 80 }).trim();
  expect(shown("- Say so in json/__init__.py, add __len__")).toContain("json/__init__.py, add __len__");
  expect(shown("Call `__init__` of https://x.org/__init__.py")).toBe("Call __init__ of https://x.org/__init__.py");
  expect(shown("__Please note__ this")).toBe("Please note this");
});
