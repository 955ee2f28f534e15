/** From a request to an approved plan: one call, one repair at most, and one more for each word of feedback. */

import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import { listActions } from "../core/list-actions.ts";
import type { Json, Message } from "../core/model.ts";
import { describePlan } from "../core/plan/describe-plan.ts" with { type: "macro" };
import type { Plan } from "../core/plan/plan.ts";
import { type CallPromise, promiseOf } from "../core/plan/promise.ts";
import type { Reading } from "../core/plan/reading.ts";
import type { Claim } from "../core/plan/scope.ts";
import { namesPath } from "../core/vocabulary.ts";
import { claimsOfPlan, commandsOf, refuseForbidden, refuseLinks, requireYes, withoutCommands } from "./approval.ts";
import { bindCommands } from "./approve-command.ts";
import { isTooLong, type ModelQuestion, type Reply } from "./ask.ts";
import { type Briefing, makeBriefing } from "./briefing.ts";
import { askForJson, type LoadReader } from "./json-reply.ts";
import planPrompt from "./prompts/plan.md" with { type: "text" };
import type { Run } from "./run.ts";

/** sha256, hex. The briefing's text holds every excerpt and the tree, so it stands for their hashes. */
export function keyOfPlan(run: Run, briefing: Briefing, system: string): string {
  const { model, workspace } = run.ports;
  return digest([model.id, model.address ?? "", workspace.root, system, run.veil.blank(briefing.text)].join("\0"));
}

/** A way of planning that makes values of type Made: what is asked, how the answer is read, what it promises. */
export interface PlanKind<Made> {
  readonly system: string;
  readonly format: NonNullable<ModelQuestion["format"]>;
  /** Loads the reader of the answer. */
  readonly load: LoadReader<Made>;
  readonly planOf: (made: Made) => Plan;
  /** `plans` = planning calls so far, feedback included, repairs not. */
  readonly promise: (made: Made, plans: number) => CallPromise;
}

/** The plan of single-shot (spec 2.2). */
export const singleShotPlan: PlanKind<Plan> = {
  system: listActions(planPrompt),
  format: { name: "plan", schema: describePlan() },
  load: async () => (await import("../core/plan/parse-plan.ts")).readPlan,
  planOf: (plan) => plan,
  promise: promiseOf,
};

/** What a plan promises, and how many planning calls that counts. */
interface Offer {
  readonly promise: CallPromise;
  readonly plans: number;
  readonly cached: boolean;
}

async function announce(run: Run, plan: Plan, { promise, plans, cached }: Offer): Promise<void> {
  run.ledger.promise(promise);
  // Another planning call may take the one spare, never a call the execution needs.
  run.ledger.reserve(Math.max(0, promise.at_most - plans - 1));
  run.record.plan = plan;
  if (plan.intent === "conversation") return;
  const { forecast } = await import("./forecast.ts");
  const { expected, at_most } = promise;
  run.emit({ type: "plan.ready", plan, promise: { expected, at_most, ...(await forecast(run, plan)) }, cached });
}

/** A plan that was announced, and what was said to get it. */
interface Draft<Made> {
  readonly made: Made;
  readonly plan: Plan;
  readonly claims: readonly Claim[];
  readonly messages: readonly Message[];
}

/** A plan as it will be carried out, and what it claims. */
type Presented = Pick<Draft<unknown>, "plan" | "claims">;

/** Shows the plan with its promise; refuses at once what no yes may allow. */
async function present(run: Run, made: Plan, offer: Offer): Promise<Presented> {
  const plan = withoutCommands(run, made);
  await announce(run, plan, offer);
  const claims = plan.intent === "task" ? claimsOfPlan(run, plan) : [];
  await refuseForbidden(run, claims);
  await refuseLinks(run, claims);
  await bindCommands(run, commandsOf(plan, claims));
  return { plan, claims };
}

async function loadCached<Made>(run: Run, kind: PlanKind<Made>, key: string): Promise<Made | null> {
  const saved: Json = (await run.ports.planCache?.load(key)) ?? null;
  if (saved === null) return null;
  const reading = (await kind.load())(saved);
  return reading.ok ? reading.value : null;
}

const assistant = (text: string, native: Reply["native"]): Message => ({ role: "assistant", text, calls: [], native });

async function draft<Made>(run: Run, kind: PlanKind<Made>, briefing: Briefing, key: string): Promise<Draft<Made>> {
  const start: Message[] = [{ role: "user", text: briefing.text }];
  const cached = await loadCached(run, kind, key);
  if (cached !== null) {
    const text = "the plan of an earlier run of the same request is used again (--no-plan-cache asks anew)";
    run.emit({ type: "notice", level: "info", code: "plan_cached", text });
    const offer = { promise: kind.promise(cached, 0), plans: 0, cached: true };
    const presented = await present(run, kind.planOf(cached), offer);
    return { made: cached, ...presented, messages: [...start, assistant(JSON.stringify(cached), null)] };
  }
  return makeOne(run, kind, start, 1);
}

