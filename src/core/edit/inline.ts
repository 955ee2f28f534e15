/** Step 10: SEARCH is part of a line, between token boundaries; with SEARCH ALL, part of every line that holds it. */

import { splitsToken } from "./exact-text.ts";
import { type FileLines, indentOf, isBlank } from "./file-lines.ts";
import { type Halves, type Match, type Splice, variantsOf } from "./step.ts";

interface Hit {
  readonly row: number;
  readonly at: number;
}

interface Piece {
  readonly search: string;
  readonly replace: readonly string[];
}

const note = "as part of a line";

/** A SEARCH of one line that occurs once, is less than three quarters of its line, and is not repeated in REPLACE. */
export function matchInline(file: FileLines, halves: Halves): Match | null {
  const piece = pieceOf(halves);
  if (piece === null || halves.all || piece.search.length < 3) return null;
  const hits = findHits(file, piece.search);
  const rows = hits.map((hit) => hit.row);
  if (hits.length > 1) return { kind: "ambiguous", rows, note };
  const [hit] = hits;
  if (hit === undefined || !isToken(file, hit, piece.search)) return null;
  const line = file.lines[hit.row] ?? "";
  if (piece.search.length >= 0.75 * line.trim().length || meansLine(line, hit.at, piece)) return null;
  return { kind: "found", splices: substitute(file, hits, piece), span: [hit.row, hit.row + 1], note };
}

/** SEARCH ALL of one line that also occurs inside longer lines: every place, or none if one is part of a word. */
export function matchEverywhere(file: FileLines, halves: Halves): Match | null {
  const piece = halves.all ? pieceOf(halves) : null;
  if (piece === null) return null;
  const hits = findHits(file, piece.search);
  const rows = hits.map((hit) => hit.row);
  if (hits.every((hit) => file.lines[hit.row]?.trim() === piece.search)) return null;
  if (!hits.every((hit) => isToken(file, hit, piece.search))) {
    return { kind: "ambiguous", rows, note: "as part of a longer word" };
  }
  const span = [rows[0] ?? 0, (rows.at(-1) ?? 0) + 1] as const;
  return { kind: "found", splices: substitute(file, hits, piece), span, note: `at ${hits.length} places` };
}

/** The only line of SEARCH, without the indentation that REPLACE has too. */
function pieceOf(halves: Halves): Piece | null {
  const { search, replace } = variantsOf(halves).at(-1) ?? halves;
  const [line = "", ...more] = search;
  const [first = "", ...rest] = replace;
  const indent = indentOf(line);
  if (more.length > 0 || isBlank(line) || line !== line.trimEnd()) return null;
  if (first !== "" && !first.startsWith(indent)) return null;
  return { search: line.trim(), replace: [first.slice(indent.length), ...rest] };
}

function findHits(file: FileLines, search: string): readonly Hit[] {
  const hits: Hit[] = [];
  for (const [row, line] of file.lines.entries()) {
    for (let at = line.indexOf(search); at >= 0; at = line.indexOf(search, at + search.length)) hits.push({ row, at });
  }
  return hits;
}

function isToken(file: FileLines, { row, at }: Hit, search: string): boolean {
  const line = file.lines[row] ?? "";
  return !splitsToken(line, at) && !splitsToken(line, at + search.length);
}

/**
 * Whether the model took SEARCH for a whole line, although it is a part of one: then REPLACE has the line's head or
 * tail, which would be duplicated, or keeps SEARCH as a separate line, which would tear the line.
 */
function meansLine(line: string, at: number, { search, replace }: Piece): boolean {
  const head = line.slice(0, at).trim();
  const tail = line.slice(at + search.length).trim();
  const [first, last] = [replace[0] ?? "", replace.at(-1) ?? ""];
  return (
    (head !== "" && first.startsWith(head) && !search.startsWith(head)) ||
    (tail !== "" && last.endsWith(tail) && !search.endsWith(tail)) ||
    (replace.length > 1 && ((tail !== "" && first === search) || (head !== "" && last.trim() === search)))
  );
}

function substitute(file: FileLines, hits: readonly Hit[], { search, replace }: Piece): readonly Splice[] {
  const byRow = Map.groupBy(hits, (hit) => hit.row);
  return [...byRow].map(([row, inRow]) => {
    const line = file.lines[row] ?? "";
    const wholeLine = inRow.length === 1 && line.trim() === search;
    if (wholeLine && replace.join("") === "") return { start: row, end: row + 1, lines: [] };
    const parts: string[] = [];
    let from = 0;
    for (const { at } of inRow) {
      parts.push(line.slice(from, at), replace.join("\n"));
      from = at + search.length;
    }
    return { start: row, end: row + 1, lines: [...parts, line.slice(from)].join("").split("\n") };
  });
}
