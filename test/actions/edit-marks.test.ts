/** Marks of edit blocks as models mangle them: they close a block or refuse it, and never become content of a file. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { modify, write } from "../../src/actions/change.ts";
import type { RelPath } from "../../src/core/path.ts";
import type { AnyAction, Stage } from "../../src/core/ports.ts";
import { readLooseReply } from "../../src/core/script/loose-reply.ts";
import { parseScript } from "../../src/core/script/parser.ts";
import type { ScriptAction } from "../../src/core/script/script.ts";

const path = "bmi.py";
const before = "def bmi(w, h):\n    return w / h\n\n\nprint(bmi(80, 1.8))\n";
const after = before.replace("w / h\n", "w / h ** 2\n");
const old = "    return w / h";
const fresh = "    return w / h ** 2";

interface Result {
  /** The file afterwards; null: the edit was refused. */
  readonly file: string | null;
  readonly told: string;
}

/** What the actions make of a file, one after another; null as soon as one is refused. */
async function carryOut(actions: readonly ScriptAction[], name = path, text: string | null = before): Promise<Result> {
  let now = text;
  for (const { cmd, body, blocks = [] } of actions) {
    if (cmd === "FINISH") continue;
    const input = cmd === "WRITE" ? { path: name, content: body ?? "" } : { path: name, edits: blocks };
    const { file, told } = await propose(cmd === "WRITE" ? write : modify, input, now);
    if (file === null) return { file, told };
    now = file;
  }
  return actions.length === 0 ? { file: null, told: "nothing was read" } : { file: now, told: "" };
}

async function propose(action: AnyAction, input: unknown, now: string | null): Promise<Result> {
  const bytes = now === null ? null : new TextEncoder().encode(now);
  const stage = {
    path: (written: string) => written as RelPath,
    read: async () => (bytes === null ? null : { kind: "file", bytes, mode: 0o644 }),
    shown: () => bytes,
  } as unknown as Stage;
  const proposal = await action.propose(input as never, stage, new AbortController().signal);
  if (proposal.kind === "command") throw new Error(proposal.command);
  if (proposal.kind !== "change") return { file: null, told: proposal.text };
  const blob = proposal.changes.at(-1)?.after;
  const text = blob?.kind === "file" ? new TextDecoder().decode(blob.bytes) : (now ?? "");
  return { file: text, told: proposal.text };
}

const byScript = (lines: readonly string[], name = path, text: string | null = before) => {
  const script = `MODIFY::${name}::EOT\n${lines.join("\n")}\nEND::EOT\nFINISH::ok\n`;
  return carryOut(parseScript(script, { stop: "end", read: () => text }).actions, name, text);
};
const byName = (lines: readonly string[]) => {
  const reply = [path, "```python", ...lines, "```", "That is all."].join("\n");
  return carryOut(readLooseReply(reply, [{ path, isWritten: false }], () => before).actions);
};

const search = "<<<<<<< SEARCH";
const divide = "=======";
const replace = ">>>>>>> REPLACE";
const block = (...closing: readonly string[]) => [search, old, divide, fresh, ...closing];

describe("a block that is closed in another way", () => {
  const closings: Readonly<Record<string, readonly string[]>> = {
    "seven marks without a word": [">>>>>>>"],
    "six marks without a word": [">>>>>>"],
    "nine marks and blanks": [">>>>>>>>>  "],
    "another word": [">>>>>>> END"],
    "a word without a blank before it": [">>>>>>>REPLACE"],
    "several words": [">>>>>>> end of edit"],
    "marks that point the other way": ["<<<<<<< REPLACE"],
    "a second divider": [divide],
    "a second divider and a closing line": [divide, replace],
    "two closing lines": [">>>>>>>", replace],
    "an indented closing line": ["    >>>>>>> REPLACE"],
    "an indented closing line without a word": ["    >>>>>>>"],
    "four marks and the word": [">>>> REPLACE"],
    "a full stop behind the word": [">>>>>>> REPLACE."],
    "no closing line": [],
  };
  test.each(Object.entries(closings))(
    "%s: is the edit that was meant; outside of an action it is that, or none",
    async (_, closing) => {
      expect((await byScript(block(...closing))).file).toBe(after);
      expect([after, null]).toContain((await byName(block(...closing))).file);
    },
  );

  test("the usual ones are read outside of an action, too", async () => {
    for (const closing of [">>>>>>>", ">>>>>>> END", "<<<<<<< REPLACE", "  >>>>>>> REPLACE", divide])
      expect((await byName(block(closing))).file).toBe(after);
    expect((await byName(block(divide, replace))).file).toBe(after);
  });

  test("two blocks with two short closing lines are two edits", async () => {
    const lines = [...block(">>>>>>>"), search, "print(bmi(80, 1.8))", divide, "print(bmi(81, 1.8))", ">>>>>>>"];
    expect((await byScript(lines)).file).toBe(after.replace("80", "81"));
  });

  test("the divider twice is one divider", async () => {
    expect((await byScript([search, old, divide, divide, fresh, replace])).file).toBe(after);
  });

  test("other words in the opening line", async () => {
    for (const opening of ["<<<<<<< ORIGINAL", "<<<<<<<", "<<<<<<< SEARCH block 1", "<<<<<<< HEAD"])
      expect((await byScript([opening, ...block(">>>>>>> UPDATED").slice(1)])).file).toBe(after);
  });
});

