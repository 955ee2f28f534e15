/** Lays out typed text in terminal rows, with wide, combining and invisible characters, from one column up. */

import { wrap } from "../layout.ts";
import { visible } from "../sanitize.ts";
import { segments } from "./edit-line.ts";

export interface TypedLine {
  readonly prompt: string;
  readonly text: string;
  readonly at: number;
}

export interface LineView {
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
export function viewLine({ prompt, text, at }: TypedLine, columns: number, height: number): LineView {
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
