/** Messages about a block that failed: why in the first line, for people too; then for the model where and what to do. */

import { type FileLines, isBlank, loosen } from "./file-lines.ts";
import type { Halves, Match } from "./step.ts";

export const notFound = "the text to replace is not in the file";

const shownLines = 30;
const shownWidth = 400;

/** The closest lines of the file as they are, and the first difference. */
export function describeMissing(file: FileLines, { search }: Halves): string {
  const part = findPart(file, search);
  if (part !== null) return part;
  const row = closestByLines(file, search) ?? closestByLetters(file, search);
  if (row === null) return `${notFound}\nRead the file and copy the lines.`;
  const [from, to] = [Math.max(0, row), Math.min(file.lines.length, row + search.length)];
  const differs = (part: (line: string) => string) =>
    search.findIndex((line, at) => part(line) !== part(file.lines[row + at] ?? ""));
  // A difference in indentation alone is forgiven, so a line with other words is named first.
  const words = differs((line) => line.trim());
  const difference = words >= 0 ? words : differs((line) => line.trimEnd());
  return [
    notFound,
    `Closest lines now in the file (${rangeText(from, to)}):`,
    ...excerpt(file, from, to),
    ...(difference < 0 ? [] : [differenceText(difference, search[difference] ?? "", file.lines[row + difference])]),
    "Copy the lines exactly as they are in the file.",
  ].join("\n");
}

/** The message about a SEARCH that is only a part of one line; null: it is not. */
function findPart(file: FileLines, search: readonly string[]): string | null {
  const [only = "", ...more] = search.filter((line) => !isBlank(line)).map((line) => line.trim());
  const row = only.length < 3 || more.length > 0 ? -1 : file.lines.findIndex((line) => line.includes(only));
  const line = file.lines[row];
  if (line === undefined || line.trim() === only) return null;
  return [
    `the text to replace is only a part of line ${row + 1}`,
    "It occurs more than once, its ends split a word or number, or the new text repeats the rest. The line is:",
    cut(line),
    "Send the whole line as the text to replace, and the whole new line.",
  ].join("\n");
}

export function describeAmbiguous({ rows, note }: Extract<Match, { kind: "ambiguous" }>): string {
  const lines = [...new Set(rows.map((row) => row + 1))];
  const named = lines.slice(0, 10).join(", ") + (lines.length > 10 ? ` and ${lines.length - 10} more` : "");
  const times = `the text to replace occurs ${rows.length} times (line${lines.length === 1 ? "" : "s"} ${named})`;
  const how = note === null ? "" : ` ${note}`;
  return `${times}${how}\nAdd neighbouring lines until it occurs once, or write SEARCH ALL (in a call: all true) if every place is meant.`;
}

/** The lines that match without their indentation, where the indentation of REPLACE would be a guess. */
export const describeUnplaceable = (file: FileLines, { span }: Extract<Match, { kind: "unplaceable" }>): string =>
  [
    `the text to replace fits lines ${rangeText(...span)} only with another indentation`,
    "The lines are:",
    ...excerpt(file, ...span),
    "Send the block again, both halves indented as the file is.",
  ].join("\n");

const rangeText = (from: number, to: number): string => (to - from <= 1 ? `${from + 1}` : `${from + 1}-${to}`);

function excerpt(file: FileLines, from: number, to: number): readonly string[] {
  const lines = file.lines.slice(from, Math.min(to, from + shownLines)).map(cut);
  const left = to - from - lines.length;
  return left > 0 ? [...lines, `(${left} more lines)`] : lines;
}

function differenceText(at: number, wanted: string, found: string | undefined): string {
  const file = found === undefined ? "the end of the file" : `file ${JSON.stringify(cut(found))}`;
  return `First difference: your line ${at + 1} ${JSON.stringify(cut(wanted))} / ${file}.`;
}

const cut = (line: string): string => (line.length > shownWidth ? `${line.slice(0, shownWidth)}…` : line);

/** The row where SEARCH would begin, by the lines they share, rare ones counting more. */
function closestByLines(file: FileLines, search: readonly string[]): number | null {
  const keys = file.keys("unicode");
  const rowsOf = Map.groupBy(keys.keys(), (row) => keys[row] ?? -1);
  const votes = new Map<number, number>();
  for (const [at, line] of search.entries()) {
    const rows = isBlank(line) ? [] : (rowsOf.get(file.keyOf("unicode", line)) ?? []);
    if (rows.length > 50) continue;
    const weight = Math.min(loosen(line, "indent").length, 40) / rows.length;
    for (const row of rows) votes.set(row - at, (votes.get(row - at) ?? 0) + weight);
  }
  const best = [...votes].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
  return best === undefined || best[1] < 1.5 ? null : best[0];
}

function closestByLetters(file: FileLines, search: readonly string[]): number | null {
  const longest = search.reduce((at, line, here) => (line.length > (search[at]?.length ?? 0) ? here : at), 0);
  const wanted = triplesOf(search[longest] ?? "");
  let best = { row: -1, share: 0.5 };
  for (const [row, line] of file.lines.slice(0, 20_000).entries()) {
    const triples = triplesOf(line);
    let common = 0;
    for (const triple of triples) if (wanted.has(triple)) common++;
    const share = (2 * common) / (triples.size + wanted.size || 1);
    if (share > best.share) best = { row, share };
  }
  return best.row < 0 ? null : best.row - longest;
}

/** Each three letters in a row, in which a name with one other letter is still alike. */
function triplesOf(line: string): ReadonlySet<string> {
  const text = ` ${line.slice(0, shownWidth).trim()} `;
  return new Set(Array.from({ length: text.length - 2 }, (_, at) => text.slice(at, at + 3)));
}
