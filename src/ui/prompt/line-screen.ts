/** Draws the message being typed: in place if the terminal can move the cursor, otherwise by appending. */

import { visible } from "../sanitize.ts";
import { eraseFromRow } from "../tty.ts";
import { type LineView, viewLine } from "./line-view.ts";

export interface LineScreen {
  /** `below`: rows under the text, none wider than the terminal. */
  readonly draw: (prompt: string, text: string, at: number, below?: readonly string[]) => void;
  /** Clears the screen; the next drawing starts at its top. */
  readonly clear: () => void;
  /** Call it when the width has changed: the terminal has re-wrapped its content. */
  readonly resize: () => void;
  readonly leave: () => void;
  readonly erase: () => void;
}

export interface LineScreenOptions {
  readonly err: (text: string) => void;
  readonly columns: () => number;
  readonly rows: () => number;
}

const up = (rows: number): string => (rows > 0 ? `\x1b[${rows}A` : "");
const down = (rows: number): string => (rows > 0 ? `\x1b[${rows}B` : "");
const right = (columns: number): string => (columns > 0 ? `\x1b[${columns}C` : "");

export function openLineScreen({ err, columns, rows }: LineScreenOptions): LineScreen {
  let drawn: LineView | null = null;

  return {
    draw(prompt, text, at, below = []) {
      const line = viewLine({ prompt, text, at }, columns(), Math.max(1, rows() - 1 - below.length));
      const view = { ...line, rows: [...line.rows, ...below] };
      const home = up(view.rows.length - 1 - view.row);
      err(`${up(drawn?.row ?? 0)}${eraseFromRow}${view.rows.join("\r\n")}${home}\r${right(view.column)}`);
      drawn = view;
    },
    clear() {
      // Earlier lines scroll into the terminal's history.
      err(`${up(drawn?.row ?? 0)}${eraseFromRow}${"\n".repeat(Math.max(0, rows() - 1))}\x1b[H`);
      drawn = null;
    },
    resize() {
      if (drawn === null) return;
      const width = Math.max(1, columns());
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

/**
 * The screen of dumb terminals and screen readers: a change at the end is typed or erased; after any other change the
 * whole text is written again.
 */
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
