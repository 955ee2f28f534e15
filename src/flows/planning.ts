/** From a request to an approved plan: one call, at most one repair, and one more call for each feedback. */

import { normalizeOutput } from "../core/command/check-output.ts";
import { permittedBy } from "../core/command/run-patterns.ts";
import { startAnew } from "../core/dialogue.ts";
import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import { type Json, type Message, partOf, sizeOf, type Usage, weighedOf } from "../core/model.ts";
import type { Promised } from "../core/outcome.ts";
import { readPlan } from "../core/plan/parse-plan.ts";
import { asksToLook, type Plan } from "../core/plan/plan.ts";
import { type CallPromise, maxRounds, planPromise, promiseOf } from "../core/plan/promise.ts";
import type { Reading } from "../core/plan/reading.ts";
import { planJsonSchema } from "../core/plan/reply-schemas.ts";
import type { PlanClaim } from "../core/plan/scope.ts";
import { completeFinish } from "../core/script/finish.ts";
import { parseScript } from "../core/script/parser.ts";
import { type PlanAction, rowOf } from "../core/vocabulary.ts";
import {
  claimsOfPlan,
  concernsOf,
  plannedCommands,
  refusedCommands,
  refuseForbidden,
  refuseLinks,
  requireYes,
  takeYes,
  withoutCommands,
} from "./approval.ts";
import { isTooLong, type ModelQuestion } from "./ask.ts";
import { type Briefing, makeBriefing, type Part } from "./briefing/briefing.ts";
import { readNested } from "./briefing/guides.ts";
import { tellBriefing } from "./briefing/tell-briefing.ts";
import { bindCommands } from "./commands/commands.ts";
import type { RunEnding } from "./ending/ending.ts";
import { lookAround } from "./evidence.ts";
import { askForJson, type ReadValue } from "./json-reply.ts";
import { sizeOfFiles } from "./plan-files.ts";
import type { Planning } from "./plans/plan-state.ts";
import { whyUnfit, withRealPaths } from "./plans/real-paths.ts";
import { workPrompt } from "./prompts/prompts.ts";
import type { Run } from "./run.ts";

/** How single-shot plans. */
export const singleShotPlan: PlanKind<Plan> = {
  system: workPrompt,
  format: { name: "plan", schema: planJsonSchema, isOptional: true },
  readValue: readPlan,
  planOf: (plan) => plan,
  looks: asksToLook,
  promise: promiseOf,
};

/** What a plan promises, and how many planning calls are part of that. */
interface Offer {
  readonly promise: CallPromise;
  readonly plans: number;
  readonly cached: boolean;
}

async function announce(run: Run, { plan, claims }: Presented, { promise, plans, cached }: Offer): Promise<void> {
  run.ledger.promise(promise);
  // Another planning call may take the spare call, but never one that the execution needs.
  run.ledger.reserve(Math.max(0, promise.at_most - plans - 1));
  run.planning.plan = plan;
  if (plan.intent === "conversation") return;
  const permitted = permittedBy(run.shell.allowRun, plannedCommands(plan));
  const { expected, at_most } = run.ledger.promised;
  const announced = { plan, promise: { expected, at_most, ...(await forecast(run, plan)) }, cached };
  const concerns = concernsOf(run, claims);
  await readNested(run, claims);
  const guides = [...run.reading.guides, ...run.reading.nested.map(({ path }) => path)];
  run.emit({
    type: "plan.ready",
    ...announced,
    ...(guides.length > 0 && { guides }),
    ...(permitted.length > 0 && { permitted }),
    ...(concerns.length > 0 && { concerns }),
  });
}

/** A plan that was announced, and the messages that led to it. */
interface Draft<Made> {
  /** Planning calls so far, including those for looks and feedback, without repairs. */
  readonly plans: number;
  readonly made: Made;
  readonly plan: Plan;
  readonly claims: readonly PlanClaim[];
  readonly messages: readonly Message[];
  readonly cached: boolean;
}

