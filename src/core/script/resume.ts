/** Finds the part of a resumed reply that continues the cut body. */

import { isMarkdown, unwrapRest } from "./code-fence.ts";
import type { OpenBody } from "./open-body.ts";
import type { Cut } from "./script.ts";

/** Lines of a resumed reply that may repeat the end of the cut body. */
export const overlapLimit = 30;

/**
 * How many of the first lines of `next` repeat the end of `lines`. Blank lines and lone brackets repeat by
 * themselves, so an overlap counts only if it contains a letter or digit.
 */
export function countOverlap(lines: readonly string[], next: readonly string[]): number {
  for (let count = Math.min(overlapLimit, lines.length, next.length); count > 0; count--) {
    const end = lines.slice(-count);
    const equal = end.every((line, at) => line === next[at]);
    if (equal) return end.some((line) => /\p{L}|\p{N}/u.test(line)) ? count : 0;
  }
  return 0;
}

/** The lines of a body. Of a resumed one, the new lines come without a fence or introduction around them. */
export function joinRest({ kept, lines, path, cmd }: OpenBody): readonly string[] {
  if (kept === null) return lines;
  const before = lines.slice(0, kept);
  const rest = lines.slice(before.length);
  // Half of an edit in Markdown may hold half a fence.
  const inner = cmd === "MODIFY" && isMarkdown(path) ? rest : unwrapRest(before, rest, path);
  return inner === rest ? lines : [...before, ...inner.slice(countOverlap(before, inner.slice(0, overlapLimit)))];
}

/** The message that asks the model for the rest of a cut body and of the script. */
export function renderResume({ cmd, path, tag, lines }: Cut): string {
  const name = `${cmd}::${path.includes("::") ? JSON.stringify(path) : path}::${tag}`;
  const rest = `then END::${tag}, the remaining actions and FINISH. Do not repeat anything and add no introduction or fence.`;
  const last = lines.findLastIndex((line) => line.trim() !== "");
  const line = lines[last];
  if (line === undefined) {
    return `Your reply was cut inside ${name}, right after its header. Continue with the first line of that body, ${rest}`;
  }
  const blank = lines.length - 1 - last;
  const after = blank === 0 ? "" : ` and ${blank === 1 ? "one blank line" : `${blank} blank lines`}`;
  const where = line.length > 300 ? `the line that ends in «${line.slice(-300)}»` : `the line «${line}»`;
  return `Your reply was cut inside ${name}, after ${where}${after}. Continue with the next line of that body, ${rest}`;
}
