/** Diff lines in colour: those there now as their language has it, those gone in red, the words that differ on colour. */

import type { Highlight } from "../highlight.ts";
import { invert, type Meaning, type Style } from "../style.ts";
import type { Row } from "./fit.ts";
import type { Range } from "./marks.ts";

const meanings: Readonly<Record<Row["kind"], Meaning | null>> = {
  add: "ok",
  delete: "error",
  same: null,
  note: "dim",
  skip: "dim",
};

/** The new content, up to the next lines that are left out: code that is highlighted as one piece. */
function findCode(rows: readonly Row[]): readonly (readonly Row[])[] {
  const runs: Row[][] = [[]];
  for (const row of rows) {
    if (row.kind === "skip") runs.push([]);
    else if (row.kind === "add" || row.kind === "same") runs.at(-1)?.push(row);
  }
  return runs;
}

/** Each row's text in colour, no colour inside another. `name` tells the language. */
export function paintRows(
  rows: readonly Row[],
  name: string,
  style: Style,
  highlight: Highlight | null,
): ReadonlyMap<Row, string> {
  const painted = new Map<Row, string>();
  for (const row of rows) {
    const meaning = meanings[row.kind];
    painted.set(row, meaning === null ? row.text : style.paint(meaning, row.text));
  }
  if (!style.color || highlight === null) return painted;
  for (const run of findCode(rows)) {
    const lines = highlight(name)?.(run.map(({ text }) => text).join("\n")).split("\n");
    for (const [at, row] of run.entries()) painted.set(row, lines?.[at] ?? painted.get(row) ?? "");
  }
  return painted;
}

/** Cuts a painted text by positions in the bare one. */
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

/** A part of a painted row, with the part of its mark that lies in it. */
export function renderPart({ kind, text, mark }: Row, painted: string, part: Range, style: Style): string {
  if (mark === null && part.to - part.from === text.length) return painted;
  const within = (at: number) => Math.min(Math.max(at, part.from), part.to);
  const [from, to] = mark === null ? [part.to, part.to] : [within(mark.from), within(mark.to)];
  const marked = invert(style, meanings[kind] ?? "dim", text.slice(from, to));
  return cutPainted(painted, { from: part.from, to: from }) + marked + cutPainted(painted, { from: to, to: part.to });
}
