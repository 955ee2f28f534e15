/** Completes a FINISH that breaks the rules: its END is missing, or its NEXT lines come after it. */

import { readNext } from "./body.ts";
import { isFence } from "./code-fence.ts";
import { readHeader, undecorate, withoutEndTokens } from "./header.ts";
import { dropBrokenEnd } from "./open-body.ts";
import type { Script } from "./script.ts";

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
