/** From a request to an approved plan: one call, one repair at most, and one more for each word of feedback. */

import { PaiError } from "../core/error.ts";
import { createReplyReader, readJson } from "../core/json.ts";
import type { Message } from "../core/model.ts";
import type { RelPath } from "../core/path.ts";
import type { PlanReading } from "../core/plan.ts";
import { describePlan } from "../core/plan-schema.ts" with { type: "macro" };
import type { Plan } from "../core/plan-type.ts";
import { promiseOf } from "../core/promise.ts";
import { type Claim, claimsOf, pathsOfClaim, rightOf } from "../core/scope.ts";
import { ask, type Reply } from "./ask.ts";
import { type Briefing, makeBriefing } from "./briefing.ts";
import { toClaimPath, withinOnly } from "./perform.ts";
import { keyOfPlan } from "./plan-key.ts";
import planPrompt from "./prompts/plan.md" with { type: "text" };
import type { Run } from "./run.ts";

const schema = describePlan();

/** The plan a run goes by, and how many calls it took to make it. */
export interface MadePlan {
  readonly plan: Plan;
  readonly cached: boolean;
}

async function askForPlan(
  run: Run,
  messages: readonly Message[],
  purpose: "plan" | "replan" | "repair",
): Promise<Reply> {
  let reader = createReplyReader();
  let current = 0;
  return ask(run, { purpose, system: planPrompt, messages, format: { name: "plan", schema } }, (text, n) => {
    if (n !== current) reader = createReplyReader();
    current = n;
    const shown = reader.push(text);
    if (shown !== "") run.emit({ type: "model.delta", n, channel: "reply", text: shown });
  });
}

/** zod is loaded while the request is on its way, so that it does not delay it. */
async function readReply(reply: Promise<Reply>): Promise<{ reply: Reply; reading: PlanReading }> {
  const [{ readPlan }, arrived] = await Promise.all([import("../core/plan.ts"), reply]);
  if (arrived.stop === "length")
    return { reply: arrived, reading: { ok: false, why: "the reply was cut at the output limit" } };
  const json = readJson(arrived.text);
  return { reply: arrived, reading: json.ok ? readPlan(json.value) : json };
}

const renderRepair = (why: string) =>
  `That is not a usable plan: ${why}\nSend the whole plan again as one JSON value, nothing else.`;

/** One plan from the model; an unusable one is asked for again once, when a call is left. */
async function makeOne(
  run: Run,
  messages: readonly Message[],
  purpose: "plan" | "replan",
): Promise<{ plan: Plan; reply: Reply }> {
  const first = await readReply(askForPlan(run, messages, purpose));
  if (first.reading.ok) return { plan: first.reading.plan, reply: first.reply };
  if (run.ledger.exhausted) throw new PaiError("reply_invalid", `the plan was unusable: ${first.reading.why}`);
  run.emit({
    type: "notice",
    level: "warning",
    code: "plan_unusable",
    text: `unusable plan (${first.reading.why}): asking once more`,
  });
  const again: Message[] = [
    ...messages,
    { role: "assistant", text: first.reply.text, calls: [], native: null },
    { role: "user", text: renderRepair(first.reading.why) },
  ];
  const second = await readReply(askForPlan(run, again, "repair"));
  if (second.reading.ok) return { plan: second.reading.plan, reply: second.reply };
  throw new PaiError("reply_invalid", `the plan was unusable twice: ${second.reading.why}`, {
    hint: "try again, or another model with --model",
  });
}

/** Paths of the plan's claims, judged by the policy. Throws path_refused. */
export function claimsOfPlan(run: Run, plan: Plan): readonly Claim[] {
  return claimsOf(plan, (text, right) => toClaimPath(run, text, right));
}

/** What no yes may allow is refused here, before any further call (spec 6.4). */
export function refuseForbidden(run: Run, claims: readonly Claim[]): void {
  const { only, interactive, allowDelete, planOnly } = run.options;
  for (const claim of claims) {
    for (const path of pathsOfClaim(claim)) {
      if (!withinOnly(only, path))
        throw new PaiError(
          "scope_refused",
          `the plan would touch ${path}, which is outside --only ${only.flat().join(" ")}`,
        );
      refuseConcern(run, path);
    }
    if (claim.kind === "delete" && !interactive && !allowDelete && !planOnly) {
      throw new PaiError("delete_refused", `the plan would delete ${claim.path}`, {
        hint: "allow deletions with --allow-delete",
      });
    }
  }
}

function refuseConcern(run: Run, path: RelPath): void {
  const { only, interactive, planOnly } = run.options;
  const concern = run.ports.workspace.concern(path);
  if (concern === null || interactive || planOnly || only.some((globs) => globs.includes(path))) return;
  throw new PaiError("path_refused", `${path}: ${concern}`, { hint: `allow it by naming it: --only ${path}` });
}

function announce(run: Run, plan: Plan, plans: number, cached: boolean): void {
  run.ledger.promise(promiseOf(plan, plans));
  run.record.plan = plan;
  if (plan.intent === "conversation") return;
  const { expected, at_most } = run.ledger.promised;
  run.emit({ type: "plan.ready", plan, promise: { expected, at_most, tokens: estimateRun(run), cost: null }, cached });
}

