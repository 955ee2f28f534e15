/** A body while its lines arrive, and the line that ends it. */

import { isFence } from "./code-fence.ts";
import { isTag, readHeader, withoutEndTokens } from "./header.ts";
import type { Body } from "./script.ts";

export interface OpenBody extends Body {
  readonly lines: string[];
  /** The header named no tag, so the body may be missing altogether. */
  readonly wordless: boolean;
  readonly startsHeredoc: RegExp;
  /** Nothing but blank lines so far. */
  blank: boolean;
  /** The last line is the tag alone, which ends the body if a blank line or a header follows. */
  bare: boolean;
  /** A here-document with the same tag is open inside the body. */
  heredoc: boolean;
}

/** How a line ends a body: it is the END, or it shows that the body ended before it. */
export type BodyEnd = "end" | "bare-end" | "no-body" | "implied-end";

export function openBody(head: Omit<Body, "lines">, wordless: boolean): OpenBody {
  const startsHeredoc = new RegExp(`<<[-~]?\\s*["'\\\\]?${head.tag}\\b`);
  return { ...head, wordless, startsHeredoc, lines: [], blank: true, bare: false, heredoc: false };
}

export function growBody(open: OpenBody, line: string): void {
  open.lines.push(line);
  const text = line.trim();
  if (text !== "") open.blank = false;
  open.bare = !open.heredoc && line.trimEnd() === open.tag;
  if (text === open.tag) open.heredoc = false;
  else if (line.includes("<<") && line.includes(open.tag) && open.startsHeredoc.test(line)) open.heredoc = true;
}

/** How the line ends the body; null: it does not. After any end but `end`, the line itself is read at top level. */
export function readEnd(open: OpenBody, line: string): BodyEnd | null {
  const text = withoutEndTokens(line.trimEnd());
  if (open.bare && (text === "" || readHeader(text) !== null)) return "bare-end";
  if (text === `END::${open.tag}`) return "end";
  if (open.wordless && open.blank && readHeader(text) !== null) return "no-body";
  if (!text.endsWith(open.tag)) return null;
  const header = readHeader(text);
  return header?.kind === "body" && header.tag === open.tag ? "implied-end" : null;
}

export function findFinish({ cmd, lines }: OpenBody): number {
  const at = lines.findLastIndex((line) => line.trim() !== "" && !isFence(line));
  const text = withoutEndTokens((lines[at] ?? "").trimEnd());
  const header = text === "FINISH" ? readHeader("FINISH::") : readHeader(text);
  const name = header?.kind === "action" ? header.action.cmd : header?.kind === "body" ? header.cmd : "";
  return cmd !== "FINISH" && name === "FINISH" ? at : -1;
}

/** Whether the lines are nothing but content: no header, no tag or END that may end them, no half of a fence. */
export function isClear(lines: readonly string[], tag: string): boolean {
  const isControl = (line: string) =>
    line.trimEnd() === tag || line.trimEnd() === "END" || readHeader(line.trimEnd()) !== null;
  return lines.some((line) => line.trim() !== "") && !lines.some(isControl) && lines.filter(isFence).length % 2 === 0;
}

/** Removes a last line that was meant as the END, but has another tag or marks around it. */
export function dropBrokenEnd(lines: string[]): void {
  const last = lines.findLastIndex((line) => line.trim() !== "");
  if (/^[`*]*END\s*::/i.test(lines[last] ?? "")) lines.length = last;
}

/** The tag of a body that this line could end, if one were open; null: none. */
function closesWord(raw: string): string | null {
  const line = withoutEndTokens(raw);
  if (isTag(line)) return line;
  if (line.startsWith("END::")) return line.slice(5);
  const header = readHeader(line);
  return header?.kind === "body" ? header.tag : null;
}

/** The tag that closes bodies in the prompt. */
export const usualTag = "EOT";

/** EOT, or EOT2, EOT3 … when a line of `texts` could close a body with that tag: text from files never closes one. */
export function chooseTag(texts: Iterable<string>): string {
  const taken = new Set<string>();
  for (const text of texts) {
    for (const raw of text.split("\n")) {
      const word = closesWord(raw.trimEnd());
      if (word !== null) taken.add(word);
    }
  }
  let tag: string = usualTag;
  for (let n = 2; taken.has(tag); n++) tag = `${usualTag}${n}`;
  return tag;
}
