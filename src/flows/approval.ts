/** Checks a plan before its execution: refuses what is always forbidden, then asks for approval. */
import { approvalWording } from "../core/approval-wording.ts";
import { flagsToRun, whyNotRun } from "../core/command/run-patterns.ts";
import { linkRefused, PaiError, toPaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { Plan, PlanStep } from "../core/plan/plan.ts";
import { type Claim, claimsOf, commandOf, pathsOfClaim } from "../core/plan/scope.ts";
import { rowOf } from "../core/vocabulary.ts";
import { refuseSteering, withinOnly } from "./changes/refuse-steering.ts";
import { describeSandbox, mayRunCommand } from "./commands/approve-command.ts";
import type { Run } from "./run.ts";

/** Paths of the plan's claims, judged by the policy. Throws path_refused. */
export function claimsOfPlan(run: Run, plan: Plan): readonly Claim[] {
  return claimsOf(plan, run.overlay.path);
}

const commandIn = ({ action, target }: PlanStep): string | null =>
  rowOf(action)?.right === "command" ? commandOf(action, target) : null;

/** The commands of the plan's steps, and its checks. */
export const plannedCommands = ({ execution_plan: work }: Plan): readonly string[] => [
  ...(work?.steps ?? []).flatMap((step) => commandIn(step) ?? []),
  ...(work?.checks ?? []),
];

/** Whether the command is one of the user's checks: those run anyway, and their results go into every request. */
const isUserCheck = ({ options }: Run, command: string) => options.checks.some((check) => check.trim() === command);

/**
 * The plan without commands that are not run as steps: those that may not run here (a notice names them, and the
 * outcome lists them as refused), and those that are checks of the user. Emits the notice only when other work is left.
 */
export function withoutCommands(run: Run, plan: Plan): Plan {
  const { execution_plan: work } = plan;
  if (work === null || plan.intent === "conversation" || run.options.planOnly) return plan;
  const { allowRun, dryRun } = run.options;
  const withheld = new Set<string>();
  const steps: PlanStep[] = [];
  for (const step of work.steps) {
    const command = commandIn(step);
    if (command === null) steps.push(step);
    else if (isUserCheck(run, command)) continue;
    else if (dryRun || mayRunCommand(run.options, command)) steps.push(step);
    else withheld.add(command);
  }
  for (const command of withheld) run.record.tally.withhold(command, whyNotRun(allowRun));
  if (withheld.size > 0 && steps.some(({ action }) => rowOf(action)?.right !== null)) {
    const text = `not run: ${[...withheld].join("; ")} (${whyNotRun(allowRun)}); the rest of the plan goes on`;
    run.emit({ type: "notice", level: "warning", code: "commands_not_run", text });
  }
  return { ...plan, execution_plan: { ...work, steps } };
}

/** Throws command_refused when commands that may not run here are all that the plan would do. */
function refuseOnlyCommands({ record, options }: Run, claims: readonly Claim[]): void {
  const { withheld } = record.tally;
  if (withheld.size === 0 || claims.length > 0) return;
  throw new PaiError(
    "command_refused",
    `the plan would run ${[...withheld].join("; ")}: ${whyNotRun(options.allowRun)}`,
    {
      hint: `allow it with ${flagsToRun([...withheld])}`,
    },
  );
}

/** Refuses what not even a yes may allow, before any further call. Throws scope_refused, delete_refused … */
export async function refuseForbidden(run: Run, claims: readonly Claim[]): Promise<void> {
  const { only, interactive, allowDelete, planOnly, dryRun } = run.options;
  refuseOnlyCommands(run, claims);
  for (const claim of claims) {
    for (const path of pathsOfClaim(claim)) {
      if (!withinOnly(only, path))
        throw new PaiError(
          "scope_refused",
          `the plan would touch ${path}, which is outside --only ${only.flat().join(" ")}`,
        );
    }
    if (claim.kind === "delete" && !interactive && !allowDelete && !planOnly && !dryRun) {
      throw new PaiError("delete_refused", `the plan would delete ${claim.path}`, {
        hint: "allow deletions with --allow-delete",
      });
    }
  }
  if (!planOnly && !dryRun)
    for (const path of claims.flatMap(pathsOfClaim)) run.ports.workspace.requireWritable?.(path);
  if (interactive) return;
  const refusal = await refuseSteering(run, pathsThatSteer(claims));
  if (refusal !== null) throw refusal.error;
}

/** A deleted file steers nothing. */
const pathsThatSteer = (claims: readonly Claim[]): readonly RelPath[] =>
  claims.flatMap((claim) => (claim.kind === "delete" ? [] : pathsOfClaim(claim)));

/** Refuses links before a call is spent on them: carrying out the plan would refuse them too. Throws path_refused. */
export async function refuseLinks(run: Run, claims: readonly Claim[]): Promise<void> {
  const removed = new Set(claims.flatMap((claim) => (claim.kind === "delete" ? [claim.path] : [])));
  for (const path of new Set(claims.flatMap(pathsOfClaim))) {
    const blob = await run.ports.workspace.read(path, 0).catch((thrown) => {
      if (toPaiError(thrown).code === "path_refused") throw thrown;
      return null;
    });
    if (blob?.kind === "link" && !removed.has(path)) throw linkRefused(path, blob.target);
  }
}

/** The question about the plan: everything that a yes will do. */
async function renderPlanQuestion(run: Run, plan: Plan, claims: readonly Claim[]): Promise<string> {
  const deletes: RelPath[] = [];
  const concerns: string[] = [];
  for (const claim of claims) {
    if (claim.kind === "delete") deletes.push(claim.path);
    for (const path of pathsOfClaim(claim)) {
      const why = run.ports.workspace.concern(path);
      if (why !== null) concerns.push(`${path} (${why})`);
    }
  }
  const commands = plannedCommands(plan);
  const sandbox = commands.length === 0 ? "" : await describeSandbox(run);
  return approvalWording.plan(deletes, concerns, commands, sandbox);
}

/** Notes the yes to the plan; asks for the separate yes that steering files need. Throws declined. */
export async function takeYes(run: Run, claims: readonly Claim[]): Promise<void> {
  const refusal = await refuseSteering(run, pathsThatSteer(claims));
  if (refusal !== null) throw refusal.error;
  run.record.approved = true;
}

/**
 * Asks for approval where it is needed. Returns what the user wants changed in the plan; null: approved. Throws
 * declined, approval_needed.
 */
export async function requireYes(run: Run, plan: Plan, claims: readonly Claim[]): Promise<string | null> {
  if (plan.intent === "conversation" || run.options.planOnly || run.options.dryRun) return null;
  const decision = await run.ports.decide({ kind: "plan", text: await renderPlanQuestion(run, plan, claims) });
  if (decision.accept) {
    run.record.review = decision.review === true;
    await takeYes(run, claims);
    return null;
  }
  if (decision.feedback !== null) return decision.feedback;
  if (decision.by === "user") throw new PaiError("declined", "the plan was declined; nothing was changed");
  // With --review the changes are approved when they are shown, and without a person they will be refused then. A
  // command that runs before them needs the approval now.
  if (run.options.review && !claims.some(({ kind }) => kind === "command")) {
    await takeYes(run, claims);
    return null;
  }
  throw new PaiError("approval_needed", "the plan needs approval", {
    hint:
      run.options.command === "apply" ? "approve it with -y" : "approve it with -y, or save it with: pai plan -o FILE",
  });
}
