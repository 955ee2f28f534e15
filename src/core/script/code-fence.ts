/** Code fences in an action script: which lines they are, and whether they wrap a body or belong to it. */

const markdown = /\.(?:md|mdx|markdown|mdown|mkd|qmd|rmd)$/i;

export const isMarkdown = (path: string) => markdown.test(path);

export const isFence = (line: string): boolean => marksOf(line.trimStart()) !== null;

/** The marks of a fence that begins in the first column; null: the line is not a fence. */
export function marksOf(line: string): string | null {
  if (!line.startsWith("```") && !line.startsWith("~~~")) return null;
  const mark = /^(?:(`{3,})[^`]*|(~{3,}).*)$/s.exec(line);
  return mark?.[1] ?? mark?.[2] ?? null;
}

export const closes = (line: string, marks: string) =>
  line.startsWith(marks) && line.replaceAll(marks.charAt(0), "").trim() === "";

export const findEnd = (lines: readonly string[], from: number, marks: string) =>
  lines.findIndex((line, at) => at > from && closes(line, marks));

/** The lines inside a fence that surrounds the whole text; null: the text is not one fence. */
export function unwrapFence(lines: readonly string[]): readonly string[] | null {
  const first = lines.findIndex((line) => line.trim() !== "");
  const marks = marksOf(lines[first] ?? "");
  if (marks === null) return null;
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return findEnd(lines, first, marks) === last ? lines.slice(first + 1, last) : null;
}

/** The lines inside the fence that models put around a whole Markdown file; null: there is none around it. */
export function unwrapMarkdown(lines: readonly string[]): readonly string[] | null {
  const first = lines.findIndex((line) => line.trim() !== "");
  const [, marks] = /^(`{3,}|~{3,})(?:md|markdown)\s*$/i.exec(lines[first] ?? "") ?? [];
  const last = lines.findLastIndex((line) => line.trim() !== "");
  if (marks === undefined || last === first || !closes(lines[last] ?? "", marks)) return null;
  const inside = lines.slice(first + 1, last);
  // What is inside opens and closes its own fences; otherwise the first one is an example that ends before the last line.
  return inside.length > 0 && findOpen(inside) < 0 ? inside : null;
}

/** The index of the fence that is open after the last line; -1: none is. */
export function findOpen(lines: readonly string[]): number {
  for (let at = 0; at < lines.length; at++) {
    const marks = marksOf(lines[at] ?? "");
    if (marks === null) continue;
    const end = findEnd(lines, at, marks);
    if (end < 0) return at;
    at = end;
  }
  return -1;
}
