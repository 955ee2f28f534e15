/** A plan for one message, or a wish to look: from the cache of earlier runs, or from the model. */
import type { Json, Message } from "../../core/model.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { type CallPromise, maxRounds, planPromise } from "../../core/plan/promise.ts";
import type { Reading } from "../../core/plan/reading.ts";
import type { Reply } from "../ask.ts";
import type { ModelQuestion } from "../fit-request.ts";
import { askForJson, type LoadReader } from "../json-reply.ts";
import type { Run } from "../run.ts";

/** A way of planning that makes values of type Made: what is asked, how the answer is read, what it promises. */
export interface PlanKind<Made> {
  readonly system: string;
  readonly format: NonNullable<ModelQuestion["format"]>;
  /** Loads the reader of the answer. */
  readonly load: LoadReader<Made>;
  readonly planOf: (made: Made) => Plan;
  /** Whether it asks to see more first. */
  readonly looks: (made: Made) => boolean;
  /** `plans` = planning calls so far, feedback included, repairs not. */
  readonly promise: (made: Made, plans: number) => CallPromise;
}

/** A request for a plan: what was said so far, and what is promised as long as the plan is not there. */
export interface Wanted {
  readonly messages: readonly Message[];
  /** Planning calls, this one included. */
  readonly plans: number;
  readonly promiseAt: (plans: number) => CallPromise;
  /** What the plan is kept by, to be used again; null: it is not. */
  readonly key: string | null;
}

/** Rounds of looks are part of what is promised before any plan is known. */
export const promiseOfPlanning = (): CallPromise => planPromise;

/** The answer of a model that ends its looks with FINISH, as a script does, in place of JSON; null: it does not. */
async function answerOf(run: Run, text: string): Promise<Json | null> {
  const [{ completeFinish }, { parseScript }] = await Promise.all([
    import("../../core/script/finish.ts"),
    import("../../core/script/parser.ts"),
  ]);
  const { actions } = completeFinish(parseScript(text, { stop: "end", read: () => null, tag: "EOT" }), text, "EOT");
  const [finish] = actions;
  if (actions.length !== 1 || finish?.cmd !== "FINISH" || !finish.arg) return null;
  run.record.next = finish.next ?? [];
  return { intent: "conversation", reply: finish.arg };
}

/** A look when none is left is not a plan. */
function refuseLook<Made>(run: Run, kind: PlanKind<Made>, reading: Reading<Made>): Reading<Made> {
  if (!reading.ok || !kind.looks(reading.value) || run.record.rounds < maxRounds) return reading;
  return { ok: false, why: "no look is left; send the plan with its changes, or the whole answer" };
}

/** A plan, or a wish to look, and how it came. */
interface Found<Made> {
  readonly made: Made;
  readonly said: Message;
  /** Planning calls so far, with it. */
  readonly plans: number;
  readonly cached: boolean;
}

/** What an earlier run was told in the same place; null: nothing, or no look is left for it. */
async function loadCached<Made>(run: Run, kind: PlanKind<Made>, { key, plans }: Wanted): Promise<Found<Made> | null> {
  if (key === null) return null;
  const saved: Json = (await run.ports.planCache?.load(key)) ?? null;
  if (saved === null) return null;
  const reading = refuseLook(run, kind, (await kind.load())(saved));
  if (!reading.ok) return null;
  return { made: reading.value, said: assistant(JSON.stringify(reading.value), null), plans: plans - 1, cached: true };
}

const assistant = (text: string, native: Reply["native"]): Message => ({ role: "assistant", text, calls: [], native });

/** Asks the model. */
async function askForPlan<Made>(
  run: Run,
  kind: PlanKind<Made>,
  { messages, plans, promiseAt }: Wanted,
): Promise<Found<Made>> {
  const { ledger, record } = run;
  const promise = promiseAt(plans);
  ledger.promise(promise);
  // One call is to spare, whatever it is used for; the others are for rounds of looks and for what comes after the plan.
  ledger.reserve(Math.max(0, promise.at_most - plans - 1));
  const purpose = messages.length === 1 || record.rounds > 0 ? "plan" : "replan";
  const question: ModelQuestion = { purpose, system: kind.system, messages, format: kind.format };
  const load = async () => {
    const read = await kind.load();
    return (json: Json) => refuseLook(run, kind, read(json));
  };
  let freed = 0;
  /** A round of looks is given up for it: the promise is not passed. */
  const freeCall = () => {
    if (promiseAt !== promiseOfPlanning || record.rounds >= maxRounds) return false;
    record.rounds += 1;
    freed += 1;
    ledger.reserve(Math.max(0, promise.at_most - plans - 1 - freed));
    return ledger.spare;
  };
  const reader = { load, freeCall, ...(record.rounds > 0 && { answerOf }) };
  const { value: made, reply } = await askForJson(run, question, "plan", reader);
  return { made, said: assistant(reply.text, reply.native), plans: plans + freed, cached: false };
}

/** The answer to `wanted`. Throws what askForJson throws. */
export const findPlan = async <Made>(run: Run, kind: PlanKind<Made>, wanted: Wanted): Promise<Found<Made>> =>
  (await loadCached(run, kind, wanted)) ?? (await askForPlan(run, kind, wanted));