describe("what could mean two things is refused with the lines to send", () => {
  const unclear: Readonly<Record<string, readonly string[]>> = {
    "a mark in the middle of the lower half": [search, old, divide, fresh, ">>>>>>>", "    pass", replace],
    "a closed upper half": [search, old, ">>>>>>> SEARCH", divide, fresh, replace],
    "an opened lower half": [search, old, divide, "<<<<<<< REPLACE", fresh, replace],
    "no divider": [search, old, replace],
    "no opening line": [old, divide, fresh, replace],
    "no opening line before a whole block": [old, divide, fresh, replace, ...block(replace)],
    "three parts": [search, old, divide, fresh, divide, "    pass", replace],
    "an upper half alone, not closed": [search, old, divide],
    "a divider alone, between lines of a whole file": ["def bmi(w, h):", old, "=====", "print(bmi(80, 1.8))"],
  };
  test.each(Object.entries(unclear))("%s", async (_, lines) => {
    const { file, told } = await byScript(lines);
    expect(file).toBeNull();
    expect(told).toContain("<<<<<<< SEARCH");
    expect(told).toContain(">>>>>>> REPLACE");
    expect((await byName(lines)).file).toBeNull();
  });
});

describe("other forms of an edit", () => {
  const edit = (new_str: string) => propose(modify, modify.fromTool({ path, old_str: old, new_str }), before);

  test("the edit tool refuses a text that holds a mark", async () => {
    for (const mark of [">>>>>>>", ">>>>>> REPLACE", "<<<<<<< SEARCH", "<<<<< HEAD", ">>>>>>> topic (a change)"]) {
      const { file, told } = await edit(`${fresh}\n${mark}`);
      expect(file).toBeNull();
      expect(told).toContain(mark);
    }
    expect((await edit(fresh)).file).toBe(after);
  });

  test("a diff that adds a mark is refused", async () => {
    const diff = ["@@ -1,2 +1,2 @@", " def bmi(w, h):", `-${old}`, `+${fresh}`, "+>>>>>>> REPLACE"];
    expect((await byScript(diff)).file).toBeNull();
    expect((await byScript(diff.slice(0, -1))).file).toBe(after);
    expect((await byScript([...diff.slice(0, -1), replace])).file).toBeNull();
  });

  test("WRITE refuses `<` and `>`, and takes `=`, which underlines headings", async () => {
    for (const mark of [">>>>>>>", "<<<<<<< SEARCH", ">>>>>>> REPLACE"]) {
      const { file, told } = await propose(write, { path, content: `${after}${mark}\n` }, before);
      expect(file).toBeNull();
      expect(told).toContain(mark);
      expect((await propose(write, { path, content: `a\n${mark}\n` }, null)).file).toBeNull();
    }
    expect((await propose(write, { path: "a.rst", content: "Options\n=======\n" }, null)).file).toContain(divide);
  });
});

