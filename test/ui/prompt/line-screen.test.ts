/** Rows of the message being typed, at every width, and how little is written for a key. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { openLineScreen, openPlainScreen, viewLine } from "../../../src/ui/prompt/line-screen.ts";

const at = (text: string, columns: number, cursor = text.length) => viewLine("> ", text, cursor, columns, 10_000);

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
      const part = viewLine("> ", text, text.length, columns, 3);
      expect(part.rows.length <= 3 && part.rows[part.row] === view.rows[view.row]).toBe(true);
    }),
    { numRuns: 300 },
  );
});

/** What a terminal shows after these bytes: its rows, and where the cursor stands. */
function openGlass(columns: number) {
  const cells: string[][] = [[]];
  let [row, column] = [0, 0];
  /** tmux keeps a screen that is erased from its corner. */
  function erase() {
    expect(row + column).toBeGreaterThan(0);
    cells.splice(row, cells.length, (cells[row] ?? []).slice(0, column));
  }
  const acts = new Map<string, (count: number) => void>([
    ["A", (count) => (row -= count)],
    ["B", (count) => (row += count)],
    ["C", (count) => (column += count)],
    ["D", (count) => (column -= count)],
    ["J", erase],
    ["K", () => cells[row]?.splice(column)],
    ["\r", () => (column = 0)],
    ["\n", () => (row += 1)],
    ["\b", () => (column -= 1)],
  ]);
  const put = (text: string) => {
    const wide = Bun.stringWidth(text);
    expect(column + wide).toBeLessThanOrEqual(columns);
    cells[row] ??= [];
    cells[row]?.splice(column, wide, text, ...Array<string>(Math.max(0, wide - 1)).fill(""));
    column += wide;
  };
  return {
    write(text: string) {
      for (const [piece, count, command] of text.matchAll(/\x1b\[(\d*)([A-Z])|[\r\n\x08]|[^\x1b\r\n\x08]+/g)) {
        const act = acts.get(command ?? piece);
        if (act !== undefined) act(Number(count || "1"));
        else for (const { segment } of new Intl.Segmenter().segment(piece)) put(segment);
      }
    },
    text: () => Array.from(cells, (line) => (line ?? []).join("")).join("\n"),
    cursor: () => ({ row, column }),
  };
}

/** Blanks at the end of a row are not seen. */
const seen = (text: string) => text.replace(/ +$/gm, "").trimEnd();

test("whatever is typed where, the terminal shows what is drawn anew", () => {
  const unit = fc.constantFrom("a", "b", " ", "日", "e\u0301", "👩‍👧", "\n");
  const draft = fc.record({
    prompt: fc.constantFrom("> ", "(search: a) "),
    text: fc.string({ unit, maxLength: 14 }),
    at: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(draft, { minLength: 1, maxLength: 6 }), fc.integer({ min: 2, max: 14 }), (drafts, columns) => {
      const glass = openGlass(columns);
      const screen = openLineScreen(glass.write, () => ({ columns, rows: 6 }));
      for (const { prompt, text, at: place } of drafts) {
        const starts = [
          0,
          ...Array.from(new Intl.Segmenter().segment(text), ({ index, segment }) => index + segment.length),
        ];
        const cursor = starts[place % starts.length] ?? 0;
        screen.draw(prompt, text, cursor);
        const { rows, ...stands } = viewLine(prompt, text, cursor, columns, 5);
        expect(seen(glass.text())).toEqual(seen(rows.join("\n")));
        expect(glass.cursor()).toEqual(stands);
      }
    }),
    {
      numRuns: 500,
      examples: [
        [
          [
            { prompt: "> ", text: "ae\u0301\n👩‍👧aa👩‍👧👩‍👧", at: 0 },
            { prompt: "> ", text: "ae\u0301\n👩‍👧aa👩‍👧👩‍👧", at: 9 },
          ],
          2,
        ],
      ],
    },
  );
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
