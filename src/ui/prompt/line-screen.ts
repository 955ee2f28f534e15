/** Draws the message being typed: in place if the terminal can move the cursor, otherwise by appending. */

import { wrap } from "../layout.ts";
import { visible } from "../sanitize.ts";
import { eraseFromRow } from "../tty.ts";
import { segments } from "./edit-line.ts";

interface LineView {
  readonly rows: readonly string[];
  readonly row: number;
  readonly column: number;
}

/** How one grapheme is shown, and its width in columns; a mark if it is wider than the terminal. */
function shownPiece(piece: string, width: number): { readonly shown: string; readonly wide: number } {
  const shown = piece === "\t" ? "    " : visible(piece);
  const wide = Bun.stringWidth(shown);
  return wide > width ? { shown: "?", wide: 1 } : { shown, wide };
}

/** Of a narrower terminal the prompt would take too much. */
const minPromptColumns = 8;

/** The rows of a prompt that the text begins behind; a narrow terminal has none. */
function promptRows(prompt: string, width: number): string[] {
  if (Bun.stringWidth(prompt) < width) return [prompt];
  if (width < minPromptColumns) return [""];
  const rows = wrap(prompt.trimEnd(), width);
  const last = `${rows.pop()} `;
  return Bun.stringWidth(last) < width ? [...rows, last] : [...rows, last.trimEnd(), ""];
}

/** At most `height` rows of prompt and text, around the cursor. */
export function viewLine(prompt: string, text: string, at: number, columns: number, height: number): LineView {
  const width = Math.max(1, columns);
  const rows = promptRows(prompt, width);
  let used = Bun.stringWidth(rows.at(-1) ?? "");
  let place = 0;
  let cursor: { readonly row: number; readonly column: number } | null = null;
  const feed = (): void => {
    rows.push("");
    used = 0;
  };
  for (const { segment } of segments(text)) {
    const { shown, wide } = segment === "\n" ? { shown: "", wide: 0 } : shownPiece(segment, width);
    if (used + wide > width) feed();
    if (place === at) cursor = { row: rows.length - 1, column: used };
    if (segment === "\n") feed();
    rows.push(rows.pop() + shown);
    used += wide;
    place += segment.length;
  }
  const { row, column } = cursor ?? { row: rows.length - 1, column: used };
  if (column < width) return windowOf({ rows, row, column }, height);
  // After the last column the cursor is on the next row.
  return windowOf({ rows: row + 1 < rows.length ? rows : [...rows, ""], row: row + 1, column: 0 }, height);
}

function windowOf(view: LineView, height: number): LineView {
  if (view.rows.length <= height) return view;
  const start = Math.min(Math.max(0, view.row - Math.floor(height / 2)), view.rows.length - height);
  return { rows: view.rows.slice(start, start + height), row: view.row - start, column: view.column };
}

interface LineScreen {
  /** `below`: rows under the text, none wider than the terminal. */
  readonly draw: (prompt: string, text: string, at: number, below?: readonly string[]) => void;
  readonly clear: () => void;
  /** Call it when the width has changed: the terminal has re-wrapped its content. */
  readonly resize: () => void;
  readonly leave: () => void;
  readonly erase: () => void;
}

const up = (rows: number): string => (rows > 0 ? `\x1b[${rows}A` : "");
const down = (rows: number): string => (rows > 0 ? `\x1b[${rows}B` : "");
const right = (columns: number): string => (columns > 0 ? `\x1b[${columns}C` : "");

export function openLineScreen(
  err: (text: string) => void,
  size: () => { readonly columns: number; readonly rows: number },
): LineScreen {
  let drawn: LineView | null = null;

  return {
    draw(prompt, text, at, below = []) {
      const { columns, rows } = size();
      const line = viewLine(prompt, text, at, columns, Math.max(1, rows - 1 - below.length));
      const view = { ...line, rows: [...line.rows, ...below] };
      const home = up(view.rows.length - 1 - view.row);
      err(`${up(drawn?.row ?? 0)}${eraseFromRow}${view.rows.join("\r\n")}${home}\r${right(view.column)}`);
      drawn = view;
    },
    clear() {
      // Earlier lines scroll into the terminal's history.
      err(`${up(drawn?.row ?? 0)}${eraseFromRow}${"\n".repeat(Math.max(0, size().rows - 1))}\x1b[H`);
      drawn = null;
    },
    resize() {
      if (drawn === null) return;
      const width = Math.max(1, size().columns);
      const rowsOf = (shown: string) => Math.max(1, Math.ceil(Bun.stringWidth(shown) / width));
      const above = drawn.rows.slice(0, drawn.row).reduce((sum, shown) => sum + rowsOf(shown), 0);
      drawn = { rows: drawn.rows, row: above + Math.floor(drawn.column / width), column: drawn.column % width };
    },
    leave() {
      if (drawn === null) return;
      const below = drawn.rows.length - 1 - drawn.row;
      err(`${down(below)}\r\n`);
      drawn = null;
    },
    erase() {
      err(`${up(drawn?.row ?? 0)}${eraseFromRow}`);
      drawn = null;
    },
  };
}

/** For dumb terminals and screen readers: a change at the end is typed or erased; after another all is written again. */
export function openPlainScreen(err: (text: string) => void): LineScreen {
  let drawn: { readonly prompt: string; readonly text: string } | null = null;
  const leave = () => {
    if (drawn !== null) err("\r\n");
    drawn = null;
  };

  return {
    draw(prompt, text) {
      const shown = visible(text).replaceAll("\n", "\r\n");
      if (drawn === null) err(prompt + shown);
      else if (drawn.prompt === prompt && shown.startsWith(drawn.text)) err(shown.slice(drawn.text.length));
      else if (drawn.prompt === prompt && drawn.text.startsWith(shown) && !drawn.text.includes("\n")) {
        const gone = Bun.stringWidth(drawn.text.slice(shown.length));
        err("\b".repeat(gone) + " ".repeat(gone) + "\b".repeat(gone));
      } else err(`\r\n${prompt}${shown}`);
      drawn = { prompt, text: shown };
    },
    clear() {},
    resize() {},
    leave,
    erase: leave,
  };
}
