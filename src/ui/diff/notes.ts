/** Notes on changes that a diff does not show: line ends, blanks, permissions. */
import { findReplacements, type Replacement } from "./marks.ts";
import type { DiffFile, DiffLine } from "./read.ts";

const note = (text: string): DiffLine => ({ kind: "note", number: null, text });
const isContent = ({ kind }: DiffLine) => kind === "add" || kind === "delete" || kind === "same";

/** If all lines end in CRLF, replaces the marks on each by one note. A last line without a line end does not count. */
function sayReturns(lines: readonly DiffLine[]): readonly DiffLine[] {
  if (!lines.some(({ text }) => text.endsWith("\r"))) return lines;
  const ended = lines.filter((line, at) => isContent(line) && lines[at + 1]?.kind !== "note");
  if (ended.length === 0 || !ended.every(({ text }) => text.endsWith("\r"))) return lines;
  return [note("lines end in CRLF"), ...lines.map((line) => ({ ...line, text: line.text.replace(/\r$/, "") }))];
}

/**
 * A note on replaced lines that differ only in white space; null: they differ in more, or only in the final line end,
 * which the diff notes itself.
 */
function nameDifference({ pairs }: Replacement): string | null {
  const isSame = (pattern: RegExp) =>
    pairs.every(([before, after]) => before.text.replace(pattern, "") === after.text.replace(pattern, ""));
  if (isSame(/^$/) || !isSame(/\s+/g)) return null;
  return isSame(/\r$/) ? "only line ends differ" : "only blanks differ";
}

function sayBlanks(lines: readonly DiffLine[]): readonly DiffLine[] {
  const said: DiffLine[] = [];
  let at = 0;
  for (const replacement of findReplacements(lines)) {
    const difference = nameDifference(replacement);
    said.push(...lines.slice(at, replacement.end), ...(difference === null ? [] : [note(difference)]));
    at = replacement.end;
  }
  return [...said, ...lines.slice(at)];
}

/** The lines of a file, with notes on permissions, blanks and CRLF. */
export function explainLines({ from, to, lines }: DiffFile): readonly DiffLine[] {
  if (lines.length === 0 && from === to) return [note("other permissions, same content")];
  return sayBlanks(sayReturns(lines));
}
