/** Colours diff lines: new ones by their language, deleted ones red, differing words on a background. */

import type { Highlight } from "../highlight.ts";
import { invertColors, type Meaning, type Style } from "../style.ts";
import type { DiffRow } from "./fit.ts";
import type { Range } from "./marks.ts";

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

/** Renders a part of a coloured row, with the marked words in it. */
export function renderPart({ kind, text, mark }: DiffRow, painted: string, part: Range, style: Style): string {
  if (mark === null && part.to - part.from === text.length) return painted;
  const within = (at: number) => Math.min(Math.max(at, part.from), part.to);
  const [from, to] = mark === null ? [part.to, part.to] : [within(mark.from), within(mark.to)];
  const marked = invertColors(style, meanings[kind] ?? "dim", text.slice(from, to));
  return cutPainted(painted, { from: part.from, to: from }) + marked + cutPainted(painted, { from: to, to: part.to });
}
