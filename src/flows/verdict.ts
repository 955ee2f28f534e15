/** The verdict on one step of eight-step: what the model is shown of it, and how the answer is read. */

import { fence } from "../core/data-fence.ts";
import { readJson } from "../core/json.ts";
import { describeVerdict, readVerdict, type ScheduleStep, type StepVerdict } from "../core/plan/parse-schedule.ts";
import type { Plan } from "../core/plan/plan.ts";
import { ask, isBadReply } from "./ask.ts";
import { renderRequest } from "./briefing/briefing.ts";
import type { CheckReport } from "./checks/checking.ts";
import { describeCheck } from "./checks/checks.ts";
import { renderCriteria } from "./phases.ts";
import { integrityPrompt } from "./prompts/prompts.ts";
import type { ScriptWork } from "./replies.ts";
import type { Run } from "./run.ts";

const verdictSchema = describeVerdict();
const maxDiff = 40_000;

export interface Act {
  readonly work: ScriptWork;
  readonly done: string;
  readonly meanwhile: string;
  readonly checks: readonly CheckReport[];
  readonly finished: boolean;
  readonly answer: string;
  readonly diff: string;
  readonly whole: boolean;
}

/** A failed check for the model, with a note when it is not fatal, since then the work did not cause its failure. */
export function explainCheck(check: CheckReport): string {
  const isOld = check.passed === false && !check.fatal;
  return describeCheck(check, isOld ? "failed before the work began; later steps may mend it" : "");
}

export const renderTitle = ({ title, hint }: ScheduleStep) => (hint === "" ? title : `${title}\n${hint}`);

export interface Judged extends StepVerdict {
  readonly unread: string | null;
}

const unjudged = (unread: string): Judged => ({ passed: true, quality_score: null, reasons: [], next_fix: [], unread });

export function renderVerdict({ passed, quality_score: score, unread }: Judged): string {
  if (unread !== null) return `no verdict: ${unread}`;
  return `${passed ? "passed" : "failed"}, ${score === null ? "no score" : `quality ${score}/10`}`;
}

export async function judgeStep(
  run: Run,
  plan: Plan,
  step: ScheduleStep,
  { done, meanwhile, checks, answer, diff }: Act,
): Promise<Judged> {
  const parts = [
    renderRequest(run),
    ...[renderCriteria(plan)].filter((text) => text !== ""),
    `Step: ${renderTitle(step)}`,
    `Actions:\n${done || "(none)"}`,
    diff === "" ? "Nothing was changed." : fence("diff", {}, diff.slice(0, maxDiff)),
    ...(meanwhile === "" ? [] : [`Not done by these actions:\n${meanwhile}`]),
    ...(answer === "" ? [] : [`The answer to the user:\n${fence("result", {}, answer)}`]),
    ...checks.map(explainCheck),
  ];
  try {
    const reply = await ask(run, {
      purpose: "integrity",
      system: integrityPrompt(),
      messages: [{ role: "user", text: parts.join("\n\n") }],
      format: { name: "verdict", schema: verdictSchema },
    });
    const json = readJson(reply.text);
    const verdict = json.ok ? readVerdict(json.value) : null;
    return verdict === null ? unjudged("it could not be read") : { ...verdict, unread: null };
  } catch (thrown) {
    if (!isBadReply(thrown)) throw thrown;
    return unjudged(thrown.message);
  }
}
