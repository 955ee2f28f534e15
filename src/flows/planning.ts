/** From a request to an approved plan: one call, at most one repair, and one more call for each feedback. */

import { normalizeOutput } from "../core/command/check-output.ts";
import { dropClaim, startAnew } from "../core/dialogue.ts";
import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import type { Reading } from "../core/json.ts";
import { type Json, type Message, partOf } from "../core/model.ts";
import { planOfScript } from "../core/plan/at-once.ts";
import { readPlan } from "../core/plan/parse-plan.ts";
import { describeReply, type Plan, planSchema } from "../core/plan/plan.ts";
import { type CallPromise, planPromise, promiseOf } from "../core/plan/promise.ts";
import { scriptIn } from "../core/script/parser.ts";
import { readProse } from "../core/script/prose.ts";
import { isLook } from "../core/vocabulary.ts";
import { requireYes, takeYes } from "./approval.ts";
import { isBadReply, isTooLong, type ModelQuestion } from "./ask.ts";
import { type Briefing, makeBriefing, type Part } from "./briefing/briefing.ts";
import { tellBriefing, withNews } from "./dialogue.ts";
import { formedAnswer, readPlanOrAnswer } from "./ending/answer.ts";
import { lookAround, showMentioned } from "./evidence.ts";
import { askForJson } from "./json-reply.ts";
import { planOfAnswer } from "./phases.ts";
import {
  type AtOnce,
  answersInProse,
  looksUsedUp,
  mayLook,
  offerAtOnce,
  requestOf,
  sayOfWaiting,
  tryAtOnce,
} from "./plans/at-once.ts";
import { asOnDisk, type Presented, present, whyUnfit } from "./plans/present.ts";
import { planAndWorkPrompt } from "./prompts/prompts.ts";
import type { Run } from "./run.ts";

export const singleShotPlan: PlanKind<Plan> = {
  system: planAndWorkPrompt,
  format: { name: "plan", schema: describeReply(planSchema), isOptional: true },
  readValue: readPlan,
  planOf: (plan) => plan,
  promise: promiseOf,
  offer: offerAtOnce,
};

interface Draft<Made> extends Found<Made>, Presented {}

/** Makes a draft; if the provider finds the briefing too long, once more with a quarter of it. */
async function draftFitting<Made>(run: Run, kind: PlanKind<Made>, briefing: Briefing, key: string) {
  const wanted = { plans: 1, promiseAt: null, key };
  const system = systemOf(run, kind);
  try {
    return await makeOne(run, kind, { ...wanted, messages: await tellBriefing(run, system, briefing) });
  } catch (thrown) {
    if (!isTooLong(thrown)) throw thrown;
    const text = `${thrown.message}: asking once more with less of the project`;
    run.emit({ type: "notice", level: "warning", code: "briefing_too_long", text });
    startAnew(run.dialogue);
    run.planning.atOncePrompt = null;
    const less = await makeBriefing(run, 1 / 4);
    return makeOne(run, kind, { ...wanted, messages: await tellBriefing(run, systemOf(run, kind), less) });
  }
}

/** One draft, from the cache or from the model. Where the model asks to look first, looks and asks again. */
async function makeOne<Made>(run: Run, kind: PlanKind<Made>, wanted: Wanted): Promise<Draft<Made>> {
  const { planning } = run;
  const { key } = wanted;
  const found = await findPlan(run, kind, wanted);
  const { made, messages: spoken, plans, cached, atOnce } = found;
  if (key !== null && atOnce === null) planning.planned = [...planning.planned, { key, made: made as Json }];
  const plan = atOnce === null ? await asOnDisk(run, kind.planOf(made)) : kind.planOf(made);
  const again = (text: string, next: string | null) =>
    makeOne(run, kind, { ...wanted, messages: [...spoken, { role: "user", text }], plans: plans + 1, key: next });
  if (kind.planOf(made).intent === "look") {
    const text = await withNews(run, () => [lookAround(run, plan)]);
    return again(text, key === null ? null : keyBehindLooks(run, key, text));
  }
  const refusal = await refuseOnce(run, plan, atOnce === null ? "plan" : "script");
  if (refusal !== null) return again(refusal, null);
  if (cached) {
    const text = "the plan of an earlier run of the same request is used again (a request in other words plans anew)";
    run.emit({ type: "notice", level: "info", code: "plan_cached", text });
  }
  const isDone = atOnce !== null;
  const promise = isDone ? promiseAtOnce(plans) : kind.promise(made, plans);
  const presented = await present(run, plan, { promise, plans, cached, isDone });
  return { ...found, ...presented };
}