describe("lines that only look like marks are content", () => {
  const conflict = "a = 1\n<<<<<<< HEAD\nb = 1\n=======\nb = 2\n>>>>>>> topic\nc = 3\n";

  test("a conflict of git can be solved, and changed by halves", async () => {
    const held = conflict.trimEnd().split("\n").slice(1, 6);
    const solved = await byScript([search, ...held, divide, "b = 2", replace], "a.py", conflict);
    expect(solved.file).toBe("a = 1\nb = 2\nc = 3\n");
    const kept = held.map((line) => line.replace("b = 2", "b = 3"));
    const changed = await byScript([search, ...held, divide, ...kept, replace], "a.py", conflict);
    expect(changed.file).toBe(conflict.replace("b = 2", "b = 3"));
  });

  test("in a file with marks a block without its REPLACE is refused", async () => {
    const lines = [search, "c = 3", divide, "c = 4", ">>>>>>>"];
    expect((await byScript(lines, "a.py", conflict)).file).toBeNull();
  });

  test("an underlined heading is added to a document, changed and removed", async () => {
    const text = "Title\n=====\n\ntext\n";
    const add = [search, "text", divide, "Options", "=======", "text", replace];
    expect((await byScript(add, "a.rst", text)).file).toBe("Title\n=====\n\nOptions\n=======\ntext\n");
    expect((await byScript(add, "a.md", "# Title\ntext\n")).file).toBe("# Title\nOptions\n=======\ntext\n");
    const last = [search, "text", divide, "text", "Options", "=======", replace];
    expect((await byScript(last, "a.md", "# Title\ntext\n")).file).toBe("# Title\ntext\nOptions\n=======\n");
    const over = [search, "text", divide, "=======", "Options", "=======", replace];
    expect((await byScript(over, "a.rst", "# Title\ntext\n")).file).toBe("# Title\n=======\nOptions\n=======\n");
    const change = [search, "Title", "=====", divide, "Titles", "======", replace];
    expect((await byScript(change, "a.rst", text)).file).toBe("Titles\n======\n\ntext\n");
    expect((await byScript([search, "Title", "=====", divide, replace], "a.rst", text)).file).toBe("\ntext\n");
  });

  test("a heading at the end of a block that is not closed is refused: its underline may be the closing line", async () => {
    const lines = [search, "text", divide, "text", "Options", "======="];
    expect((await byScript(lines, "a.md", "# Title\ntext\n")).file).toBeNull();
  });

  test("three marks, ten marks, marks within a line and marks before signs", async () => {
    const lines = [">>> bmi(1, 1)", "<<EOF", ">>>>>>>>>>", "<<<<<<<<<< x", "x <<<<<<< y", ">>>>>();", "- `>>>>>>> x`"];
    for (const line of lines)
      expect((await byScript([search, old, divide, fresh, line, replace])).file).toContain(`\n${line}\n`);
  });
});

describe("for every way to mangle the marks", () => {
  const isMark = (line: string) => /^([<>])\1{4,8}(?: ?\w+)?[:.]?\s*$/.test(line);
  const isDivider = (line: string) => /^={5,9}\s*$/.test(line);
  const linesLike = (text: string | null, like: (line: string) => boolean) => text?.split("\n").filter(like) ?? [];
  const words = fc.constantFrom("", "", " REPLACE", "REPLACE", " SEARCH", " SEARCH ALL", " END", " HEAD", " x", ":");
  const mangled = fc
    .tuple(fc.constantFrom("<", ">"), fc.integer({ min: 5, max: 9 }), words, fc.constantFrom("", "", " ", ":", "."))
    .map(([mark, count, word, end]) => mark.repeat(count) + word + end);
  const dividers = fc.integer({ min: 5, max: 9 }).map((count) => "=".repeat(count));
  const code = fc.constantFrom(old, fresh, "def bmi(w, h):", "", "x = 1", "    pass  # nothing", "print(bmi(80, 1.8))");
  /** Lines in the order of a block, with marks that are mangled, doubled, lost or in the wrong place. */
  const someBlock = fc
    .tuple(
      fc.oneof({ weight: 6, arbitrary: fc.constant([search]) }, fc.array(mangled, { maxLength: 2 })),
      fc.array(code, { minLength: 1, maxLength: 2 }),
      fc.oneof(
        { weight: 4, arbitrary: fc.constant([divide]) },
        fc.array(fc.oneof(dividers, mangled), { maxLength: 3 }),
      ),
      fc.array(fc.oneof({ weight: 5, arbitrary: code }, mangled, dividers), { maxLength: 4 }),
      fc.array(fc.oneof(mangled, dividers, fc.constant(replace), fc.constant("```"), fc.constant("")), {
        maxLength: 3,
      }),
    )
    .map((parts) => parts.flat());
  const texts = fc.array(someBlock, { minLength: 1, maxLength: 3 }).map((blocks) => blocks.flat());

  test("no mark becomes content of a file that held none, in any form of an edit", async () => {
    let edited = 0;
    await fc.assert(
      fc.asyncProperty(texts, async (lines) => {
        const results = [
          await byScript(lines),
          await byScript(lines, "new.py", null),
          await byScript(lines, "bmi.md", before),
          await byName(lines),
          await byScript(["@@ -1,9 +1,9 @@", ` ${old}`, ...lines.map((line) => `+${line}`)]),
          await propose(modify, modify.fromTool({ path, old_str: old, new_str: lines.join("\n") }), before),
          await propose(modify, { path, edits: [{ search: "", replace: lines.join("\n"), all: false }] }, before),
          await propose(write, { path, content: `${lines.join("\n")}\n` }, before),
          await propose(write, { path, content: `${lines.join("\n")}\n` }, null),
        ];
        expect(results.flatMap(({ file }) => linesLike(file, isMark))).toEqual([]);
        const blocks = [results[0], results[3]];
        expect(blocks.flatMap((one) => linesLike(one?.file ?? null, isDivider))).toEqual([]);
        if (results[0]?.file !== null) edited += 1;
      }),
      { numRuns: 400 },
    );
    expect(edited).toBeGreaterThan(4);
  });
});
