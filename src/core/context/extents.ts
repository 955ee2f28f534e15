/** Where the definitions of a file begin and end, by the look of its lines. Pure. */
import { openDefinitions } from "./blocks.ts";
import type { ExcerptRange } from "./excerpts.ts";
import { isProse } from "./kind.ts";

export interface Extent extends ExcerptRange {
  readonly name: string;
  /** The line, from 1, that names it; `from` may be a comment or a decorator above it. */
  readonly line: number;
  readonly indent: number;
}

const indentOf = (line: string): number => /^\s*/.exec(line.replaceAll("\t", "    "))?.[0].length ?? 0;
/** At the indentation of a definition such a line still belongs to it. */
const closes =
  /^\s*(?:[)\]}]|\{|end\b|else\b|elif\b|except\b|finally\b|catch\b|rescue\b|ensure\b|#\s*(?:if|else|elif|endif)\b|\w+:\s*$)/;
/** A line that closes one part and opens the next: `): void {`, `} else {`, `) -> int:`. */
const opensAgain = /[{(:[,]\s*(?:\/\/.*|#.*)?$/;
const belongsAbove = /^\s*(?:@|#|\/\/|\/\*|\*|--|"""|''')/;
const maxAbove = 12;

function endOf(lines: readonly string[], at: number): number {
  const indent = indentOf(lines[at] ?? "");
  let end = at;
  for (let next = at + 1; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    if (line.trim() === "") continue;
    const own = indentOf(line);
    if (own < indent || (own === indent && !closes.test(line))) break;
    end = next;
    if (own === indent && /^\s*(?:[}\]]|end\b)/.test(line) && !opensAgain.test(line)) break;
  }
  return end;
}

function startOf(lines: readonly string[], at: number): number {
  const indent = indentOf(lines[at] ?? "");
  let start = at;
  while (start > 0 && at - start < maxAbove) {
    const above = lines[start - 1] ?? "";
    if (indentOf(above) < indent || !belongsAbove.test(above)) break;
    start -= 1;
  }
  return start;
}

export const extentAt = (lines: readonly string[], at: number): ExcerptRange => ({
  from: startOf(lines, at) + 1,
  to: endOf(lines, at) + 1,
});

const constant =
  /^(?:export\s+|pub\s+|static\s+|final\s+|public\s+|private\s+)*(?:var|const|let|val)\s+(?:mut\s+)?([\p{L}_$][\p{L}\p{N}_$]*)/u;
const assigned = /^([\p{L}_][\p{L}\p{N}_]*)\s*(?::[^=]+)?=(?!=)/u;

/** What a file defines; a prose file defines its headings, each up to the next of the same look. */
export function extentsIn(path: string, lines: readonly string[]): readonly Extent[] {
  const nameIn = openDefinitions(path);
  const isText = isProse(path);
  return lines.flatMap((line, at): Extent[] => {
    if (line.length > 400) return [];
    const found = nameIn(line) || (isText ? null : (constant.exec(line)?.[1] ?? assigned.exec(line)?.[1] ?? null));
    if (found === null || found === "") return [];
    return [{ name: found, line: at + 1, indent: indentOf(line), ...extentAt(lines, at) }];
  });
}

const word = /[\p{L}_$][\p{L}\p{N}_$]*/gu;
const looksLikeCode = /\p{Ll}\p{Lu}|_|\$|\p{N}/u;

/** Names that may be of definitions. `isPlan`: every word is; else what is quoted, called, dotted, or spelt as code. */
export function namesMeant(text: string, isPlan: boolean): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { 0: found, index } of text.matchAll(word)) {
    if (found.length < 3) continue;
    const [before, behind] = [text[index - 1] ?? " ", text[index + found.length] ?? " "];
    const isMarked = /[.`'"“#:]/.test(before) || /[(`'"”]/.test(behind) || looksLikeCode.test(found);
    if (isPlan || isMarked) names.add(found);
  }
  return names;
}

const lastPart = (name: string): string => name.split(/[.:#]+/).findLast((part) => part !== "") ?? name;

/** How many definitions of one name count: more are too common a name. */
const maxOfName = 4;

/** The definitions that have one of these names, the first name's first; those of a name that is very common are left out. */
export function definitionsNamed(extents: readonly Extent[], names: Iterable<string>): readonly Extent[] {
  const byName = Map.groupBy(extents, ({ name }) => lastPart(name));
  return [...names].flatMap((name) => {
    const found = byName.get(name) ?? [];
    return found.length > maxOfName ? [] : found;
  });
}