/** What tells the model, once, that its plan or script may not be; null: it may. */
async function refuseOnce(run: Run, plan: Plan, what: "plan" | "script"): Promise<string | null> {
  const { planning } = run;
  const unfit = planning.isMended || !mayMend(run) ? null : await whyUnfit(run, plan, what === "script");
  if (unfit === null) return null;
  planning.isMended = true;
  const hint = unfit.hint === null ? "" : `; ${unfit.hint}`;
  run.emit({ type: "notice", level: "info", code: unfit.code, text: `asking again: ${unfit.message}` });
  const refusal = `That ${what} is refused: ${unfit.message}${hint}.`;
  return withNews(run, () => [`${refusal}\nSend the whole ${what} again, without that.`]);
}

const mayMend = ({ calling, ledger, planning }: Run): boolean =>
  !planning.planOnly && (calling.caps.calls === null || ledger.made + 2 <= calling.caps.calls);

/** Shows a saved plan and asks for a yes; `isApproved`: only about what needs one of its own. Words count as a no. */
export async function presentSaved(run: Run, saved: Plan, promise: CallPromise, isApproved = false) {
  startAnew(run.dialogue);
  const { plan, claims } = await present(run, saved, { promise, plans: 0, cached: false });
  if (isApproved) await takeYes(run, claims);
  else if ((await requireYes(run, plan, claims)) !== null)
    throw new PaiError("declined", "a saved plan is carried out as it is; nothing was changed", {
      hint: "make a new one with: pai plan",
    });
  run.ledger.reserve(0);
  return { plan, claims };
}

/** The draft that a question of the person was about, shown again behind its answer. */
async function askAnew<Made>(
  run: Run,
  { made, plan, atOnce }: Draft<Made>,
  { messages, plans }: Found<Made>,
  promiseAt: (plans: number) => CallPromise,
): Promise<Draft<Made>> {
  const text = "nothing is done yet; this still waits for your yes";
  run.emit({ type: "notice", level: "info", code: "answered", text });
  const isDone = atOnce !== null;
  const presented = await present(run, plan, { promise: promiseAt(plans), plans, cached: false, isDone });
  return { made, atOnce, messages, plans, cached: false, ...presented };
}

export type ApprovedPlan<Made> = Pick<Draft<Made>, "made" | "plan" | "claims" | "atOnce">;

/**
 * Makes the plan, shows it, and asks until it is approved. A conversation needs no approval.
 * Throws approval_needed (headless without -y), declined, reply_invalid, path_refused, scope_refused, delete_refused.
 */
export async function makePlan<Made>(run: Run, kind: PlanKind<Made>): Promise<ApprovedPlan<Made>> {
  const briefing = await makeBriefing(run);
  for (const path of briefing.shown) run.reading.bases.add(path);
  run.reading.briefed = briefing.parts.flatMap(({ file }) => (file === null ? [] : [file.path]));
  const key = keyOfPlan(run, briefing, kind.system(run.changing.strict));
  run.planning.atOncePrompt = kind.offer?.(run, briefing) ?? null;
  let current = await draftFitting(run, kind, briefing, key);
  for (;;) {
    const { made, messages, plans, atOnce } = current;
    // Later requests learn from the record of the turn what the person said, so the order to answer again is dropped.
    const known = new Map(run.dialogue.files);
    const leave = (order?: readonly Message[]) => (thrown: unknown) => {
      if (run.dialogue.messages === order) Object.assign(run.dialogue, { messages, files: known });
      dropClaim(run.dialogue, run.task.dialogue?.messages);
      throw thrown;
    };
    const feedback = await requireYes(run, current.plan, current.claims, atOnce ?? undefined).catch(leave());
    if (feedback === null) break;
    run.planning.corrections = [...run.planning.corrections, feedback];
    // Not kept for later runs: the cache key does not hold the correction.
    run.planning.planned = [];
    const order =
      atOnce === null
        ? `Change the plan: ${feedback}\nSend the whole plan again.`
        : `Change this: ${feedback}\nNothing of it was done. Answer again as a whole.`;
    const text = await withNews(run, () => [showMentioned(run, feedback), order]);
    const promiseAt = (all: number) => (atOnce === null ? kind.promise(made, all) : promiseAtOnce(all));
    const said: readonly Message[] = [...messages, { role: "user", text }];
    const wanted = { messages: said, plans: plans + 1, promiseAt, key: null };
    const next = await makeOne(run, kind, wanted).catch(leave(said));
    current = next.plan.intent === "conversation" ? await askAnew(run, current, next, promiseAt) : next;
  }
  run.ledger.reserve(0);
  // A plan of an earlier run was never said in this dialogue: the work stands alone.
  if (current.cached) {
    startAnew(run.dialogue);
    run.planning.atOncePrompt = null;
  }
  return current;
}

