/** Step 0 of the edit ladder: a block as lines, and what is refused before looking at the file's text. */

import { findPlaceholders } from "../guard/placeholder.ts";
import type { EditBlock } from "../script/script.ts";
import { cutLines } from "../text.ts";
import type { Halves } from "./step.ts";

/** A block as lines: without byte order mark, line endings, and fences that are not the file's. */
export function prepareBlock(block: EditBlock, fileLines: readonly string[]): Halves {
  const search = linesOf(block.search);
  const replace = linesOf(block.replace);
  const all = block.all === true;
  if (!isFenced(search) || fileLines.includes(search[0] ?? "")) return { search, replace, all };
  return { search: search.slice(1, -1), replace: isFenced(replace) ? replace.slice(1, -1) : replace, all };
}

export function isIdentical({ search, replace }: Halves): boolean {
  return search.length === replace.length && search.every((line, at) => line === replace[at]);
}

/** The first omission placeholder of REPLACE that SEARCH lacks. */
export function findAddedPlaceholder({ search, replace }: Halves): string | null {
  const known = findPlaceholders(search.join("\n")).map((one) => one.text);
  for (const { text } of findPlaceholders(replace.join("\n"))) {
    const at = known.indexOf(text);
    if (at < 0) return text;
    known.splice(at, 1);
  }
  return null;
}

function linesOf(text: string): readonly string[] {
  return cutLines(text.replace(/^\ufeff/, "")).map((line) => line.text);
}

function isFenced(lines: readonly string[]): boolean {
  return lines.length >= 2 && /^```[\w+#.-]*$/.test(lines[0] ?? "") && /^```$/.test(lines.at(-1) ?? "");
}
