/** A body while its lines arrive, and which line ends it. */

import { isFence } from "./code-fence.ts";
import { isTag, readHeader, withoutEndTokens } from "./header.ts";
import type { Body, Cut } from "./script.ts";

export interface OpenBody extends Body {
  readonly lines: string[];
  /** How many lines it had when the previous reply was cut: another header does not end it. null: it was not cut. */
  readonly kept: number | null;
  /** The header named no word: it may be the original's form, which has no body. */
  readonly wordless: boolean;
  readonly startsHeredoc: RegExp;
  /** Nothing but blank lines so far. */
  blank: boolean;
  /** The last line is the word alone, which ends the body if what follows allows it. */
  bare: boolean;
  /** A here-document of the same word is open inside the body. */
  heredoc: boolean;
}

/** How a line ends a body: by its END, or by standing where the body must have ended before it. */
export type BodyEnd = "end" | "bare-end" | "no-body" | "implied-end";

export function openBody(head: Omit<Body, "lines">, wordless: boolean): OpenBody {
  return { ...head, ...freshState(head.tag), kept: null, wordless };
}

/** Reopens a cut body with the lines it had. */
export function reopenBody({ lines, ...head }: Cut): OpenBody {
  const open = { ...head, ...freshState(head.tag), kept: lines.length, wordless: false };
  for (const line of lines) growBody(open, line);
  return open;
}

/** The cut of an open body; null for FINISH, which shows what there is and needs no resume. */
export function keepCut({ cmd, path, tag, line, flags, lines }: OpenBody): Cut | null {
  return cmd === "FINISH" ? null : { cmd, path, tag, line, flags, lines };
}

/** Adds a line that is content. */
export function growBody(open: OpenBody, line: string): void {
  open.lines.push(line);
  const text = line.trim();
  if (text !== "") open.blank = false;
  open.bare = !open.heredoc && line.trimEnd() === open.tag;
  if (text === open.tag) open.heredoc = false;
  else if (line.includes("<<") && line.includes(open.tag) && open.startsHeredoc.test(line)) open.heredoc = true;
}

/** Whether and how the line ends the body; all but `end` leave the line itself to be read at top level. */
export function readEnd(open: OpenBody, line: string): BodyEnd | null {
  const text = withoutEndTokens(line.trimEnd());
  if (open.bare && (text === "" || readHeader(text) !== null)) return "bare-end";
  if (text === `END::${open.tag}`) return "end";
  if (open.wordless && open.blank && readHeader(text) !== null) return "no-body";
  if (!text.endsWith(open.tag)) return null;
  const header = readHeader(text);
  return header?.kind === "body" && header.tag === open.tag ? "implied-end" : null;
}

/** The index of the line in an open body that can only be the FINISH of a reply which ended by itself; -1: none is. */
export function findFinish({ cmd, kept, lines }: OpenBody): number {
  const at = lines.findLastIndex((line) => line.trim() !== "" && !isFence(line));
  const text = withoutEndTokens((lines[at] ?? "").trimEnd());
  const header = text === "FINISH" ? readHeader("FINISH::") : readHeader(text);
  const name = header?.kind === "action" ? header.action.cmd : header?.kind === "body" ? header.cmd : "";
  return cmd !== "FINISH" && kept === null && name === "FINISH" ? at : -1;
}

/** Whether the lines are content and nothing else: no other header, no word that may have been meant to end them, no fence half. */
export function isClear(lines: readonly string[], tag: string): boolean {
  const isControl = (line: string) =>
    line.trimEnd() === tag || line.trimEnd() === "END" || readHeader(line.trimEnd()) !== null;
  return lines.some((line) => line.trim() !== "") && !lines.some(isControl) && lines.filter(isFence).length % 2 === 0;
}

/** Takes the last line away that is the word alone, or was meant to be the END before what ended the body. */
export function dropEnd(lines: string[], end: BodyEnd): void {
  if (end === "bare-end") lines.pop();
  if (end === "implied-end") dropBrokenEnd(lines);
}

/** Takes a last line away that was meant to be the END and has another word or marks around it. */
export function dropBrokenEnd(lines: string[]): void {
  const last = lines.findLastIndex((line) => line.trim() !== "");
  if (/^[`*]*END\s*::/i.test(lines[last] ?? "")) lines.length = last;
}

/** The word of a body that this line could end, were one open. */
export function closesWord(raw: string): string | null {
  const line = withoutEndTokens(raw);
  if (isTag(line)) return line;
  if (line.startsWith("END::")) return line.slice(5);
  const header = readHeader(line);
  return header?.kind === "body" ? header.tag : null;
}

function freshState(tag: string) {
  return {
    lines: [],
    startsHeredoc: new RegExp(`<<[-~]?\\s*["'\\\\]?${tag}\\b`),
    blank: true,
    bare: false,
    heredoc: false,
  };
}

/**
 * The word the prompt names: EOT, or EOT2, EOT3 … when a line of `texts` (everything taken from the workspace
 * or the user) could close a body of that word, so that text read from files never can.
 */
export function chooseTag(texts: Iterable<string>): string {
  const taken = new Set<string>();
  for (const text of texts) {
    for (const raw of text.split("\n")) {
      const word = closesWord(raw.trimEnd());
      if (word !== null) taken.add(word);
    }
  }
  let tag = "EOT";
  for (let n = 2; taken.has(tag); n++) tag = `EOT${n}`;
  return tag;
}
