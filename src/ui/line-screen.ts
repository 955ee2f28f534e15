/** Draws the message being typed: redrawn in place where a terminal can, only ever appended to where it cannot. */
import { type LineView, layLine, windowOf } from "./line-view.ts";
import { visible } from "./sanitize.ts";

export interface LineScreen {
  readonly draw: (prompt: string, text: string, at: number) => void;
  /** The width has changed, and the terminal has wrapped anew what stood there. */
  readonly resize: () => void;
  /** What was drawn stays as it is; the next drawing begins on a new line. */
  readonly leave: () => void;
}

export interface LineScreenOptions {
  readonly err: (text: string) => void;
  readonly columns: () => number;
  readonly rows: () => number;
}

/** What is left to write when all that was drawn stays and the cursor stands at its end; null: it must be drawn anew. */
function restOf(view: LineView, drawn: LineView): string | null {
  const last = view.rows.length - 1;
  const [now = "", before = ""] = [view.rows[last], drawn.rows[last]];
  const atEnd = [view, drawn].every(
    ({ rows, row, column }) => row === last && column === Bun.stringWidth(rows[row] ?? ""),
  );
  if (!atEnd || drawn.rows.length !== view.rows.length || !now.startsWith(before)) return null;
  return drawn.rows.slice(0, -1).every((shown, at) => shown === view.rows[at]) ? now.slice(before.length) : null;
}

const up = (rows: number): string => (rows > 0 ? `\x1b[${rows}A` : "");
const right = (columns: number): string => (columns > 0 ? `\x1b[${columns}C` : "");

/** For terminals that can move the cursor. */
export function openLineScreen({ err, columns, rows }: LineScreenOptions): LineScreen {
  let drawn: LineView | null = null;

  return {
    draw(prompt, text, at) {
      const view = windowOf(layLine(prompt, text, at, columns()), Math.max(1, rows() - 1));
      const rest = drawn === null ? null : restOf(view, drawn);
      if (rest !== null) {
        err(rest);
        drawn = view;
        return;
      }
      const back = drawn === null ? "\r\x1b[J" : `${up(drawn.row)}\r\x1b[J`;
      const home = up(view.rows.length - 1 - view.row);
      err(`${back}${view.rows.join("\r\n")}${home}\r${right(view.column)}`);
      drawn = view;
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
      err(`${below > 0 ? `\x1b[${below}B` : ""}\r\n`);
      drawn = null;
    },
  };
}

/** For dumb terminals and screen readers: what changes at the end is typed or rubbed out, all else is written anew. */
export function openPlainScreen(err: (text: string) => void): LineScreen {
  let drawn: { readonly prompt: string; readonly text: string } | null = null;

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
    resize() {},
    leave() {
      if (drawn !== null) err("\r\n");
      drawn = null;
    },
  };
}