/** A plan as it will be carried out, and its claims. */
type Presented = Pick<Draft<unknown>, "plan" | "claims">;

/** Announces the plan with its promise; refuses at once what not even a yes may allow. */
async function present(run: Run, made: Plan, offer: Offer): Promise<Presented> {
  const whole = withRealPaths(run, made);
  const plan = withoutCommands(run, whole);
  const claimed = plan.intent === "task" ? claimsOfPlan(run, plan) : { claims: [], refusals: [] };
  const { claims } = claimed;
  // Of a plan that is refused for its commands the commands are shown.
  const shown = refusedCommands(run, claimed).length > 0 ? whole : plan;
  await announce(run, { plan: shown, claims }, offer);
  await refuseForbidden(run, claimed);
  await refuseLinks(run, claims);
  await bindCommands(run, plannedCommands(plan));
  return { plan, claims };
}

/** Makes a draft; if the provider finds the briefing too long, once more with a quarter of it. */
async function draftFitting<Made>(
  run: Run,
  kind: PlanKind<Made>,
  briefing: Briefing,
  key: string,
): Promise<Draft<Made>> {
  const wanted = { plans: 1, promiseAt: null, key };
  const system = kind.system(run.changing.strict);
  try {
    return await makeOne(run, kind, { ...wanted, messages: await tellBriefing(run, system, briefing) });
  } catch (thrown) {
    if (!isTooLong(thrown)) throw thrown;
    const text = `${thrown.message}: asking once more with less of the project`;
    run.emit({ type: "notice", level: "warning", code: "briefing_too_long", text });
    startAnew(run.dialogue);
    const less = await makeBriefing(run, 1 / 4);
    return makeOne(run, kind, { ...wanted, messages: await tellBriefing(run, system, less) });
  }
}

/**
 * One draft, from the cache or from the model. When the model asks to look first, does the looks and asks again, as
 * often as allowed; the results of looks become part of the plan's cache key.
 */
async function makeOne<Made>(run: Run, kind: PlanKind<Made>, wanted: Wanted): Promise<Draft<Made>> {
  const { planning } = run;
  const { key } = wanted;
  const { made, messages: spoken, plans, cached } = await findPlan(run, kind, wanted);
  if (key !== null) planning.planned = [...planning.planned, { key, made: made as Json }];
  const plan = kind.planOf(made);
  if (kind.looks(made)) {
    const text = await lookAround(run, plan);
    const next = key === null ? null : keyBehindLooks(run, key, text);
    return makeOne(run, kind, {
      ...wanted,
      messages: [...spoken, { role: "user", text }],
      plans: plans + 1,
      key: next,
    });
  }
  const unfit = planning.isMended || !mayMend(run) ? null : await whyUnfit(run, plan);
  if (unfit !== null) {
    planning.isMended = true;
    const hint = unfit.hint === null ? "" : `; ${unfit.hint}`;
    run.emit({ type: "notice", level: "info", code: unfit.code, text: `asking again: ${unfit.message}` });
    const text = `That plan is refused: ${unfit.message}${hint}.\nSend the whole plan again, without that.`;
    return makeOne(run, kind, {
      ...wanted,
      messages: [...spoken, { role: "user", text }],
      plans: plans + 1,
      key: null,
    });
  }
  if (cached) {
    const text = "the plan of an earlier run of the same request is used again (a request in other words plans anew)";
    run.emit({ type: "notice", level: "info", code: "plan_cached", text });
  }
  const presented = await present(run, plan, { promise: kind.promise(made, plans), plans, cached });
  return { plans, made, ...presented, messages: spoken, cached };
}

/** Whether a call is left to mend a plan with, beside the one for its work. */
const mayMend = ({ calling, ledger, planning }: Run): boolean =>
  !planning.planOnly && (calling.caps.calls === null || ledger.made + 2 <= calling.caps.calls);

