/** Parses a reply into a script. Never throws. */
import type { StopReason } from "../model.ts";
import { readNext } from "./body.ts";
import { isFence } from "./code-fence.ts";
import { readHeader, undecorate, withoutEndTokens } from "./header.ts";
import { countOverlap, dropBrokenEnd, overlapLimit, reopenBody, usualTag } from "./open-body.ts";
import { begin, discard, endBody, type LineProgress, placeLine } from "./place-line.ts";
import type { Note, Script, ScriptOptions } from "./script.ts";
import { createThoughtFilter } from "./thought.ts";

function openProgress({ read, resumed = null, tag = usualTag }: ScriptOptions): LineProgress {
  const body = resumed === null ? null : reopenBody(resumed);
  const lists = { actions: [], remarks: [], warnings: [] };
  return { read, tag, ...lists, number: 0, finished: false, unclosed: false, body, grown: 0 };
}

/** The first lines of a resumed reply, held back until it is clear how they continue the cut body. */
interface Joint {
  readonly lines: Note[];
  /** Only blank lines and fences so far. */
  leading: boolean;
}

const openJoint = (): Joint => ({ lines: [], leading: true });

/** Adds a line of a resumed reply. True: the reply begins with another action, so the cut body was given up. */
function beginsAnew(joint: Joint, to: LineProgress, text: string): boolean {
  joint.lines.push({ line: to.number, text });
  if (!joint.leading || text.trim() === "" || isFence(text)) return false;
  joint.leading = false;
  const header = readHeader(undecorate(text));
  if (header === null) return false;
  discard(to, header);
  begin(to, header);
  return true;
}

/** Places the lines that were held back, without those that repeat the end of the cut body. */
function placeJoint({ lines }: Joint, to: LineProgress): void {
  const { body, number } = to;
  if (body === null) return;
  const texts = lines.map(({ text }) => text);
  for (const { line, text } of lines.slice(countOverlap(body.lines, texts))) {
    to.number = line;
    placeLine(to, text);
  }
  to.number = number;
}

/** Takes whole lines: skips thoughts, holds back the beginning of a resumed reply, places all others. */
function createLineReader(to: LineProgress, isResumed: boolean) {
  const thoughts = createThoughtFilter();
  let joint = isResumed ? openJoint() : null;

  /** Drops everything read so far: it turned out to be reasoning. */
  function forget(): void {
    to.finished = false;
    if (joint !== null) joint = openJoint();
    const dropped = to.actions.length;
    for (const list of [to.actions, to.remarks, to.warnings]) list.length = 0;
    if (dropped > 0) to.warnings.push({ line: to.number, text: "everything before this line was taken for reasoning" });
  }

  function settle(): void {
    const held = joint;
    joint = null;
    if (held !== null) placeJoint(held, to);
  }

  function take(text: string): void {
    const after = joint !== null || to.body === null ? thoughts.after(text) : null;
    if (after !== null) forget();
    if (after === "") return;
    if (joint === null) placeLine(to, after ?? text);
    else if (beginsAnew(joint, to, after ?? text)) joint = null;
    else if (joint.lines.length === overlapLimit) settle();
  }

  return {
    take(raw: string): void {
      to.number += 1;
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      const isOutside = joint === null ? to.body === null : joint.leading;
      const text = isOutside ? thoughts.skip(line) : line;
      if (text !== null) take(text);
    },
    settle,
    isThinking: thoughts.isOpen,
  };
}

/** Parses a whole reply. Never throws. */
export function parseScript(
  reply: string | Iterable<string>,
  { stop, ...options }: ScriptOptions & { readonly stop: StopReason },
): Script {
  const to = openProgress(options);
  const lines = createLineReader(to, to.body !== null);
  const whole = (typeof reply === "string" ? reply : [...reply].join("")).split("\n");
  const tail = whole.pop() ?? "";
  for (const line of whole) lines.take(line);
  if (stop === "end" && tail !== "") lines.take(tail);
  lines.settle();
  const cut = endBody(to, stop, tail === "");
  const { actions, remarks, warnings, finished } = to;
  const isWhole = stop === "end" && to.body === null && !to.unclosed && !lines.isThinking();
  const flags = isWhole && !finished ? ["no-finish"] : [];
  return { actions, remarks, warnings, truncated: stop !== "end" || !finished, flags, cut };
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

/**
 * The script with the complete message and NEXT lines of its FINISH. `text`: the reply. `tag`: the prompt's tag; when
 * FINISH::tag has no END, everything after it is the message.
 */
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
