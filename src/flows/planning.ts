/** From a request to an approved plan: one call, at most one repair, and one more call for each feedback. */

import { permittedBy } from "../core/command/run-patterns.ts";
import { maxShown, maxWhole } from "../core/context/shown.ts";
import { PaiError } from "../core/error.ts";
import type { Json, Message } from "../core/model.ts";
import { readPlan } from "../core/plan/parse-plan.ts";
import { asksToLook, type Plan } from "../core/plan/plan.ts";
import { type CallPromise, maxRounds, promiseOf } from "../core/plan/promise.ts";
import { planJsonSchema } from "../core/plan/reply-schemas.ts";
import type { PlanClaim } from "../core/plan/scope.ts";
import { namesPath, type PlanAction, rowOf } from "../core/vocabulary.ts";
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
import { isTooLong } from "./ask.ts";
import { type Briefing, makeBriefing } from "./briefing/briefing.ts";
import { bindCommands } from "./commands/approve-command.ts";
import { filesOf, lookAround } from "./evidence.ts";
import { findPlan, type PlanKind, type Wanted } from "./plans/find-plan.ts";
import { keyBehindLooks, keyOfPlan } from "./plans/kept-plans.ts";
import { executeLength, planPrompt } from "./prompts/prompts.ts";
import type { Run } from "./run.ts";

/** How single-shot plans. */
export const singleShotPlan: PlanKind<Plan> = {
  system: planPrompt(),
  format: { name: "plan", schema: planJsonSchema },
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
  run.emit({
    type: "plan.ready",
    ...announced,
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
}

/** A plan as it will be carried out, and its claims. */
type Presented = Pick<Draft<unknown>, "plan" | "claims">;

/** The plan with absolute paths below the root made relative. */
function withRelativePaths({ overlay }: Run, plan: Plan): Plan {
  if (plan.execution_plan === null) return plan;
  const relative = (text: string): string => {
    if (!text.startsWith("/")) return text;
    try {
      return overlay.path(text, "list") || ".";
    } catch {
      return text;
    }
  };
  const steps = plan.execution_plan.steps.map((step) =>
    namesPath(step.action)
      ? { ...step, target: relative(step.target), destination: step.destination && relative(step.destination) }
      : step,
  );
  return { ...plan, execution_plan: { ...plan.execution_plan, steps } };
}

/** Announces the plan with its promise; refuses at once what not even a yes may allow. */
async function present(run: Run, made: Plan, offer: Offer): Promise<Presented> {
  const whole = withRelativePaths(run, made);
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
  try {
    return await makeOne(run, kind, { ...wanted, messages: [{ role: "user", text: briefing.text }] });
  } catch (thrown) {
    if (!isTooLong(thrown)) throw thrown;
    const text = `${thrown.message}: asking once more with less of the project`;
    run.emit({ type: "notice", level: "warning", code: "briefing_too_long", text });
    const less = await makeBriefing(run, 1 / 4);
    return makeOne(run, kind, { ...wanted, messages: [{ role: "user", text: less.text }] });
  }
}

/**
 * One draft, from the cache or from the model. When the model asks to look first, does the looks and asks again, as
 * often as allowed; the results of looks become part of the plan's cache key.
 */
async function makeOne<Made>(run: Run, kind: PlanKind<Made>, wanted: Wanted): Promise<Draft<Made>> {
  const { planning } = run;
  const { messages, key } = wanted;
  const found = await findPlan(run, kind, wanted);
  const { made, said, plans, cached } = found;
  if (key !== null) planning.planned = [...planning.planned, { key, made: made as Json }];
  const plan = kind.planOf(made);
  const spoken = [...messages, said];
  if (kind.looks(made)) {
    planning.rounds += 1;
    const text = await lookAround(run, plan, maxRounds - planning.rounds);
    const next = key === null ? null : keyBehindLooks(run, key, text);
    return makeOne(run, kind, {
      ...wanted,
      messages: [...spoken, { role: "user", text }],
      plans: plans + 1,
      key: next,
    });
  }
  if (cached) {
    const text = "the plan of an earlier run of the same request is used again (--no-plan-cache plans again)";
    run.emit({ type: "notice", level: "info", code: "plan_cached", text });
  }
  const presented = await present(run, plan, { promise: kind.promise(made, plans), plans, cached });
  return { plans, made, ...presented, messages: spoken };
}

/** Shows a saved plan and asks for a yes. Feedback counts as a no, since a saved plan cannot be changed. */
export async function presentSaved(run: Run, saved: Plan, promise: CallPromise): Promise<Presented> {
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
  const { plan, claims } = await present(run, saved, { promise, plans: 0, cached: false });
  await takeYes(run, claims);
  run.ledger.reserve(0);
  return { plan, claims };
}

export interface ApprovedPlan<Made> {
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
  run.reading.briefed = briefing.parts.flatMap(({ file, text }) => (file === null ? [] : [{ path: file.path, text }]));
  const key = keyOfPlan(run, briefing, kind.system);
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
  return { made: current.made, plan: current.plan, claims: current.claims };
}

/** Estimated characters of a look's answer before the look is done. */
const maxOfLook = 2000;
/** Estimated characters that a model writes for an action, and for FINISH. */
const written: Readonly<Partial<Record<PlanAction, number>>> = { WRITE: 2400, MODIFY: 800 };
const shortAction = 60;
const finishText = 400;

/** Characters of the files that a plan names, without those that are missing or may not be read. */
async function sizeOfFiles(run: Run, plan: Plan): Promise<number> {
  const { paths, edited } = filesOf(run, plan);
  let size = 0;
  for (const path of paths) {
    const blob = await run.overlay.read(path).catch(() => null);
    if (blob?.kind === "file") size += Math.min(blob.bytes.length, edited.has(path) ? maxWhole : maxShown);
  }
  return size;
}

/** Estimates what the whole run will have used at its end: tokens, and USD (null: price unknown). */
async function forecast(run: Run, plan: Plan): Promise<{ readonly tokens: number; readonly cost: number | null }> {
  const { ledger, task } = run;
  const steps = plan.execution_plan?.steps ?? [];
  let sent =
    executeLength() +
    task.text.length +
    (task.context?.length ?? 0) +
    JSON.stringify(steps).length / 2 +
    (await sizeOfFiles(run, plan));
  let output = finishText;
  for (const { action } of steps) {
    const row = rowOf(action);
    if (row?.kind === "look" && !row.shows) sent += maxOfLook;
    output += written[action] ?? shortAction;
  }
  const calls = Math.max(0, ledger.promised.expected - ledger.made);
  const rest = { input: calls * ledger.estimate(sent), cached: 0, output: calls * ledger.estimate(output), thought: 0 };
  const price = ledger.priceOf(rest);
  return {
    tokens: ledger.usage.input + ledger.usage.output + rest.input + rest.output,
    cost: price === null || ledger.cost === null ? null : ledger.cost + price,
  };
}
