/** Edits without actions: read where the contract leaves one file, else the model learns what was seen. */
import { describe, expect, test } from "bun:test";
import { readLooseReply } from "../../../src/core/script/loose-reply.ts";
import { parseScript } from "../../../src/core/script/parser.ts";
import type { ScriptAction } from "../../../src/core/script/script.ts";

const one = [{ path: "shop/money.py", isWritten: false }];
const two = [...one, { path: "shop/cart.py", isWritten: false }];
const fresh = [{ path: "hello.py", isWritten: true }];
const read = () => "a\nb\nc\n";
const looseOf = (lines: readonly string[], targets = one) => readLooseReply(lines.join("\n"), targets, read);
const bare = (actions: readonly ScriptAction[]) =>
  actions.map(({ cmd, path, blocks, body }) => ({ cmd, path, blocks, body }));

const hunk = ["@@ -10,99 +1,2 @@ def f():", " a", "-b", "+B", " c"];
const block = ["<<<<<<< SEARCH", "b", "=======", "B", ">>>>>>> REPLACE"];
const edited = { cmd: "MODIFY", path: "shop/money.py", body: undefined };

describe("a unified diff", () => {
  test("is the edit of the only file, whatever its counts say, with or without names and fence", () => {
    for (const lines of [
      hunk,
      ["Here it is:", "```diff", ...hunk, "```"],
      ["```diff", "--- a/shop/money.py", "+++ b/shop/money.py", ...hunk, "```", "Done."],
      ["diff --git a/money.py b/money.py", "index 12..34", "--- a/money.py\t2026-01-01", "+++ b/money.py", ...hunk],
    ])
      expect(bare(looseOf(lines).actions)).toEqual([
        { ...edited, blocks: [{ search: "a\nb\nc\n", replace: "a\nB\nc\n" }] },
      ]);
  });

  test("with several hunks and files is one action a file; a new file is a WRITE", () => {
    const lines = [
      ...["--- a/shop/money.py", "+++ b/shop/money.py", ...hunk, "@@ -40 +40 @@", "-x", "+y"],
      ...["--- /dev/null", "+++ b/new.py", "@@ -0,0 +1,2 @@", "+one", "+two"],
    ];
    const { actions } = looseOf(lines, two);
    expect(bare(actions)[0]?.blocks).toHaveLength(2);
    expect(bare(actions)[1]).toMatchObject({ cmd: "WRITE", path: "new.py", body: "one\ntwo\n" });
  });

  test("without a name where two files may be meant, or without a place, is not read", () => {
    expect(looseOf(hunk, two)).toMatchObject({ actions: [], seen: "a unified diff outside of an action" });
    expect(looseOf(["@@ -1 +1,2 @@", "+new line"]).actions).toEqual([]);
  });

  test("inside a MODIFY is read as its blocks; of another file it is a complaint", () => {
    const parse = (body: readonly string[]) =>
      parseScript(`MODIFY::shop/money.py::EOT\n${body.join("\n")}\nEND::EOT\nFINISH::ok\n`, { stop: "end", read })
        .actions[0];
    expect(parse(hunk)?.blocks).toEqual([{ search: "a\nb\nc\n", replace: "a\nB\nc\n" }]);
    expect(parse(["--- a/other.py", "+++ b/other.py", ...hunk])?.blocks).toEqual([]);
  });
});

