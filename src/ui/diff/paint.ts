/** Colours diff lines: new ones by their language, deleted ones red, differing words on a background. */

import { grouped } from "../amount.ts";
import type { Highlight } from "../highlight.ts";
import { invertColors, type Meaning, type Style } from "../style.ts";
import type { Range } from "./marks.ts";
import type { DiffLine } from "./read.ts";

const meanings: Readonly<Record<DiffRow["kind"], Meaning | null>> = {
  add: "ok",
  delete: "error",
  same: null,
  note: "dim",
  skip: "dim",
};

/** The new content in pieces between skipped lines, each highlighted as one text. */
function findCode(rows: readonly DiffRow[]): readonly (readonly DiffRow[])[] {
  const runs: DiffRow[][] = [[]];
  for (const row of rows) {
    if (row.kind === "skip") runs.push([]);
    else if (row.kind === "add" || row.kind === "same") runs.at(-1)?.push(row);
  }
  return runs;
}

/** Each row's text in colours that do not nest. `name` determines the language. */
export function paintRows(
  rows: readonly DiffRow[],
  name: string,
  style: Style,
  highlight: Highlight | null,
): ReadonlyMap<DiffRow, string> {
  const painted = new Map<DiffRow, string>();
  for (const row of rows) {
    const meaning = meanings[row.kind];
    painted.set(row, meaning === null ? row.text : style.paint(meaning, row.text));
  }
  if (highlight === null) return painted;
  for (const run of findCode(rows)) {
    const lines = highlight(name)?.(run.map(({ text }) => text).join("\n")).split("\n");
    for (const [at, row] of run.entries()) painted.set(row, lines?.[at] ?? painted.get(row) ?? "");
  }
  return painted;
}

/** Cuts a coloured text at positions in the uncoloured one. */
function cutPainted(painted: string, { from, to }: Range): string {
  if (from >= to) return "";
  let at = 0;
  let out = "";
  for (const [part, on = "", text = part, off = ""] of painted.matchAll(
    /(\x1b\[\d+m)([^\x1b]*)(\x1b\[\d+m)|[^\x1b]+/g,
  )) {
    const cut = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (cut !== "") out += on + cut + off;
    at += text.length;
  }
  return out;
}

/** A coloured row with the words that differ on a background. */
export function markWords({ kind, text, mark }: DiffRow, painted: string, style: Style): string {
  if (mark === null || !style.color) return painted;
  const marked = invertColors(style, meanings[kind] ?? "dim", text.slice(mark.from, mark.to));
  const rest = cutPainted(painted, { from: mark.to, to: text.length });
  return cutPainted(painted, { from: 0, to: mark.from }) + marked + rest;
}

/** A line as it is shown. `mark`: the part that differs from the line it replaces; null: none. */
export interface DiffRow extends DiffLine {
  readonly mark: Range | null;
}

/** Longer lines, in characters, are cut to what changed in them. */
export const longLine = 400;
/** Characters of a cut line: shown at most, and on each side of the change. */
const maxShown = 2000;
const beside = 100;

/** The part of a long line to show: the change with some context, or the beginning. */
function chooseRange({ kind, text, mark }: DiffRow): Range {
  const changed = mark ?? { from: 0, to: kind === "same" ? 0 : text.length };
  const from = Math.max(0, changed.from - beside);
  return { from, to: Math.min(text.length, changed.to + beside, from + maxShown) };
}

/** Whether the part of a long line that is shown holds all that changed in it. */
export const isShownByPart = ({ kind, mark }: DiffRow): boolean =>
  kind === "same" || (mark !== null && mark.to - mark.from <= maxShown - beside);

/** The row itself; of a row that is too long a part, with a note on how much is missing. `more` marks the cuts. */
export function cutRow(row: DiffRow, more: string): readonly DiffRow[] {
  const { text, mark } = row;
  if (text.length <= longLine) return [row];
  const { from, to } = chooseRange(row);
  if (to - from === text.length) return [row];
  const lead = from > 0 ? more : "";
  // The cut may split a surrogate pair; half a character is shown as "?".
  const shown = text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "?");
  const move = (at: number) => Math.min(Math.max(at - from, 0), shown.length) + lead.length;
  const hidden = `${grouped(text.length - (to - from))} of ${grouped(text.length)} characters not shown`;
  return [
    {
      ...row,
      text: lead + shown + (to < text.length ? more : ""),
      mark: mark && { from: move(mark.from), to: move(mark.to) },
    },
    { kind: "note", number: null, text: hidden, mark: null },
  ];
}
