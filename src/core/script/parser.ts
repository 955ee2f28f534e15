/** Parses a reply into a script: sorts its lines into actions, bodies, remarks and warnings. Never throws. */
import type { StopReason } from "../model.ts";
import { needsTarget, rowOf } from "../vocabulary.ts";
import { buildAction, buildPartial, readNext } from "./body.ts";
import { isFence } from "./code-fence.ts";
import { type Header, isTag, readHeader, undecorate, withoutEndTokens } from "./header.ts";
import type { Body, Cut, Note, Script, ScriptAction, ScriptOptions } from "./script.ts";
import { afterClosing, findClosing, openingOf } from "./thought.ts";

interface OpenBody extends Body {
  readonly lines: string[];
  /** The header named no tag, so the body may be missing altogether. */
  readonly wordless: boolean;
  readonly startsHeredoc: RegExp;
  blank: boolean;
  /** The last line is the tag alone, which ends the body if a blank line or a header follows. */
  bare: boolean;
  /** A here-document with the same tag is open inside the body. */
  heredoc: boolean;
}

/** How a line ends a body: it is the END, or it shows that the body ended before it. */
type BodyEnd = "end" | "bare-end" | "no-body" | "implied-end";

function openBody(head: Omit<Body, "lines">, wordless: boolean): OpenBody {
  const startsHeredoc = new RegExp(`<<[-~]?\\s*["'\\\\]?${head.tag}\\b`);
  return { ...head, wordless, startsHeredoc, lines: [], blank: true, bare: false, heredoc: false };
}

function growBody(open: OpenBody, line: string): void {
  open.lines.push(line);
  const text = line.trim();
  if (text !== "") open.blank = false;
  open.bare = !open.heredoc && line.trimEnd() === open.tag;
  if (text === open.tag) open.heredoc = false;
  else if (line.includes("<<") && line.includes(open.tag) && open.startsHeredoc.test(line)) open.heredoc = true;
}

/** How the line ends the body; null: it does not. After any end but `end`, the line itself is read at top level. */
function readEnd(open: OpenBody, line: string): BodyEnd | null {
  const text = withoutEndTokens(line.trimEnd());
  if (open.bare && (text === "" || readHeader(text) !== null)) return "bare-end";
  if (text === `END::${open.tag}`) return "end";
  if (open.wordless && open.blank && readHeader(text) !== null) return "no-body";
  if (!text.endsWith(open.tag)) return null;
  const header = readHeader(text);
  return header?.kind === "body" && header.tag === open.tag ? "implied-end" : null;
}

function findFinish({ cmd, lines }: OpenBody): number {
  const at = lines.findLastIndex((line) => line.trim() !== "" && !isFence(line));
  const text = withoutEndTokens((lines[at] ?? "").trimEnd());
  const header = text === "FINISH" ? readHeader("FINISH::") : readHeader(text);
  const name = header?.kind === "action" ? header.action.cmd : header?.kind === "body" ? header.cmd : "";
  return cmd !== "FINISH" && name === "FINISH" ? at : -1;
}

/** Whether the lines are nothing but content: no header, no tag or END that may end them, no half of a fence. */
function isClear(lines: readonly string[], tag: string): boolean {
  const isControl = (line: string) =>
    line.trimEnd() === tag || line.trimEnd() === "END" || readHeader(line.trimEnd()) !== null;
  return lines.some((line) => line.trim() !== "") && !lines.some(isControl) && lines.filter(isFence).length % 2 === 0;
}