/** Shows a saved plan and asks for a yes. Feedback counts as a no, since a saved plan cannot be changed. */
export async function presentSaved(run: Run, saved: Plan, promise: CallPromise): Promise<Presented> {
  startAnew(run.dialogue);
  const { plan, claims } = await present(run, saved, { promise, plans: 0, cached: false });
  const feedback = await requireYes(run, plan, claims);
  if (feedback !== null)
    throw new PaiError("declined", "a saved plan is carried out as it is; nothing was changed", {
      hint: "make a new one with: pai plan",
    });
  return { plan, claims };
}

/** Shows a plan that was approved before; asks again only about what needs a yes of its own. */
export async function presentApproved(run: Run, saved: Plan, promise: CallPromise): Promise<Presented> {
  startAnew(run.dialogue);
  const { plan, claims } = await present(run, saved, { promise, plans: 0, cached: false });
  await takeYes(run, claims);
  run.ledger.reserve(0);
  return { plan, claims };
}

interface ApprovedPlan<Made> {
  /** The plan as the model wrote it. */
  readonly made: Made;
  /** The plan as it is carried out. */
  readonly plan: Plan;
  readonly claims: readonly PlanClaim[];
}

/**
 * Makes the plan, shows it, and asks until it is approved. A conversation needs no approval.
 * Throws approval_needed (headless without -y), declined, reply_invalid, path_refused, scope_refused, delete_refused.
 */
export async function makePlan<Made>(run: Run, kind: PlanKind<Made>): Promise<ApprovedPlan<Made>> {
  const briefing = await makeBriefing(run);
  for (const path of briefing.shown) run.reading.bases.add(path);
  run.reading.briefed = briefing.parts.flatMap(({ file }) => (file === null ? [] : [file.path]));
  const key = keyOfPlan(run, briefing, kind.system(run.changing.strict));
  let current = await draftFitting(run, kind, briefing, key);
  for (;;) {
    const feedback = await requireYes(run, current.plan, current.claims);
    if (feedback === null) break;
    const { made, messages, plans } = current;
    run.planning.corrections = [...run.planning.corrections, feedback];
    // Not kept for later runs: the cache key does not hold the correction.
    run.planning.planned = [];
    const request: Message = { role: "user", text: `Change the plan: ${feedback}\nSend the whole plan again.` };
    const promiseAt = (all: number) => kind.promise(made, all);
    current = await makeOne(run, kind, { messages: [...messages, request], plans: plans + 1, promiseAt, key: null });
  }
  run.ledger.reserve(0);
  // A plan of an earlier run was never said in this dialogue: the work stands alone.
  if (current.cached) startAnew(run.dialogue);
  return { made: current.made, plan: current.plan, claims: current.claims };
}

/** Estimated characters of a look's answer before the look is done. */
const maxOfLook = 2000;
/** Estimated characters that a model writes for an action, and for FINISH. */
const written: Readonly<Partial<Record<PlanAction, number>>> = { WRITE: 2400, MODIFY: 800 };
const shortAction = 60;
const finishText = 400;

/** Estimates what the whole run will have used at its end: tokens, the same weighed, and USD (null: price unknown). */
async function forecast(run: Run, plan: Plan): Promise<Pick<Promised, "tokens" | "weighed" | "cost">> {
  const { ledger, task } = run;
  const steps = plan.execution_plan?.steps ?? [];
  const { dialogue } = run;
  const repeated =
    dialogue.messages.length === 0
      ? workPrompt(run.changing.strict).length + task.text.length + (task.context?.length ?? 0)
      : dialogue.messages.reduce((sum, message) => sum + sizeOf(message), dialogue.head.length);
  let sent = JSON.stringify(steps).length / 2 + (await sizeOfFiles(run, plan));
  let output = finishText;
  for (const { action } of steps) {
    const row = rowOf(action);
    if (row?.kind === "look" && !row.shows) sent += maxOfLook;
    output += written[action] ?? shortAction;
  }
  const calls = Math.max(0, ledger.promised.expected - ledger.made);
  // The price is the full one: a cache may miss.
  const rest: Usage = {
    input: calls * ledger.estimate(repeated + sent),
    cached: 0,
    output: calls * ledger.estimate(output),
    thought: 0,
  };
  const price = ledger.priceOf(rest);
  const kept = dialogue.messages.length === 0 ? 0 : calls * ledger.estimate(repeated);
  return {
    tokens: ledger.usage.input + ledger.usage.output + rest.input + rest.output,
    weighed: weighedOf(ledger.usage) + weighedOf({ ...rest, cached: kept }),
    cost: price === null || ledger.cost === null ? null : ledger.cost + price,
  };
}

