/** Gets a plan, or a request to look first, from the cache of earlier runs or from the model. */

import type { Json, Message } from "../../core/model.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { type CallPromise, maxRounds, planPromise } from "../../core/plan/promise.ts";
import type { Reading } from "../../core/plan/reading.ts";
import { completeFinish } from "../../core/script/finish.ts";
import { parseScript } from "../../core/script/parser.ts";
import type { Reply } from "../ask.ts";
import type { RunEnding } from "../ending/ending.ts";
import type { ModelQuestion } from "../fit-request.ts";
import { askForJson, type ReadValue } from "../json-reply.ts";
import type { Run } from "../run.ts";

/** How a mode plans: what it asks, how it reads the answer (a value of type Made), and what that promises. */
export interface PlanKind<Made> {
  readonly system: string;
  readonly format: NonNullable<ModelQuestion["format"]>;
  /** Reads the answer. */
  readonly readValue: ReadValue<Made>;
  readonly planOf: (made: Made) => Plan;
  /** Whether the answer asks to look first. */
  readonly looks: (made: Made) => boolean;
  /** `plans`: planning calls so far, including those for feedback, without repairs. */
  readonly promise: (made: Made, plans: number) => CallPromise;
}

/** A request for a plan: the messages so far, and the promise of the plan before. */
export interface Wanted {
  readonly messages: readonly Message[];
  /** Planning calls, this one included. */
  readonly plans: number;
  /** Returns the promise after this many planning calls; null until the model has made a plan. */
  readonly promiseAt: ((plans: number) => CallPromise) | null;
  /** Key of the plan in the cache; null: it is not cached. */
  readonly key: string | null;
}

/** The answer of a model that ends its looks with FINISH alone, like a script, instead of with JSON; null: it does not. Records its next steps. */
function answerOf(ending: RunEnding, text: string): Json | null {
  const { actions } = completeFinish(parseScript(text, { stop: "end", read: () => null, tag: "EOT" }), text, "EOT");
  const [finish] = actions;
  if (actions.length !== 1 || finish?.cmd !== "FINISH" || !finish.arg) return null;
  ending.next = finish.next ?? [];
  return { intent: "conversation", reply: finish.arg };
}

/** Refuses a request to look when no round of looks is left. */
function refuseLook<Made>(run: Run, kind: PlanKind<Made>, reading: Reading<Made>): Reading<Made> {
  if (!reading.ok || !kind.looks(reading.value) || run.planning.rounds < maxRounds) return reading;
  return { ok: false, why: "no look is left; send the plan with its changes, or the whole answer" };
}

/** A plan, or a request to look, and where it came from. */
interface Found<Made> {
  readonly made: Made;
  readonly said: Message;
  /** Planning calls so far, this one included. */
  readonly plans: number;
  readonly cached: boolean;
}

/** The cached answer to the same request; null: there is none, or it is a look and none is left. */
async function loadCached<Made>(run: Run, kind: PlanKind<Made>, { key, plans }: Wanted): Promise<Found<Made> | null> {
  if (key === null) return null;
  const saved: Json = (await run.planning.planCache?.load(key)) ?? null;
  if (saved === null) return null;
  const reading = refuseLook(run, kind, kind.readValue(saved));
  if (!reading.ok) return null;
  return { made: reading.value, said: assistant(JSON.stringify(reading.value), null), plans: plans - 1, cached: true };
}

const assistant = (text: string, native: Reply["native"]): Message => ({ role: "assistant", text, calls: [], native });

/** Gets a plan, or a request to look, from the model. */
async function askForPlan<Made>(
  run: Run,
  kind: PlanKind<Made>,
  { messages, plans, promiseAt }: Wanted,
): Promise<Found<Made>> {
  const { ledger, planning } = run;
  const promise = promiseAt?.(plans) ?? planPromise;
  ledger.promise(promise);
  // One call is to spare for any use; the others are reserved for rounds of looks and for the work after the plan.
  ledger.reserve(Math.max(0, promise.at_most - plans - 1));
  const purpose = messages.length === 1 || planning.rounds > 0 ? "plan" : "replan";
  const question: ModelQuestion = { purpose, job: "plan", system: kind.system, messages, format: kind.format };
  const readValue = (json: Json) => refuseLook(run, kind, kind.readValue(json));
  let freed = 0;
  /** Gives up a round of looks for the call, so that the promise holds. */
  const freeCall = () => {
    if (promiseAt !== null || planning.rounds >= maxRounds) return false;
    planning.rounds += 1;
    freed += 1;
    ledger.reserve(Math.max(0, promise.at_most - plans - 1 - freed));
    return ledger.spare;
  };
  const reader = { readValue, freeCall, ...(planning.rounds > 0 && { answerOf }) };
  const { value: made, reply } = await askForJson(run, question, "plan", reader);
  return { made, said: assistant(reply.text, reply.native), plans: plans + freed, cached: false };
}

/** The answer to `wanted`. Throws what askForJson throws. */
export const findPlan = async <Made>(run: Run, kind: PlanKind<Made>, wanted: Wanted): Promise<Found<Made>> =>
  (await loadCached(run, kind, wanted)) ?? (await askForPlan(run, kind, wanted));
