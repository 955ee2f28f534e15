/** A body while its lines arrive, and which line ends it. */

import type { Cut } from "./script.ts";
import type { Body } from "./script-body.ts";
import { isTag, readHeader } from "./script-header.ts";

export interface OpenBody extends Body {
  readonly lines: string[];
  /** Cut in the reply before: another header does not end it. */
  readonly resumed: boolean;
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
  return { ...head, ...freshState(head.tag), resumed: false, wordless };
}

/** Opens a cut body again, with all that stood in it. */
export function reopenBody({ lines, ...head }: Cut): OpenBody {
  const open = { ...head, ...freshState(head.tag), resumed: true, wordless: false };
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
  else if (line.includes("<<") && open.startsHeredoc.test(line)) open.heredoc = true;
}

/** Whether and how the line ends the body; all but `end` leave the line itself to be read at top level. */
export function readEnd(open: OpenBody, line: string): BodyEnd | null {
  const text = line.trimEnd();
  if (open.bare && (text === "" || readHeader(text) !== null)) return "bare-end";
  if (text === `END::${open.tag}`) return "end";
  if (open.wordless && open.blank && readHeader(text) !== null) return "no-body";
  if (!text.endsWith(open.tag)) return null;
  const header = readHeader(text);
  return header?.kind === "body" && header.tag === open.tag ? "implied-end" : null;
}

/** The word of a body that this line could end, were one open. */
export function closesWord(line: string): string | null {
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