/** How a mode plans: what it asks, how it reads the answer (a value of type Made), and what that promises. */
export interface PlanKind<Made> {
  readonly system: (isStrict: boolean) => string;
  readonly format: NonNullable<ModelQuestion["format"]>;
  readonly readValue: (value: Json) => Reading<Made>;
  readonly planOf: (made: Made) => Plan;
  /** `plans`: planning calls so far, including those for feedback, without repairs. */
  readonly promise: (made: Made, plans: number) => CallPromise;
  /** The prompt with which the first answer may be the work; absent or null: it may not. */
  readonly offer?: (run: Run, briefing: Briefing) => string | null;
}

export const systemOf = <Made>({ planning, changing }: Run, kind: PlanKind<Made>): string =>
  planning.atOncePrompt ?? kind.system(changing.strict);

interface Wanted {
  readonly messages: readonly Message[];
  /** Planning calls, this one included. */
  readonly plans: number;
  /** Returns the promise after this many planning calls; null until the model has made a plan. */
  readonly promiseAt: ((plans: number) => CallPromise) | null;
  readonly key: string | null;
  readonly isAgain?: boolean;
}

/**
 * What a model means that sends no JSON: an answer in prose, or, like a script, FINISH alone, looks or, where a plan of
 * its actions will do (`isPlain`), work; null: none of them. Records its next steps, and the words of a reply that nobody
 * asks for again.
 */
