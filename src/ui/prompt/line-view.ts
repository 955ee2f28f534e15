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
  /** Position of the cursor. */
  readonly row: number;
  readonly column: number;
}

const plainText = /^[\x20-\x7e]*$/;

/** What is never cut: graphemes. */
function splitPieces(text: string): readonly string[] {
  return plainText.test(text) ? text.split("") : Array.from(segments(text), ({ segment }) => segment);
}

/** How one piece is shown. What is wider than the terminal becomes a mark. */
function shownAs(piece: string, width: number): string {
  if (plainText.test(piece)) return piece;
  const shown = piece === "\t" ? "    " : visible(piece);
  return Bun.stringWidth(shown) > width ? "?" : shown;
}

/** A piece of a row as it is shown, and how many columns it takes. */
function shownPiece(piece: string, width: number): { readonly shown: string; readonly wide: number } {
  const shown = shownAs(piece, width);
  return { shown, wide: plainText.test(shown) ? shown.length : Bun.stringWidth(shown) };
}

/** The column at which the text begins; a prompt that does not fit is left out. */
function firstColumn(prompt: string, width: number): number {
  const column = Bun.stringWidth(prompt);
  return column < width ? column : 0;
}

/** Where rows begin in a line of one kind of character that all take one column. */
function* plainStarts(from: number, end: number, width: number, column: number): Generator<number> {
  for (let at = from + width - column; at < end; at += width) yield at;
}

/** Characters that take one or two columns each and join no other: common text, read without a segmenter. */
const single = /[\x20-\x7e\xa1-\xac\xae-\xff\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]/;
const singles = new RegExp(`${single.source}+`, "y");
const firstWide = 0x3041;

/** Where the plain beginning of a line ends at `from`; the character before one that could join it is left out. */
function singlesEnd(line: string, from: number): number {
  singles.lastIndex = from;
  if (!singles.test(line)) return from;
  return singles.lastIndex === line.length ? line.length : singles.lastIndex - 1;
}

/** Where the next plain beginning may start after `from`. */
function nextSingle(line: string, from: number): number {
  const found = from < line.length ? line.slice(from + 1).search(single) : -1;
  return found === -1 ? line.length : from + 1 + found;
}

interface Piece {
  /** In the text. */
  readonly length: number;
  /** On the screen, in columns. */
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

/** Where the rows begin that follow the one at `from`, in order; `column`: where the text of that row begins. */
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

/** The rows from `starts[first]` to `starts[last - 1]`, and the cursor among them. */
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
  // Behind the last column the cursor is on the next row.
  if (column < width) return { rows, row, column };
  return { rows: row + 1 < rows.length ? rows : [...rows, ""], row: row + 1, column: 0 };
}

/** Lays out prompt and text. */
export function layLine(typed: TypedLine, columns: number): LineView {
  const width = Math.max(1, columns);
  const starts = [0, ...nextStarts(typed.text, width, 0, firstColumn(typed.prompt, width))];
  return layRows(typed, width, starts, 0, starts.length);
}

/** At most `height` rows of a view, those around the cursor. */
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
 * Views of one text after the other: the rows around the cursor, at most `height`, as `windowOf(layLine(…))` gives them.
 * Of a long text only what is near the cursor is laid out, and rows found once are kept while the text before them stays.
 */
export function createLineViewer(): (typed: TypedLine, columns: number, height: number) => LineView {
  let known: { prompt: string; text: string; width: number } = { prompt: "", text: "", width: 0 };
  let starts: number[] = [0];
  let isWhole = false;

  /** Keeps the rows that are whole within what both texts share: what follows may join the last of them. */
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

  /** Finds rows until `height` of them begin after the cursor. */
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
    // The last row found may go on after what was looked at only where it is the last of all.
    const end = Math.min(starts.length, row + height + 1);
    return windowOf(layRows(typed, width, starts, first, end), height);
  };
}