/** How a mode plans: what it asks, how it reads the answer (a value of type Made), and what that promises. */
export interface PlanKind<Made> {
  /** The system prompt of the plan. */
  readonly system: (isStrict: boolean) => string;
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
interface Wanted {
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
  /** The messages that led to it, with the answer. */
  readonly messages: readonly Message[];
  /** Planning calls so far, this one included. */
  readonly plans: number;
  readonly cached: boolean;
}

/** The cached answer to the same request; null: there is none, or it is a look and none is left. */
async function loadCached<Made>(
  run: Run,
  kind: PlanKind<Made>,
  { messages, key, plans }: Wanted,
): Promise<Found<Made> | null> {
  if (key === null) return null;
  const saved: Json = (await run.planning.planCache?.load(key)) ?? null;
  if (saved === null) return null;
  const reading = refuseLook(run, kind, kind.readValue(saved));
  if (!reading.ok) return null;
  const said: Message = { role: "assistant", text: JSON.stringify(reading.value), calls: [], native: null };
  return { made: reading.value, messages: [...messages, said], plans: plans - 1, cached: true };
}

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
  const purpose = promiseAt === null || planning.rounds > 0 ? "plan" : "replan";
  const system = kind.system(run.changing.strict);
  const question: ModelQuestion = { purpose, job: "plan", system, messages, format: kind.format };
  run.dialogue.messages = messages;
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
  const { value: made, messages: said } = await askForJson(run, question, "plan", reader);
  run.dialogue.messages = said;
  return { made, messages: said, plans: plans + freed, cached: false };
}

/** The answer to `wanted`. Throws what askForJson throws. */
const findPlan = async <Made>(run: Run, kind: PlanKind<Made>, wanted: Wanted): Promise<Found<Made>> =>
  (await loadCached(run, kind, wanted)) ?? (await askForPlan(run, kind, wanted));

/**
 * The cache key of a plan: sha256, hex. The briefing's text covers excerpts, tree and standard input. Two parts are
 * replaced: outputs of checks by normalized ones, and the environment by one without git's state.
 */
function keyOfPlan(run: Run, briefing: Briefing, system: string): string {
  const { workspace } = run;
  const model = partOf(run.calling.model, "plan");
  const keyOf = ({ kind, text }: Part): string =>
    kind === "checks" ? normalizeOutput(text) : kind === "environment" ? (run.reading.environment ?? "") : text;
  const parts = briefing.parts.map(keyOf).join("\n\n");
  return digest(
    [model.id, model.address ?? "", run.calling.effort?.plan ?? "", workspace.root, system, run.veil.blank(parts)].join(
      "\0",
    ),
  );
}

/** The cache key of the plan that follows looks, which also covers their results. */
const keyBehindLooks = ({ veil }: Run, key: string, found: string): string => digest(`${key}\0${veil.blank(found)}`);

/** Keeps the plan of this run, and the looks before it, for a later run with the same request and files. */
export async function keepPlans(planning: Readonly<Planning>): Promise<void> {
  for (const { key, made } of planning.planned) await planning.planCache?.save(key, made);
}
