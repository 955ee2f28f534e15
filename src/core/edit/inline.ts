/** SEARCH ALL is part of a line, between token boundaries: every place of it in the file. */

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
