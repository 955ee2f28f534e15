/** What keys do to a message: moving, killing, history, search, completion. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type EditorAct, openEditor } from "../../../src/ui/prompt/editor.ts";
import { openKeys } from "../../../src/ui/prompt/keystrokes.ts";

const history = ["fix the login", "add a test", "fix the footer"];
const open = (rows = true) => openEditor(history, rows);

function type(editor: ReturnType<typeof openEditor>, text: string): EditorAct | null {
  const keys = openKeys();
  keys.push(text);
  keys.settle();
  let last: EditorAct | null = null;
  for (let key = keys.next(); key !== null; key = keys.next()) last = editor.press(key);
  return last;
}

/** The text after some keys, with the cursor as `|`. */
function after(...texts: readonly string[]): string {
  const editor = open();
  for (const text of texts) type(editor, text);
  const { text, at } = editor.line;
  return `${text.slice(0, at)}|${text.slice(at)}`;
}

const [up, down, left, right] = ["\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C"] as const;

test("moves by graphemes, words and rows", () => {
  expect(after("日本e\u0301", left, "x")).toBe("日本x|e\u0301");
  expect(after("👩‍👩‍👧a", left, left, "x")).toBe("x|👩‍👩‍👧a");
  expect(after("one two-three", "\x1bb", "\x1bb", "x")).toBe("one x|two-three");
  expect(after("one two", "\x01", "\x1bf", "\x1bf")).toBe("one two|");
  expect(after("one\x1b\rtwo", "\x01", up, "x")).toBe("x|one\ntwo");
  expect(after("long row\x1b\rab", up, down)).toBe("long row\nab|");
  expect(after("ab", "\x01", left, right, right, right)).toBe("ab|");
});

test("deletes whole graphemes, and what was killed comes back", () => {
  expect(after("a👩‍👩‍👧", "\x7f")).toBe("a|");
  expect(after("e\u0301x", "\x01", "\x1b[3~")).toBe("|x");
  expect(after("one two three", "\x17", "\x17", "\x19")).toBe("one two three|");
  expect(after("one two", "\x15", "x", "\x19")).toBe("xone two|");
  expect(after("one\x1b\rtwo", up, "\x0b")).toBe("one|two");
  expect(after("one two", "\x1b\x7f")).toBe("one |");
  expect(after("one two", "\x01", "\x1bd")).toBe("| two");
});

test("Alt+Enter and a backslash before Enter make a new line, Enter alone submits", () => {
  expect(after("a\x1b\rb", "\\\r", "c")).toBe("a\nb\nc|");
  expect(type(open(), "done\r")).toBe("submit");
  expect(type(open(), "two\rmore")).toBe("edited");
});

test("an answer stays on one row: pasted line feeds are spaces, a backslash is one", () => {
  const editor = open(false);
  expect(type(editor, "\x1b[200~a\nb\x1b[201~\\\r")).toBe("submit");
  expect(editor.line.text).toBe("a b\\");
});

test("the history goes up to the oldest and back to the draft", () => {
  expect(after("draft", up)).toBe("fix the footer|");
  expect(after("draft", up, up, up, up, up)).toBe("fix the login|");
  expect(after("draft", up, up, down, down)).toBe("draft|");
  expect(after("draft", "\x10", "\x0e")).toBe("draft|");
});

test("the draft is what was typed and not sent, and a message of the history once it was changed", () => {
  const drafts = ["", up, "\x12fix"].map((keys) => {
    const editor = open();
    type(editor, `half of${keys}`);
    return editor.draft;
  });
  expect(drafts).toEqual(["half of", "half of", "half of"]);
  const editor = open();
  type(editor, `${up}!`);
  expect(editor.draft).toBe("fix the footer!");
});

test("Ctrl+R finds the newest that holds the words, again the one before; Escape gives the draft back", () => {
  expect(after("draft", "\x12", "FIX")).toBe("fix the footer|");
  expect(after("draft", "\x12", "fix", "\x12")).toBe("fix the login|");
  expect(after("draft", "\x12", "fix", "\x07")).toBe("draft|");
  expect(after("draft", "\x12", "fix", "\x03")).toBe("draft|");
  expect(after("draft", "\x12", "add", "\x01", "x")).toBe("x|add a test");
  const editor = open();
  type(editor, "\x12add");
  expect([editor.search, type(editor, "\r"), editor.line.text, editor.search]).toEqual([
    "add",
    "submit",
    "add a test",
    null,
  ]);
});

test("a search says what it did not find, and forgets it with the next match", () => {
  const editor = open();
  type(editor, "\x12add");
  type(editor, "zz");
  expect([editor.search, editor.missed, editor.line.text]).toEqual(["addzz", true, "add a test"]);
  expect(type(editor, "\x7f\x7f")).toBe("edited");
  expect([editor.search, editor.missed]).toEqual(["add", false]);
});

test("Ctrl+L clears the screen and not the draft", () => {
  const editor = open();
  expect([type(editor, "ab\x0c"), editor.line.text]).toEqual(["clear", "ab"]);
});

test("what Ctrl+C clears is there again with Ctrl+Y", () => {
  expect(after("half of it", "\x03", "\x19")).toBe("half of it|");
});

test("Ctrl+C clears and then interrupts, Ctrl+D deletes and then ends, Ctrl+Z stops (R19)", () => {
  const editor = open();
  expect([type(editor, "ab\x03"), editor.line.text, type(editor, "\x03")]).toEqual(["edited", "", "interrupt"]);
  expect([type(editor, "a\x01\x04"), editor.line.text, type(editor, "\x04")]).toEqual(["edited", "", "end"]);
  expect(type(editor, "\x1a")).toBe("stop");
});

test("Tab completes the only word, or what all words share, then lists them", () => {
  const editor = open();
  type(editor, "see @s");
  expect(editor.complete({ from: 5, words: ["src/", "style.css"] })).toEqual(["src/", "style.css"]);
  type(editor, "r");
  expect(editor.complete({ from: 5, words: ["src/"] })).toEqual([]);
  expect(editor.line.text).toBe("see @src/");
  expect(editor.complete({ from: 5, words: ["src/main.ts", "src/map.ts"] })).toEqual([]);
  expect(editor.line.text).toBe("see @src/ma");
  expect(editor.complete({ from: 5, words: ["src/main.ts"] })).toEqual([]);
  expect(editor.line).toEqual({ text: "see @src/main.ts ", at: 17 });
});

test("no keys throw, and the cursor is always inside the text", () => {
  const part = fc.constantFrom(
    ...[up, down, left, right, "\x01", "\x05", "\x0b", "\x15", "\x17", "\x19", "\x12", "\x1b\r", "\x7f", "\x04"],
    ...["ab c", "日", "👩‍👧", "\x1b[3~", "\x1bb", "\x1bf", "\x1bd", "\x07"],
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const editor = open();
      for (const each of parts) type(editor, each);
      const { text, at } = editor.line;
      expect(at >= 0 && at <= text.length && !/^[\uDC00-\uDFFF]/.test(text.slice(at))).toBe(true);
    }),
    { numRuns: 300 },
  );
});
