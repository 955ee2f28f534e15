/** The rest of a reply that was cut inside a body: how it is asked for, and joined. */
import { closes, findEnd, findOpen, isFence, isMarkdown, marksOf } from "./code-fence.ts";
import { readHeader, undecorate, withoutEndTokens } from "./header.ts";
import type { Cut } from "./script.ts";
import { afterClosing, createThoughtSplitter } from "./thought.ts";

/** Lines at the beginning of the rest that may repeat the end of the cut body, or be reasoning without an opening mark. */
const overlapLimit = 30;

/** How many lines of `next` repeat the end of `lines`. Blank lines and lone brackets alone repeat by themselves. */
export function countOverlap(lines: readonly string[], next: readonly string[]): number {
  for (let count = Math.min(overlapLimit, lines.length, next.length); count > 0; count--) {
    const end = lines.slice(-count);
    const equal = end.every((line, at) => line === next[at]);
    if (equal) return end.some((line) => /\p{L}|\p{N}/u.test(line)) ? count : 0;
  }
  return 0;
}

/** The rest without a fence around it, and one line of introduction. What may be content, as in Markdown, stays. */
function unwrapRest(kept: readonly string[], rest: readonly string[], path: string): readonly string[] {
  const at = rest.findIndex((line) => marksOf(line) !== null);
  const introduction = rest.slice(0, Math.max(at, 0)).filter((line) => line.trim() !== "");
  const marks = marksOf(rest[at] ?? "");
  if (marks === null || introduction.length > 1) return rest;
  const open = findOpen(kept);
  if (open >= 0) {
    const isAround = !isMarkdown(path) && kept.slice(0, open).every((line) => line.trim() === "");
    return isAround && !closes(rest[at] ?? "", marks) ? rest.slice(at + 1) : rest;
  }
  const end = findEnd(rest, at, marks);
  if (end < 0) return rest.slice(at + 1);
  const isLast = rest.slice(end + 1).every((line) => line.trim() === "");
  return isLast && !isMarkdown(path) ? rest.slice(at + 1, end) : rest;
}

/** The reply up to the last whole line of the body in which it was cut. */
export function keptOf(reply: string, { line, lines }: Cut): string {
  const kept = reply.split("\n").slice(0, line + lines.length);
  return `${kept.join("\n")}\n`;
}

function linesOf(rest: string): readonly string[] {
  const thoughts = createThoughtSplitter();
  const lines = (thoughts.push(rest).text + thoughts.end().text).split(/\r?\n/);
  const closing = lines.slice(0, overlapLimit).findLastIndex((line) => afterClosing(line) !== null);
  if (closing < 0) return lines;
  const after = [afterClosing(lines[closing] ?? "") ?? "", ...lines.slice(closing + 1)];
  return after.slice(after.findIndex((line) => line.trim() !== ""));
}

/** `isLost`: the rest begins other actions, so the body is given up: half a file is never taken for a whole one. */
export function joinRest(reply: string, cut: Cut, rest: string): { readonly text: string; readonly isLost: boolean } {
  const { cmd, path, tag, line, lines: before } = cut;
  const lines = linesOf(rest);
  const bodyOf = (text: string) => {
    const header = readHeader(text);
    return header?.kind === "body" ? header : null;
  };
  const first = lines.find((each) => each.trim() !== "" && !isFence(each)) ?? "";
  const isAnew = readHeader(undecorate(first)) !== null;
  const ends = (text: string) => text === `END::${tag}` || bodyOf(text)?.tag === tag;
  const end = lines.findIndex((each) => ends(withoutEndTokens(each.trimEnd())));
  const ending = isAnew ? undecorate(first) : withoutEndTokens(lines[end]?.trimEnd() ?? "");
  if (isAnew || bodyOf(ending) !== null) {
    const above = reply.split("\n").slice(0, line - 1);
    return { text: [...above, ...lines.slice(isAnew ? 0 : end)].join("\n"), isLost: bodyOf(ending)?.path !== path };
  }
  const more = lines.slice(0, end < 0 ? undefined : end);
  // Half of an edit in Markdown may hold half a fence.
  const inner = cmd === "MODIFY" && isMarkdown(path) ? more : unwrapRest(before, more, path);
  const added = inner.slice(countOverlap(before, inner.slice(0, overlapLimit)));
  return { text: keptOf(reply, cut) + [...added, ...lines.slice(more.length)].join("\n"), isLost: false };
}

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