/** Removes a last line that was meant as the END, but has another tag or marks around it. */
function dropBrokenEnd(lines: string[]): void {
  const last = lines.findLastIndex((line) => line.trim() !== "");
  if (/^[`*]*END\s*::/i.test(lines[last] ?? "")) lines.length = last;
}

interface LineProgress {
  readonly read: ScriptOptions["read"];
  /** The tag of a body whose header names none. */
  readonly tag: string;
  readonly actions: ScriptAction[];
  readonly remarks: Note[];
  readonly warnings: Note[];
  /** Number of the current line, from 1. */
  number: number;
  finished: boolean;
  /** The reply ended normally inside a body whose end cannot be determined. */
  unclosed: boolean;
  body: OpenBody | null;
  /** Number of the last line that became content of a body. */
  grown: number;
}

function placeLine(to: LineProgress, line: string): void {
  const { body } = to;
  if (body === null) {
    placeOutside(to, line);
    return;
  }
  const end = readEnd(body, line);
  if (end === null) {
    growBody(body, line);
    to.grown = to.number;
    return;
  }
  close(to, body, end);
  if (end !== "end") placeOutside(to, line);
}

function placeOutside(to: LineProgress, line: string): void {
  if (line.trim() === "" || isFence(line)) return;
  const text = undecorate(line);
  const header =
    readHeader(rowOf(text) !== null && !needsTarget(text) ? `${text}::` : text, to.tag) ??
    readHeader(raise(text), to.tag);
  if (header !== null && !to.finished) {
    begin(to, header);
    return;
  }
  const unknown = to.finished ? undefined : /^([A-Z][A-Z0-9_]+)::/.exec(text)?.[1];
  if (unknown === undefined) to.remarks.push({ line: to.number, text: line.trim() });
  else to.warnings.push({ line: to.number, text: describeUnknown(unknown) });
}

function begin(to: LineProgress, header: Header): void {
  if (header.kind === "fault") {
    to.warnings.push({ line: to.number, text: header.text });
  } else if (header.kind === "action") {
    to.finished = header.action.cmd === "FINISH";
    to.actions.push({ ...header.action, line: to.number });
  } else {
    const { cmd, path, tag } = header;
    to.body = openBody({ cmd, path, tag: tag ?? to.tag, line: to.number }, tag === null);
  }
}

function close(to: LineProgress, open: OpenBody, end: BodyEnd): void {
  const { cmd, path, line } = open;
  to.body = null;
  if (end === "bare-end") open.lines.pop();
  else if (end === "implied-end") dropBrokenEnd(open.lines);
  if (cmd === "FINISH") to.finished = true;
  if (cmd !== "FINISH" && path === "") to.warnings.push({ line, text: `${cmd} needs a path; its body was skipped` });
  else if (end === "no-body")
    to.warnings.push({ line, text: `${cmd}::${path} has no body: send it with END::${open.tag}` });
  else to.actions.push(buildAction(open, to.read));
}

function endLines(to: LineProgress, body: OpenBody, isWhole: boolean): void {
  if (closeAtFinish(to, body) || isWhole) return;
  if (to.grown === to.number && !body.bare) body.lines.pop();
}

/** Ends a body without END before the reply's FINISH; if its end would be a guess, gives it up. False: no FINISH. */
function closeAtFinish(to: LineProgress, open: OpenBody): boolean {
  const at = findFinish(open);
  const { cmd, path, tag, line, lines } = open;
  const finish = lines[at];
  if (finish === undefined) return false;
  const content = lines.slice(0, at);
  if (isClear(content, tag)) {
    close(to, { ...open, lines: content }, "implied-end");
    to.number = line + 1 + at;
    placeOutside(to, finish);
  } else {
    to.body = null;
    to.unclosed = true;
    to.warnings.push({ line, text: `${cmd}::${path} has no END::${tag}: send it again` });
  }
  return true;
}

/** Ends the body that is open after the last line; its cut where it cannot be ended. `isWhole`: the last line is. */
function endBody(to: LineProgress, stop: StopReason, isWhole: boolean): Cut | null {
  if (to.body !== null && stop === "end") endLines(to, to.body, isWhole);
  const open = to.body;
  if (open === null) return null;
  if (stop === "end" && open.bare) close(to, open, "bare-end");
  else if (stop === "end" && open.wordless && open.blank) close(to, open, "no-body");
  else if (stop === "end" && open.cmd === "FINISH") closeMessage(to, open);
  else if (open.cmd === "FINISH" || open.path !== "") to.actions.push(buildPartial(open, to.read));
  const { cmd, path, tag, line, lines } = open;
  // FINISH is used as far as it goes and not resumed.
  return to.body === null || path === "" || cmd === "FINISH" ? null : { cmd, path, tag, line, lines };
}

/** For FINISH::WORD without END::WORD: the word is the message. */
function closeMessage(to: LineProgress, { tag, line, lines }: OpenBody): void {
  to.body = null;
  to.finished = true;
  to.actions.push({ cmd: "FINISH", arg: tag, next: [], line });
  for (const [at, text] of lines.entries()) {
    if (text.trim() !== "" && !isFence(text)) to.remarks.push({ line: line + 1 + at, text: text.trim() });
  }
}

/** Spells a header in capitals, without blanks around its colons. Only for lines outside of bodies. */
const raise = (text: string): string =>
  text.replace(/^([A-Za-z_]+)\s*::\s*/, (_, word: string) => `${word.toUpperCase()}::`);

const describeUnknown = (word: string): string =>
  word === "END" ? "END:: without an open body" : `${word} is not a command`;

function createThoughtFilter(to: LineProgress) {
  let isThinking = false;

  /** Drops everything read so far: it turned out to be reasoning whose opening mark is missing. */
  function forget(): void {
    const text = "everything before this line was taken for reasoning";
    const warnings = to.actions.length > 0 ? [{ line: to.number, text }] : [];
    for (const list of [to.actions, to.remarks, to.warnings]) list.length = 0;
    to.warnings.push(...warnings);
    to.finished = false;
  }

  /** The text behind a mark or the reasoning at its beginning; null: it begins with neither. */
  function behindThought(text: string): string | null {
    if (isThinking) {
      const end = findClosing(text)?.end;
      if (text === "") return null;
      isThinking = end === undefined;
      return end === undefined ? "" : text.slice(end);
    }
    const rest = afterClosing(text);
    if (rest !== null) forget();
    const opening = openingOf(text);
    isThinking = opening !== "";
    return isThinking ? text.slice(opening.length) : rest;
  }

  return {
    isThinking: () => isThinking,
    skip(line: string): string {
      let text = line;
      for (let rest = behindThought(text); rest !== null; rest = behindThought(text)) text = rest;
      return text;
    },
  };
}

export function parseScript(
  reply: string,
  { stop, read, tag = usualTag }: ScriptOptions & { readonly stop: StopReason },
): Script {
  const lists = { actions: [], remarks: [], warnings: [] };
  const to: LineProgress = { read, tag, ...lists, number: 0, finished: false, unclosed: false, body: null, grown: 0 };
  const thoughts = createThoughtFilter(to);
  const lines = reply.split("\n");
  const tail = lines.pop() ?? "";
  if (stop === "end" && tail !== "") lines.push(tail);
  for (const raw of lines) {
    to.number += 1;
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    placeLine(to, to.body === null ? thoughts.skip(line) : line);
  }
  const cut = endBody(to, stop, tail === "");
  const { actions, remarks, warnings, finished } = to;
  const isWhole = stop === "end" && to.body === null && !to.unclosed && !thoughts.isThinking();
  return { actions, remarks, warnings, truncated: stop !== "end" || !finished, isWhole, cut };
}

/** The script of an earlier reply. It does not say whether the reply was cut. */
export const scriptIn = (text: string): Script =>
  completeFinish(parseScript(text, { stop: "end", read: () => null, tag: usualTag }), text, usualTag);

/** The lines after line `n`, up to an invented next turn, without the closing mark of a fence around the reply. */
function linesAfter(text: string, n: number): readonly string[] {
  const rest = text.trimEnd().split(/\r?\n/).slice(n);
  const end = rest.findIndex((line) => /^\s*<\|/.test(line) || readHeader(undecorate(line)) !== null);
  const lines = rest.slice(0, end < 0 ? undefined : end).map(withoutEndTokens);
  const isHalf = lines.filter(isFence).length % 2 === 1 && isFence(lines.at(-1) ?? "");
  if (isHalf) lines.pop();
  dropBrokenEnd(lines);
  return lines;
}

/** The script with the whole message and NEXT lines of its FINISH; of FINISH::tag without END, all that follows. */
export function completeFinish(script: Script, text: string, tag: string): Script {
  const finish = script.actions.at(-1);
  if (finish?.cmd !== "FINISH") return script;
  const hasNext = (finish.next ?? []).length > 0;
  if (hasNext && finish.arg !== tag) return script;
  const after = linesAfter(text, finish.line);
  const next = after.flatMap((line) => readNext(line) || []);
  const said = after.filter((line) => readNext(line) === null).join("\n");
  const isOpen = finish.arg === tag && said.trim() !== "";
  if (!isOpen && (next.length === 0 || hasNext)) return script;
  const whole = { ...finish, next, ...(isOpen ? { arg: said.trim() } : {}) };
  return { ...script, actions: [...script.actions.slice(0, -1), whole] };
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
