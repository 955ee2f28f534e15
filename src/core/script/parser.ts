/** Parses a reply into a script. Never throws. */
import type { StopReason } from "../model.ts";
import { readNext } from "./body.ts";
import { isFence } from "./code-fence.ts";
import { readHeader, undecorate, withoutEndTokens } from "./header.ts";
import { dropBrokenEnd, usualTag } from "./open-body.ts";
import { endBody, type LineProgress, placeLine } from "./place-line.ts";
import type { Script, ScriptOptions } from "./script.ts";
import { afterClosing, findClosing, openingOf } from "./thought.ts";

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
