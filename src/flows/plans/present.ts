/** Shows a plan with its promise, before anybody says yes to it. */
import { permittedBy } from "../../core/command/run-patterns.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { CallPromise } from "../../core/plan/promise.ts";
import type { PlanClaim } from "../../core/plan/scope.ts";
import {
  claimsOfPlan,
  concernsOf,
  plannedCommands,
  refusedCommands,
  refuseForbidden,
  refuseLinks,
  withoutCommands,
} from "../approval.ts";
import { readNested } from "../briefing/guides.ts";
import { bindCommands } from "../commands/commands.ts";
import type { Run } from "../run.ts";
import { forecast } from "./forecast.ts";
import { withRealPaths } from "./real-paths.ts";

/** A plan as it will be carried out, and its claims. */
export interface Presented {
  readonly plan: Plan;
  readonly claims: readonly PlanClaim[];
}

/** What a plan promises, and how many planning calls are part of that. */
interface Offer {
  readonly promise: CallPromise;
  readonly plans: number;
  readonly cached: boolean;
  /** The work came with the plan. */
  readonly isDone?: boolean;
}

async function announce(
  run: Run,
  { plan, claims }: Presented,
  { promise, plans, cached, isDone = false }: Offer,
): Promise<void> {
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
    ...(isDone && { at_once: true as const }),
    ...(guides.length > 0 && { guides }),
    ...(permitted.length > 0 && { permitted }),
    ...(concerns.length > 0 && { concerns }),
  });
}

/** Announces the plan with its promise; refuses at once what not even a yes may allow. */
export async function present(run: Run, made: Plan, offer: Offer): Promise<Presented> {
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