describe("blocks with a file name", () => {
  test("name above the fence, inside it, behind its mark, or none for the only file", () => {
    for (const lines of [
      ["shop/money.py", "```python", ...block, "```"],
      ["**`shop/money.py`**:", "```", ...block, "```"],
      ["```python shop/money.py", ...block, "```"],
      ["```", "shop/money.py", ...block, ...block, "```"],
      block,
    ]) {
      const [action] = bare(looseOf(lines).actions);
      expect(action).toMatchObject(edited);
      expect(action?.blocks?.[0]).toEqual({ search: "b\n", replace: "B\n" });
    }
  });

  test("each belongs to the file named last; without a name and with two files none is read", () => {
    const fenced = ["```", ...block, "```"];
    const { actions, prose } = looseOf(
      ["I change two files.", "shop/money.py", ...fenced, "shop/cart.py", ...fenced],
      two,
    );
    expect(actions.map(({ path }) => path)).toEqual(["shop/money.py", "shop/cart.py"]);
    expect(prose).toBe("I change two files.");
    expect(looseOf(block, two).actions).toEqual([]);
    expect(looseOf(["shop/money.py", ...block.slice(0, 3)]).actions).toEqual([]);
  });
});

describe("one fenced file", () => {
  test("is not a Markdown file where the fence is of another language: it is a part of it", () => {
    const readme = [{ path: "README.md", isWritten: true }];
    expect(looseOf(["# Hello", "", "Run it:", "```sh", "python3 hello.py", "```"], readme).actions).toEqual([]);
    const whole = looseOf(["Here it is:", "```markdown", "# Hello", "```"], readme);
    expect(bare(whole.actions)).toEqual([{ cmd: "WRITE", path: "README.md", blocks: undefined, body: "# Hello\n" }]);
  });

  const lines = ["Here is hello.py:", "```python", "print(1)", "", "print(2)", "```", "It prints."];

  test("is the file only where its step is WRITE", () => {
    expect(bare(looseOf(lines, fresh).actions)).toEqual([
      { cmd: "WRITE", path: "hello.py", blocks: undefined, body: "print(1)\n\nprint(2)\n" },
    ]);
    expect(looseOf(lines, fresh).prose).toBe("Here is hello.py:\nIt prints.");
    expect(looseOf(lines)).toMatchObject({ actions: [], seen: "a fenced file and no action" });
    expect(looseOf(lines, [...fresh, ...one]).actions).toEqual([]);
  });

  test("actions in JSON are not a file, unless the file holds JSON", () => {
    const json = ["```json", '{"actions": [{"action": "WRITE", "path": "hello.py"}]}', "```"];
    expect(looseOf(json, fresh)).toMatchObject({ actions: [], seen: "JSON and no action" });
    const data = looseOf(json, [{ path: "data.json", isWritten: true }]);
    expect(bare(data.actions)).toMatchObject([{ cmd: "WRITE", path: "data.json" }]);
  });

  test("two fences are two files, an empty or open one none", () => {
    const seen = "several fenced texts and no action";
    expect(looseOf([...lines, ...lines], fresh)).toMatchObject({ actions: [], seen });
    expect(looseOf(["```", "", "```"], fresh).actions).toEqual([]);
    expect(looseOf(["```", "print(1)"], fresh).actions).toEqual([]);
  });
});

test("words stay words, and JSON is named", () => {
  expect(looseOf(["I changed main.py - really."])).toMatchObject({ actions: [], seen: "" });
  expect(looseOf(['{"actions": []}'])).toMatchObject({ actions: [], seen: "JSON and no action" });
});

test("one tool call of another agent is its edit; of several none is taken", () => {
  const edit = { file_path: "money.py", old_string: "b", new_string: "B {" };
  const wanted = { cmd: "MODIFY", path: "shop/money.py", blocks: [{ search: "b", replace: "B {" }] };
  const called = JSON.stringify({ name: "edit", arguments: edit });
  for (const lines of [
    ["<tool_call>", called, "</tool_call>"],
    ["```json", JSON.stringify(edit), "```"],
  ])
    expect(bare(looseOf(lines).actions)).toMatchObject([wanted]);
  for (const lines of [[called, called], [JSON.stringify({ ...edit, old_string: "" })]])
    expect(looseOf(lines).actions).toEqual([]);
  expect(looseOf([JSON.stringify({ ...edit, file_path: null })], two).actions).toEqual([]);
});