/** A draft; where the provider finds the briefing longer than what it takes, one from a quarter of it. */
async function draftFitting<Made>(
  run: Run,
  kind: PlanKind<Made>,
  briefing: Briefing,
  key: string,
): Promise<Draft<Made>> {
  try {
    return await draft(run, kind, briefing, key);
  } catch (thrown) {
    if (!isTooLong(thrown)) throw thrown;
    const text = `${thrown.message}: asking once more with less of the project`;
    run.emit({ type: "notice", level: "warning", code: "briefing_too_long", text });
    const less = await makeBriefing(run, 1 / 4);
    return makeOne(run, kind, [{ role: "user", text: less.text }], 1);
  }
}

/** A plan that spells a path of the project from the root of the disk is asked for again; it would be refused. */
function refuseAbsolute<Made>({ ports }: Run, kind: PlanKind<Made>, reading: Reading<Made>): Reading<Made> {
  const root = `${ports.workspace.root}/`;
  const steps = reading.ok ? (kind.planOf(reading.value).execution_plan?.steps ?? []) : [];
  const paths = steps.flatMap(({ action, target, destination }) =>
    namesPath(action) ? [target, destination ?? ""] : [],
  );
  const absolute = [...new Set(paths.filter((path) => path.startsWith(root)))];
  const why = absolute.map((path) => `write ${path} relative to the project root: ${path.slice(root.length)}`);
  return why.length === 0 ? reading : { ok: false, why: why.join("; ") };
}

/** Asks for a plan in one message, or with more of them for another one. `plans`: planning calls, this one included. */
async function makeOne<Made>(
  run: Run,
  kind: PlanKind<Made>,
  messages: readonly Message[],
  plans: number,
): Promise<Draft<Made>> {
  const purpose = messages.length === 1 ? "plan" : "replan";
  const question: ModelQuestion = { purpose, system: kind.system, messages, format: kind.format };
  const { value: made, reply } = await askForJson(run, question, "plan", async () => {
    const read = await kind.load();
    return (json) => refuseAbsolute(run, kind, read(json));
  });
  const offer = { promise: kind.promise(made, plans), plans, cached: false };
  const presented = await present(run, kind.planOf(made), offer);
  return { made, ...presented, messages: [...messages, assistant(reply.text, reply.native)] };
}

/** Shows a saved plan and asks for a yes. It cannot be changed by feedback: that is a no. */
export async function presentSaved(run: Run, saved: Plan, promise: CallPromise): Promise<Presented> {
  const { plan, claims } = await present(run, saved, { promise, plans: 0, cached: false });
  const feedback = await requireYes(run, plan, claims);
  if (feedback !== null)
    throw new PaiError("declined", "a saved plan is carried out as it is; nothing was changed", {
      hint: "make a new one with: pai plan",
    });
  return { plan, claims };
}

export interface ApprovedPlan<Made> {
  /** As the model wrote it. */
  readonly made: Made;
  /** As it is carried out. */
  readonly plan: Plan;
  readonly claims: readonly Claim[];
  /** For the plan cache; null: the user corrected the plan, and whoever takes it again would not know how. */
  readonly key: string | null;
}

/**
 * Makes the plan, shows it, and asks until it is approved. A conversation needs no approval.
 * Throws approval_needed (headless without -y), declined, reply_invalid, path_refused, scope_refused, delete_refused.
 */
export async function makePlan<Made>(run: Run, kind: PlanKind<Made>): Promise<ApprovedPlan<Made>> {
  const briefing = await makeBriefing(run);
  for (const path of briefing.shown) run.record.bases.add(path);
  const key = keyOfPlan(run, briefing, kind.system);
  run.record.planKey = key;
  let current = await draftFitting(run, kind, briefing, key);
  let plans = run.ledger.made === 0 ? 0 : 1;
  for (;;) {
    const feedback = await requireYes(run, current.plan, current.claims);
    if (feedback === null) break;
    plans += 1;
    run.record.corrections = [...run.record.corrections, feedback];
    run.ledger.promise(kind.promise(current.made, plans));
    const request = `Change the plan: ${feedback}\nSend the whole plan again.`;
    current = await makeOne(run, kind, [...current.messages, { role: "user", text: request }], plans);
  }
  run.ledger.reserve(0);
  return {
    made: current.made,
    plan: current.plan,
    claims: current.claims,
    key: run.record.corrections.length === 0 ? key : null,
  };
}
