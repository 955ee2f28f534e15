/** A text being typed as rows of a terminal: wide, combining and invisible characters, any width down to one column. */

import { visible } from "../sanitize.ts";
import { segments } from "./edit-line.ts";

export interface TypedLine {
  /** At most one row; its colours do not count. */
  readonly prompt: string;
  readonly text: string;
  /** Where the cursor is: an index into `text`. */
  readonly at: number;
}

export interface LineView {
  /** Rows without line endings; the first holds the prompt. */
  readonly rows: readonly string[];
  /** Where the cursor stands. */
  readonly row: number;
  readonly column: number;
}

const plainText = /^[\x20-\x7e]*$/;

/** The pieces of a text that are never cut. */
function piecesOf(text: string): Iterable<string> {
  return plainText.test(text) ? text : Array.from(segments(text), ({ segment }) => segment);
}

/** How one piece is shown. What is wider than the terminal becomes a mark. */
function shownAs(piece: string, columns: number): string {
  if (plainText.test(piece)) return piece;
  const shown = piece === "\t" ? "    " : visible(piece);
  return Bun.stringWidth(shown) > columns ? "?" : shown;
}

/** Lays out prompt and text. */
export function layLine({ prompt, text, at }: TypedLine, columns: number): LineView {
  const width = Math.max(1, columns);
  const rows: string[] = [""];
  let column = 0;
  let [cursorRow, cursorColumn] = [0, 0];
  const put = (shown: string, wide: number) => {
    if (column + wide > width) {
      rows.push("");
      column = 0;
    }
    rows[rows.length - 1] += shown;
    column += wide;
  };
  const promptWidth = Bun.stringWidth(prompt);
  if (promptWidth < width) put(prompt, promptWidth);
  const note = () => {
    [cursorRow, cursorColumn] = column < width ? [rows.length - 1, column] : [rows.length, 0];
  };
  let index = 0;
  for (const piece of piecesOf(text)) {
    if (index === at) note();
    index += piece.length;
    if (piece === "\n") {
      rows.push("");
      column = 0;
    } else {
      const shown = shownAs(piece, width);
      put(shown, plainText.test(shown) ? shown.length : Bun.stringWidth(shown));
    }
  }
  if (at >= index) note();
  if (cursorRow === rows.length) rows.push("");
  return { rows, row: cursorRow, column: cursorColumn };
}

/** At most `height` rows of a view, those around the cursor. */
export function windowOf(view: LineView, height: number): LineView {
  if (view.rows.length <= height) return view;
  const start = Math.min(Math.max(0, view.row - Math.floor(height / 2)), view.rows.length - height);
  return { rows: view.rows.slice(start, start + height), row: view.row - start, column: view.column };
}

/** The rows around the cursor, at most `height`. Of a text that is much longer only what is near them is laid out. */
export function viewLine(typed: TypedLine, columns: number, height: number): LineView {
  // Whole rows, so that they break where they would: enough for two characters a column.
  const near = 2 * Math.max(1, columns) * height;
  const { prompt, text, at } = typed;
  const from = Math.max(0, Math.floor(at / near) - 1) * near;
  return windowOf(layLine({ prompt, text: text.slice(from, at + near), at: at - from }, columns), height);
}
