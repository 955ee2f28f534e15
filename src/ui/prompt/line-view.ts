/** Lays out typed text in terminal rows, with wide, combining and invisible characters, from one column up. */

import { visible } from "../sanitize.ts";
import { segments } from "./edit-line.ts";

export interface TypedLine {
  /** At most one row; colours do not count. */
  readonly prompt: string;
  readonly text: string;
  /** Cursor: an index into `text`. */
  readonly at: number;
}

export interface LineView {
  /** Rows without line ends; the first starts with the prompt. */
  readonly rows: readonly string[];
  /** Position of the cursor. */
  readonly row: number;
  readonly column: number;
}

/** How one grapheme is shown, and its width in columns; a mark if it is wider than the terminal. */
function shownPiece(piece: string, width: number): { readonly shown: string; readonly wide: number } {
  const shown = piece === "\t" ? "    " : visible(piece);
  const wide = Bun.stringWidth(shown);
  return wide > width ? { shown: "?", wide: 1 } : { shown, wide };
}

/** Rows that are filled piece by piece. `at`: the index of the cursor. */
function openRows(prompt: string, width: number, at: number) {
  const rows = [prompt];
  let used = Bun.stringWidth(prompt);
  let cursor = { row: 0, column: used };
  let place = 0;
  /** Where the last word of the row begins, behind a blank; null: a word that is wider than the row is broken. */
  let word: { readonly length: number; readonly used: number; readonly place: number } | null = null;

  function feed(): void {
    rows.push("");
    used = 0;
    word = null;
  }

  /** Begins a row with the word that does not fit. */
  function feedWord(): void {
    const [begun, last, before] = [word, rows.at(-1) ?? "", used];
    feed();
    if (begun === null) return;
    rows.splice(-2, 2, last.slice(0, begun.length), last.slice(begun.length));
    used = before - begun.used;
    if (at >= begun.place && at < place) cursor = { row: rows.length - 1, column: cursor.column - begun.used };
  }

  return {
    put(segment: string): void {
      const isDrawn = segment !== "\n" && !(segment === " " && used === width);
      const { shown, wide } = isDrawn ? shownPiece(segment, width) : { shown: "", wide: 0 };
      if (used + wide > width) feedWord();
      if (used + wide > width) feed();
      if (place === at) cursor = { row: rows.length - 1, column: used };
      if (segment === "\n") feed();
      rows.push(rows.pop() + shown);
      used += wide;
      place += segment.length;
      if (segment === " ") word = { length: rows.at(-1)?.length ?? 0, used, place };
    },
    view(): LineView {
      return { rows, ...(place <= at ? { row: rows.length - 1, column: used } : cursor) };
    },
  };
}

/** At most `height` rows of prompt and text, around the cursor. A prompt that does not fit is left out. */
export function viewLine({ prompt, text, at }: TypedLine, columns: number, height: number): LineView {
  const width = Math.max(1, columns);
  const filling = openRows(Bun.stringWidth(prompt) < width ? prompt : "", width, at);
  for (const { segment } of segments(text)) filling.put(segment);
  const view = filling.view();
  // After the last column the cursor is on the next row.
  if (view.column < width) return windowOf(view, height);
  const { rows, row } = view;
  return windowOf({ rows: row + 1 < rows.length ? rows : [...rows, ""], row: row + 1, column: 0 }, height);
}

function windowOf(view: LineView, height: number): LineView {
  if (view.rows.length <= height) return view;
  const start = Math.min(Math.max(0, view.row - Math.floor(height / 2)), view.rows.length - height);
  return { rows: view.rows.slice(start, start + height), row: view.row - start, column: view.column };
}