/** Rough: what was sent once is sent again with the execution, which answers with about as much. */
function estimateRun(run: Run): number {
  const { input, output } = run.ledger.usage;
  return (input + output) * 2;
}

/** What a yes to the plan will do, whole. */
export function renderPlanQuestion(run: Run, plan: Plan, claims: readonly Claim[]): string {
  const deletes = claims.flatMap((claim) => (claim.kind === "delete" ? [claim.path] : []));
  const commands = [
    ...claims.flatMap((claim) => (claim.kind === "command" ? [claim.command] : [])),
    ...(plan.execution_plan?.checks ?? []),
  ];
  const concerns = claims.flatMap(pathsOfClaim).flatMap((path) => {
    const concern = run.ports.workspace.concern(path);
    return concern === null ? [] : [`${path} (${concern})`];
  });
  const lines = ["Carry out this plan?"];
  if (deletes.length > 0) lines.push(`It deletes: ${deletes.join(", ")}`);
  if (concerns.length > 0) lines.push(`It changes what runs code later: ${concerns.join(", ")}`);
  for (const command of commands) lines.push(`It runs: ${command}   (in ${run.ports.workspace.root}, not sandboxed)`);
  return lines.join("\n");
}

async function loadCached(run: Run, key: string): Promise<Plan | null> {
  const saved = await run.ports.planCache?.load(key);
  if (saved == null) return null;
  const { readPlan } = await import("../core/plan.ts");
  const reading = readPlan(saved);
  return reading.ok ? reading.plan : null;
}

interface Draft {
  readonly plan: Plan;
  readonly claims: readonly Claim[];
  readonly messages: readonly Message[];
}

async function present(
  run: Run,
  plan: Plan,
  plans: number,
  cached: boolean,
  messages: readonly Message[],
): Promise<Draft> {
  announce(run, plan, plans, cached);
  const claims = plan.intent === "task" ? claimsOfPlan(run, plan) : [];
  refuseForbidden(run, claims);
  return { plan, claims, messages };
}

async function draft(run: Run, briefing: Briefing, key: string): Promise<Draft> {
  const start: Message[] = [{ role: "user", text: briefing.text }];
  const cached = await loadCached(run, key);
  if (cached !== null) {
    run.emit({
      type: "notice",
      level: "info",
      code: "plan_cached",
      text: "the plan of an earlier run of the same request is used again (--no-plan-cache asks anew)",
    });
    return present(run, cached, 0, true, [
      ...start,
      { role: "assistant", text: JSON.stringify(cached), calls: [], native: null },
    ]);
  }
  const { plan, reply } = await makeOne(run, start, "plan");
  return present(run, plan, 1, false, [
    ...start,
    { role: "assistant", text: reply.text, calls: [], native: reply.native },
  ]);
}

/** Asks for a yes where one is needed. Returns what the user wants changed, null for yes. Throws declined, approval_needed. */
async function requireYes(run: Run, plan: Plan, claims: readonly Claim[]): Promise<string | null> {
  if (plan.intent === "conversation" || run.options.planOnly || run.options.dryRun) return null;
  const decision = await run.ports.decide({ kind: "plan", text: renderPlanQuestion(run, plan, claims) });
  if (decision.accept) return null;
  if (decision.feedback !== null) return decision.feedback;
  if (decision.by === "user") throw new PaiError("declined", "the plan was declined; nothing was changed");
  throw new PaiError("approval_needed", "the plan needs approval", {
    hint: "approve it with -y, or save it with: pai plan -o plan.json",
  });
}

/** Shows a saved plan and asks for a yes. It cannot be changed by feedback: that is a no. */
export async function presentSaved(run: Run, plan: Plan): Promise<readonly Claim[]> {
  const { claims } = await present(run, plan, 0, false, []);
  const feedback = await requireYes(run, plan, claims);
  if (feedback !== null)
    throw new PaiError("declined", "a saved plan is carried out as it is; nothing was changed", {
      hint: "make a new one with: pai plan",
    });
  return claims;
}

/**
 * Makes the plan, shows it, and asks until it is approved. A conversation needs no approval.
 * Throws approval_needed (headless without -y), declined, reply_invalid, path_refused, scope_refused, delete_refused.
 */
export async function makePlan(run: Run): Promise<{ plan: Plan; claims: readonly Claim[]; key: string }> {
  const briefing = await makeBriefing(run);
  for (const path of briefing.shown) run.record.bases.add(path);
  const key = keyOfPlan(run, briefing);
  let current = await draft(run, briefing, key);
  let plans = current.messages.length > 0 && run.ledger.made === 0 ? 0 : 1;
  for (;;) {
    const feedback = await requireYes(run, current.plan, current.claims);
    if (feedback === null) break;
    plans += 1;
    run.ledger.promise(promiseOf(current.plan, plans));
    const messages: Message[] = [
      ...current.messages,
      { role: "user", text: `Change the plan: ${feedback}\nSend the whole plan again.` },
    ];
    const { plan, reply } = await makeOne(run, messages, "replan");
    current = await present(run, plan, plans, false, [
      ...messages,
      { role: "assistant", text: reply.text, calls: [], native: reply.native },
    ]);
  }
  return { plan: current.plan, claims: current.claims, key };
}

/** True for steps that only look. */
export const isLook = (action: string) => rightOf(action) === null && action !== "FINISH";
