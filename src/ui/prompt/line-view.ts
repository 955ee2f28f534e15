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

/** Common characters that take one or two columns and never combine, so that no segmenter is needed. */
const single = /[\x20-\x7e\xa1-\xac\xae-\xff\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]/;
const singles = new RegExp(`${single.source}+`, "y");
const firstWide = 0x3041;

/**
 * End of the run of such characters from `from`; stops before the last one, if the character after it could combine.
 */
function singlesEnd(line: string, from: number): number {
  singles.lastIndex = from;
  if (!singles.test(line)) return from;
  return singles.lastIndex === line.length ? line.length : singles.lastIndex - 1;
}

/** Where the next run of such characters may start after `from`. */
function nextSingle(line: string, from: number): number {
  const found = from < line.length ? line.slice(from + 1).search(single) : -1;
  return found === -1 ? line.length : from + 1 + found;
}

interface Piece {
  /** In code units. */
  readonly length: number;
  /** In columns. */
  readonly wide: number;
}

const [narrow, wide]: readonly [Piece, Piece] = [
  { length: 1, wide: 1 },
  { length: 1, wide: 2 },
];

function* piecesOf(line: string, width: number): Generator<Piece> {
  for (let at = 0; at < line.length; ) {
    const end = width > 1 ? singlesEnd(line, at) : at;
    for (; at < end; at += 1) yield line.charCodeAt(at) < firstWide ? narrow : wide;
    const next = nextSingle(line, at);
    for (const { segment } of segments(line.slice(at, next)))
      yield { length: segment.length, wide: shownPiece(segment, width).wide };
    at = next;
  }
}

function* pieceStarts(line: string, from: number, width: number, column: number): Generator<number> {
  let at = from;
  let used = column;
  for (const piece of piecesOf(line, width)) {
    if (used + piece.wide > width) {
      yield at;
      used = 0;
    }
    at += piece.length;
    used += piece.wide;
  }
}

/** Starts of the rows after the one at `from`, in order; `column`: where that row's text begins. */
function* nextStarts(text: string, width: number, from: number, column: number): Generator<number> {
  let at = from;
  let used = column;
  for (;;) {
    const feed = text.indexOf("\n", at);
    const end = feed === -1 ? text.length : feed;
    const line = text.slice(at, end);
    yield* plainText.test(line) ? plainStarts(at, end, width, used) : pieceStarts(line, at, width, used);
    if (feed === -1) return;
    at = feed + 1;
    used = 0;
    yield at;
  }
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

/** Lays out prompt and text. */
export function layLine(typed: TypedLine, columns: number): LineView {
  const width = Math.max(1, columns);
  const starts = [0, ...nextStarts(typed.text, width, 0, firstColumn(typed.prompt, width))];
  return layRows(typed, width, starts, 0, starts.length);
}

/** At most `height` rows of a view, around the cursor. */
export function windowOf(view: LineView, height: number): LineView {
  if (view.rows.length <= height) return view;
  const start = Math.min(Math.max(0, view.row - Math.floor(height / 2)), view.rows.length - height);
  return { rows: view.rows.slice(start, start + height), row: view.row - start, column: view.column };
}

function sharedLength(one: string, other: string): number {
  if (other.startsWith(one)) return one.length;
  let [low, high] = [0, Math.min(one.length, other.length)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (one.slice(0, middle) === other.slice(0, middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Returns a function like `windowOf(layLine(…))` for successive versions of one text. It lays out only what is near the
 * cursor, and keeps known row starts while the text before them is unchanged.
 */
export function createLineViewer(): (typed: TypedLine, columns: number, height: number) => LineView {
  let known: { prompt: string; text: string; width: number } = { prompt: "", text: "", width: 0 };
  let starts: number[] = [0];
  let isWhole = false;

  /**
   * Keeps the rows within the part that both texts share, except the last one: what follows may combine with its end.
   */
  function forget(typed: TypedLine, width: number): void {
    const isSame = typed.text === known.text;
    if (width !== known.width || typed.prompt !== known.prompt) starts = [0];
    else if (!isSame) {
      const shared = sharedLength(known.text, typed.text);
      starts.length = Math.max(
        1,
        starts.findLastIndex((start) => start < shared),
      );
    } else return;
    isWhole = false;
    known = { prompt: typed.prompt, text: typed.text, width };
  }

  /** Finds row starts until `height` of them lie after the cursor. */
  function find({ prompt, text, at }: TypedLine, width: number, height: number): void {
    if (isWhole || (starts.at(-1 - height) ?? -1) > at) return;
    const last = starts.at(-1) ?? 0;
    for (const start of nextStarts(text, width, last, starts.length === 1 ? firstColumn(prompt, width) : 0)) {
      starts.push(start);
      if ((starts.at(-1 - height) ?? -1) > at) return;
    }
    isWhole = true;
  }

  return (typed, columns, height) => {
    const width = Math.max(1, columns);
    forget(typed, width);
    find(typed, width, height);
    const row = Math.max(
      0,
      starts.findLastIndex((start) => start <= typed.at),
    );
    const first = Math.max(0, row - height);
    // Only the last row of the whole text may end after the rows that were found.
    const end = Math.min(starts.length, row + height + 1);
    return windowOf(layRows(typed, width, starts, first, end), height);
  };
}
