/** The answer of a run in the form that the user asked for: JSON of a schema, asked for once more when it does not fit. */

import { compileSchema, type JudgeAnswer } from "../../core/answer-schema.ts";
import { squash } from "../../core/change.ts";
import { fence } from "../../core/data-fence.ts";
import { renderChanges } from "../../core/diff.ts";
import { PaiError } from "../../core/error.ts";
import { spellInJson } from "../../core/invisible.ts";
import { type Reading, readJson } from "../../core/json.ts";
import type { Json } from "../../core/model.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { ask } from "../ask.ts";
import { renderRequest } from "../briefing/briefing.ts";
import { leavesNothing } from "../checks/rights.ts";
import type { Run } from "../run.ts";
import { describeSchema } from "./ending.ts";

const maxDiff = 12_000;

type Answer = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly why: string };

/** Reads the answer from a text that is JSON, in a fence or not; an object may have words around it. */
function readAnswer(text: string, judge: JudgeAnswer): Answer {
  const [, fenced = text] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text) ?? [];
  let value: Json;
  try {
    value = JSON.parse(fenced) as Json;
  } catch {
    const reading = readJson(text);
    if (!reading.ok) return { ok: false, why: text.trim() === "" ? "it is empty" : "it is not JSON" };
    value = reading.value;
  }
  const why = judge(value);
  return why === null ? { ok: true, value } : { ok: false, why };
}

/** A reply that is the answer in the form that the user asked for; null: it has another, or any form will do. */
export function formedAnswer({ ending }: Run, text: string): Pick<Plan, "intent" | "reply"> | null {
  const schema = ending.outputSchema;
  const fits = schema != null && readAnswer(text, compileSchema(schema)).ok;
  return fits ? { intent: "conversation", reply: text } : null;
}

/** Reads the value of a reply as a plan; where it plans no work and has the form that the user asked for, it is the answer. */
export function readPlanOrAnswer<Made>(
  run: Run,
  value: Json,
  text: string,
  { readValue, planOf }: { readValue: (value: Json) => Reading<Made>; planOf: (made: Made) => Plan },
): Reading<Made> {
  const reading = readValue(value);
  const plan = reading.ok ? planOf(reading.value) : null;
  if (plan !== null && (plan.intent !== "conversation" || formedAnswer(run, plan.reply) !== null)) return reading;
  const answer = formedAnswer(run, text);
  return answer === null ? reading : readValue(answer);
}

async function askAgain(run: Run, schema: string, why: string): Promise<string> {
  const { begun, changing, ending } = run;
  const changes = squash([...(begun?.changes ?? []), ...changing.staged]);
  const diff = renderChanges(run.veiled.hideChanges(changes));
  const parts = [
    renderRequest(run),
    ending.text === "" ? "" : `What was answered:\n${fence("result", {}, ending.text)}`,
    diff === "" ? "" : `What was changed:\n${fence("diff", {}, diff.slice(0, maxDiff))}`,
    `That answer cannot be used: ${why}`,
    describeSchema(schema),
  ];
  const system = "You state the result of finished work as JSON. Reply with one JSON value only.";
  const text = parts.filter((part) => part !== "").join("\n\n");
  return (await ask(run, { purpose: "answer", system, messages: [{ role: "user", text }], format: null })).text;
}

/** Makes the answer of the run JSON. Throws reply_invalid when it stays unusable. */
export async function requireAnswer(run: Run): Promise<void> {
  const { ledger, changing, ending, planning } = run;
  const schema = ending.outputSchema;
  if (schema == null || planning.planOnly || (leavesNothing(run) && !changing.dryRun)) return;
  const judge = compileSchema(schema);
  ledger.release();
  let answer = readAnswer(ending.text, judge);
  if (!answer.ok && !ledger.exhausted) {
    const text = `the answer does not fit the schema (${answer.why}): asking once more`;
    run.emit({ type: "notice", level: "warning", code: "answer_unusable", text });
    answer = readAnswer(await askAgain(run, schema, answer.why), judge);
  }
  if (!answer.ok) throw new PaiError("reply_invalid", `the answer does not fit the schema: ${answer.why}`);
  // Control characters are escaped, since standard output may be a terminal.
  ending.text = spellInJson(JSON.stringify(answer.value));
  ending.next = [];
}
