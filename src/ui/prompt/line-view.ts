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

const plainText = /^[\x20-\x7e]*$/;

/** Splits a text into graphemes, which are never cut. */
function splitPieces(text: string): readonly string[] {
  return plainText.test(text) ? text.split("") : Array.from(segments(text), ({ segment }) => segment);
}

/** How one grapheme is shown; a mark if it is wider than the terminal. */
function shownAs(piece: string, width: number): string {
  if (plainText.test(piece)) return piece;
  const shown = piece === "\t" ? "    " : visible(piece);
  return Bun.stringWidth(shown) > width ? "?" : shown;
}

/** A grapheme as it is shown, and its width in columns. */
function shownPiece(piece: string, width: number): { readonly shown: string; readonly wide: number } {
  const shown = shownAs(piece, width);
  return { shown, wide: plainText.test(shown) ? shown.length : Bun.stringWidth(shown) };
}

/** Column at which the text begins; 0 if the prompt does not fit and is left out. */
function firstColumn(prompt: string, width: number): number {
  const column = Bun.stringWidth(prompt);
  return column < width ? column : 0;
}

/** Row starts in a line whose characters all take one column. */
function* plainStarts(from: number, end: number, width: number, column: number): Generator<number> {
  for (let at = from + width - column; at < end; at += width) yield at;
}

function* pieceStarts(line: string, from: number, width: number, column: number): Generator<number> {
  let at = from;
  let used = column;
  for (const { segment } of segments(line)) {
    const { wide } = shownPiece(segment, width);
    if (used + wide > width) {
      yield at;
      used = 0;
    }
    at += segment.length;
    used += wide;
  }
}

/** Where each row of the text begins. */
function rowStarts({ prompt, text }: Pick<TypedLine, "prompt" | "text">, width: number): readonly number[] {
  const starts: number[] = [];
  let at = 0;
  for (const line of text.split("\n")) {
    const column = at === 0 ? firstColumn(prompt, width) : 0;
    const next = plainText.test(line)
      ? plainStarts(at, at + line.length, width, column)
      : pieceStarts(line, at, width, column);
    starts.push(at, ...next);
    at += line.length + 1;
  }
  return starts;
}

/** The rows from `starts[first]` to `starts[last - 1]`, with the cursor. */
function layRows(
  { prompt, text, at }: TypedLine,
  width: number,
  starts: readonly number[],
  first: number,
  last: number,
) {
  const rows: string[] = [];
  let [row, column] = [0, 0];
  for (let index = first; index < last; index += 1) {
    const [from, next] = [starts[index] ?? 0, starts[index + 1] ?? text.length];
    const lead = index === 0 && firstColumn(prompt, width) > 0 ? prompt : "";
    const pieces = splitPieces(text.slice(from, next).replace(/\n$/, ""));
    const shown = pieces.map((piece) => shownPiece(piece, width));
    rows.push(lead + shown.map((piece) => piece.shown).join(""));
    if (at < from) continue;
    row = index - first;
    column = Bun.stringWidth(lead);
    for (let piece = 0, place = from; place < at && piece < pieces.length; piece += 1) {
      place += pieces[piece]?.length ?? 0;
      column += shown[piece]?.wide ?? 0;
    }
  }
  // After the last column the cursor is on the next row.
  if (column < width) return { rows, row, column };
  return { rows: row + 1 < rows.length ? rows : [...rows, ""], row: row + 1, column: 0 };
}

/** At most `height` rows of prompt and text, around the cursor; only what may be among them is laid out. */
export function viewLine({ prompt, text, at }: TypedLine, columns: number, height: number): LineView {
  const width = Math.max(1, columns);
  const near = linesAround(text, at, height);
  const typed = { prompt: near.from === 0 ? prompt : "", text: text.slice(near.from, near.to), at: at - near.from };
  const starts = rowStarts(typed, width);
  const row = Math.max(
    0,
    starts.findLastIndex((start) => start <= typed.at),
  );
  const first = Math.max(0, row - height);
  return windowOf(layRows(typed, width, starts, first, Math.min(starts.length, row + height + 1)), height);
}

/** The part of a text from `count` lines before the cursor to as many after it. */
function linesAround(text: string, at: number, count: number): { readonly from: number; readonly to: number } {
  let [from, to] = [at, at - 1];
  for (let line = 0; line <= count && from > 0; line += 1) from = text.lastIndexOf("\n", from - 1);
  for (let line = 0; line <= count && to !== text.length; line += 1) {
    const feed = text.indexOf("\n", to + 1);
    to = feed === -1 ? text.length : feed;
  }
  return { from: from <= 0 ? 0 : from + 1, to };
}

function windowOf(view: LineView, height: number): LineView {
  if (view.rows.length <= height) return view;
  const start = Math.min(Math.max(0, view.row - Math.floor(height / 2)), view.rows.length - height);
  return { rows: view.rows.slice(start, start + height), row: view.row - start, column: view.column };
}