function answerOf(run: Run, text: string, isLast: boolean, isPlain: boolean): Pick<Plan, "intent" | "reply"> | null {
  const { ending, interactive, planning } = run;
  const formed = formedAnswer(run, text);
  if (formed !== null) return formed;
  if (answersInProse(run, readProse(text, requestOf(run)), isLast))
    return { intent: "conversation", reply: text.trim() };
  const script = scriptIn(text);
  const { actions } = script;
  const [finish] = actions;
  const planned = isPlain ? planOfAnswer(run, script, text) : null;
  if (planned !== null) return planned;
  if (isLast && actions.length === 0 && !/^\s*[[{]/.test(text)) ending.text = text.trim();
  if (actions.length > 0 && actions.every(({ cmd }) => isLook(cmd))) return planOfScript(script, "");
  if (actions.length !== 1 || finish?.cmd !== "FINISH" || !finish.arg) return null;
  if (!interactive && !planning.asksOnly && planning.rounds === 0) return null;
  ending.next = finish.next ?? [];
  return { intent: "conversation", reply: finish.arg };
}

const noLook = { ok: false, why: "no look is left; send the plan with its changes, or the whole answer" } as const;

const refuseLook = <Made>(run: Run, kind: PlanKind<Made>, reading: Reading<Made>): Reading<Made> =>
  !reading.ok || kind.planOf(reading.value).intent !== "look" || mayLook(run) ? reading : noLook;

interface Found<Made> {
  readonly made: Made;
  readonly messages: readonly Message[];
  /** Planning calls so far, including those for looks and feedback, without repairs. */
  readonly plans: number;
  readonly cached: boolean;
  readonly atOnce: AtOnce | null;
}

/** The cached answer to the same request; null: there is none, or it is a look and none is left. */
async function loadCached<Made>(run: Run, kind: PlanKind<Made>, { messages, key, plans }: Wanted) {
  if (key === null) return null;
  const saved: Json = run.planning.planCache?.load(key) ?? null;
  if (saved === null) return null;
  const reading = refuseLook(run, kind, kind.readValue(saved));
  if (!reading.ok) return null;
  const said: Message = { role: "assistant", text: JSON.stringify(reading.value), calls: [], native: null };
  return { made: reading.value, messages: [...messages, said], plans: plans - 1, cached: true, atOnce: null };
}

async function askForPlan<Made>(
  run: Run,
  kind: PlanKind<Made>,
  { messages, plans, promiseAt, isAgain = false }: Wanted,
): Promise<Found<Made>> {
  const { ledger, planning } = run;
  const promise = promiseAt?.(plans) ?? planPromise(run.planning.maxRounds);
  ledger.promise(promise);
  // One call is to spare for any use; the others are reserved for rounds of looks and for the work after the plan.
  ledger.reserve(Math.max(0, promise.at_most - plans - 1));
  const purpose = promiseAt === null || planning.rounds > 0 ? "plan" : "replan";
  const system = systemOf(run, kind);
  const question: ModelQuestion = { purpose, job: "plan", system, messages, format: kind.format };
  run.dialogue.messages = messages;
  let reading: Reading<Made> | null = null;
  const readValue = (json: Json, text: string) => {
    reading = refuseLook(run, kind, readPlanOrAnswer(run, json, text, kind));
    return reading;
  };
  let freed = 0;
  /** Gives up a round of looks for the call, so that the promise holds. */
  const freeCall = () => {
    if (promiseAt !== null || planning.rounds >= planning.maxRounds) return false;
    planning.rounds += 1;
    freed += 1;
    ledger.reserve(Math.max(0, promise.at_most - plans - 1 - freed));
    return ledger.spare;
  };
  const answer = (text: string, isLast: boolean) => {
    // Only a mode whose plans are plain plans offers the work at once.
    const meant = answerOf(run, text, isLast || isAgain, kind.offer !== undefined);
    if (meant !== null) sayOfWaiting(run, meant.reply);
    return meant;
  };
  const reader = { readValue, freeCall, answerOf: answer };
  const { value: made, messages: said } = await askForJson(run, question, reader).catch((thrown) => {
    throw isBadReply(thrown) && reading === noLook ? looksUsedUp(run) : thrown;
  });
  run.dialogue.messages = said;
  return { made, messages: said, plans: plans + freed, cached: false, atOnce: null };
}

/** The promise before the first answer, which may be the work: two calls where it is a plan. */
const firstPromise = (rounds: number): CallPromise => ({ ...planPromise(rounds), expected: 2 });
const promiseAtOnce = (made: number): CallPromise => ({ expected: made, at_most: made + 2 });

async function askForWork<Made>(run: Run, kind: PlanKind<Made>, system: string, wanted: Wanted): Promise<Found<Made>> {
  const { ledger } = run;
  const { messages, plans, promiseAt } = wanted;
  const promise = promiseAt?.(plans) ?? firstPromise(run.planning.maxRounds);
  ledger.promise(promise);
  ledger.reserve(Math.max(0, promise.at_most - plans - 1));
  const before = ledger.made;
  const first = await tryAtOnce(run, system, messages);
  const all = plans - 1 + Math.max(1, ledger.made - before);
  if (first.plan === null) return askForPlan(run, kind, { ...wanted, ...first, plans: all + 1 });
  return { made: first.plan as Made, messages: first.messages, plans: all, cached: false, atOnce: first.atOnce };
}

const findPlan = async <Made>(run: Run, kind: PlanKind<Made>, wanted: Wanted): Promise<Found<Made>> =>
  (await loadCached(run, kind, wanted)) ??
  (run.planning.atOncePrompt === null
    ? await askForPlan(run, kind, wanted)
    : await askForWork(run, kind, run.planning.atOncePrompt, wanted));

/** The cache key of a plan: sha256, hex. What differs from run to run (times in outputs, git's state) is no part of it. */
function keyOfPlan(run: Run, briefing: Briefing, system: string): string {
  const { calling, veil, workspace } = run;
  const model = partOf(calling.model, "plan");
  const keyOf = ({ kind, text }: Part): string =>
    kind === "checks" ? normalizeOutput(text) : kind === "environment" ? (run.reading.environment ?? "") : text;
  const parts = veil.blank(briefing.parts.map(keyOf).join("\n\n"));
  const effort = calling.effort?.plan ?? "";
  return digest([model.id, model.address ?? "", effort, workspace.root, system, parts].join("\0"));
}

const keyBehindLooks = ({ veil }: Run, key: string, found: string): string => digest(`${key}\0${veil.blank(found)}`);
