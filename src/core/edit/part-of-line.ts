/** SEARCH is a part of a line: once in the file, or with ALL at every place. Its ends split no word and no number. */
import { type FileLines, indentOf, isBlank, isWord } from "./file-lines.ts";
import { type Halves, type Match, type Splice, variantsOf } from "./step.ts";

/** Numbers with points, as 1.5 and 1.2.3 but not self.0: an edit that splits one of them was meant for other text. */
const pointed = /(?<!\p{L}|\p{N}|[_$])\d(?:\p{L}|\p{N}|_)*(?:\.\d(?:\p{L}|\p{N}|_)*)+/gu;

/** Characters around a place that can belong to the word or number there. */
const longestToken = 100;

const isDigit = (character: string) => character >= "0" && character <= "9";

/** Whether a cut at `at` would split a word or a number of the text. */
function splitsToken(text: string, at: number): boolean {
  const [left, right] = [text.charAt(at - 1), text.charAt(at)];
  if (isWord(left) && isWord(right)) return true;
  if (!(isDigit(left) && right === ".") && !(left === "." && isDigit(right))) return false;
  const from = Math.max(0, at - longestToken);
  const near = text.slice(from, at + longestToken);
  return near.matchAll(pointed).some(({ index, 0: word }) => index < at - from && at - from < index + word.length);
}

/** The index of the only occurrence of `wanted`; -1: there is none, or more than one. */
function findOnce(text: string, wanted: string): number {
  const at = text.indexOf(wanted);
  return at >= 0 && text.indexOf(wanted, at + 1) < 0 ? at : -1;
}

/** Whether the edit was made before: REPLACE holds SEARCH, and the text holds all of REPLACE around `at`. */
function isReplaced(text: string, at: number, search: string, replace: string): boolean {
  for (let inside = replace.indexOf(search); inside >= 0; inside = replace.indexOf(search, inside + 1)) {
    if (inside <= at && text.startsWith(replace, at - inside)) return replace !== search;
  }
  return false;
}

/** Whether SEARCH was meant as whole lines: REPLACE repeats their head or tail, or keeps SEARCH as a line of its own. */
function meansLines(head: string, tail: string, { search, replace }: Halves): boolean {
  const [first, last] = [replace[0]?.trim() ?? "", replace.at(-1)?.trim() ?? ""];
  const begins = head !== "" && first.startsWith(head) && !search[0]?.trim().startsWith(head);
  const ends = tail !== "" && last.endsWith(tail) && !search.at(-1)?.trim().endsWith(tail);
  const isKept = search.length === 1 && replace.length > 1 && search[0]?.trim();
  return begins || ends || (tail !== "" && first === isKept) || (head !== "" && last === isKept);
}

/** The only position of the text where its ends split no word; null: there is none, or several. */
function findPlace(text: string, search: string) {
  const at = findOnce(text, search);
  const end = at + search.length;
  if (at < 0 || splitsToken(text, at) || splitsToken(text, end)) return null;
  const before = text.lastIndexOf("\n", at - 1) + 1;
  const next = text.indexOf("\n", end);
  /** The rest of its first line before the text, and of its last line after it. */
  const [head, tail] = [text.slice(at === 0 ? 0 : before, at), text.slice(end, next < 0 ? undefined : next)];
  return { row: text.slice(0, at).split("\n").length - 1, head, tail, at };
}

export function matchExactText(file: FileLines, halves: Halves): Match | null {
  const variant = variantsOf(halves).at(-1) ?? halves;
  if (halves.all || variant.search.every(isBlank)) return null;
  const text = file.lines.join("\n");
  const search = variant.search.join("\n");
  const place = findPlace(text, search);
  // Whole lines that differ only in blanks are left to the steps for indentation.
  if (place === null || (isBlank(place.head) && isBlank(place.tail))) return null;
  const { row, head, tail, at } = place;
  const span = [row, row + variant.search.length] as const;
  const replace = variant.replace.join("\n");
  if (isReplaced(text, at, search, replace)) return { kind: "found", splices: [], span, note: null };
  if (meansLines(head.trim(), tail.trim(), variant)) return null;
  const lines = (head + replace + tail).split("\n");
  return { kind: "found", splices: [{ start: span[0], end: span[1], lines }], span, note: "as part of a line" };
}

type Hit = ReturnType<typeof findHits>[number];

type Piece = NonNullable<ReturnType<typeof pieceOf>>;

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
function pieceOf(halves: Halves) {
  const { search, replace } = variantsOf(halves).at(-1) ?? halves;
  const [line = "", ...more] = search;
  const [first = "", ...rest] = replace;
  const indent = indentOf(line);
  if (more.length > 0 || isBlank(line) || line !== line.trimEnd()) return null;
  if (first !== "" && !first.startsWith(indent)) return null;
  return { search: line.trim(), replace: [first.slice(indent.length), ...rest] };
}

function findHits(file: FileLines, search: string) {
  const hits: { readonly row: number; readonly at: number }[] = [];
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
