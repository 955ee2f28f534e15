/** Rows of the message being typed, at every width, and how little is written for a key. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { openLineScreen, openPlainScreen } from "../../src/ui/line-screen.ts";
import { layLine, windowOf } from "../../src/ui/line-view.ts";

const at = (text: string, columns: number, cursor = text.length) => layLine("> ", text, cursor, columns);

test("breaks rows by what characters really take (R35)", () => {
  expect(at("日本語", 6)).toEqual({ rows: ["> 日本", "語"], row: 1, column: 2 });
  expect(at("e\u0301e\u0301", 4)).toEqual({ rows: ["> e\u0301e\u0301", ""], row: 1, column: 0 });
  expect(at("ab\ncd", 20)).toEqual({ rows: ["> ab", "cd"], row: 1, column: 2 });
  expect(at("ab\ncd", 20, 1)).toMatchObject({ row: 0, column: 3 });
});

test("control characters are shown, not obeyed (R34)", () => {
  expect(at("a\x1b[2Jb\tc", 40).rows).toEqual(["> a\\x1b[2Jb    c"]);
});

test("one column works: a wide character becomes a mark (R18)", () => {
  expect(at("a日\n", 1)).toEqual({ rows: ["", "a", "?", ""].slice(1), row: 2, column: 0 });
});

test("no row is wider than the terminal and the cursor is on it, whatever is typed", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 30 }), fc.integer({ min: 1, max: 12 }), (text, columns) => {
      const view = at(text, columns);
      for (const row of view.rows) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(columns);
      expect(view.row < view.rows.length && view.column < columns).toBe(true);
      const part = windowOf(view, 3);
      expect(part.rows.length <= 3 && part.rows[part.row] === view.rows[view.row]).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("a key at the end of the text writes itself and nothing else", () => {
  let written = "";
  const screen = openLineScreen({ err: (text) => (written += text), columns: () => 20, rows: () => 10 });
  screen.draw("> ", "ab", 2);
  written = "";
  screen.draw("> ", "abc", 3);
  expect(written).toBe("c");
});

test("a plain terminal is only appended to and rubbed out", () => {
  let written = "";
  const screen = openPlainScreen((text) => (written += text));
  screen.draw("> ", "", 0);
  screen.draw("> ", "日x", 2);
  screen.draw("> ", "日", 1);
  screen.draw("> ", "other", 5);
  screen.leave();
  expect(written).toBe("> 日x\b \b\r\n> other\r\n");
});
