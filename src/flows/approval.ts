/** What stands between a plan and its execution: what is forbidden whatever anybody says, and the yes. */
import { linkRefused, PaiError, toPaiError } from "../core/error.ts";
import { describeReader } from "../core/guard/describe-steering.ts";
import type { RelPath } from "../core/path.ts";
import type { Plan } from "../core/plan/plan.ts";
import { type Claim, claimsOf, pathsOfClaim } from "../core/plan/scope.ts";
import { toClaimPath } from "./permission.ts";
import type { Run } from "./run.ts";
import { refuseSteering, withinOnly } from "./steering.ts";

/** Paths of the plan's claims, judged by the policy. Throws path_refused. */
export function claimsOfPlan(run: Run, plan: Plan): readonly Claim[] {
  return claimsOf(plan, (text, right) => toClaimPath(run, text, right));
}

/** What no yes may allow is refused here, before any further call. */
export async function refuseForbidden(run: Run, claims: readonly Claim[]): Promise<void> {
  const { only, interactive, allowDelete, planOnly, dryRun } = run.options;
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
  if (interactive) return;
  const refusal = await refuseSteering(run, pathsThatSteer(claims));
  if (refusal !== null) throw refusal.error;
}

/** What is deleted steers nobody. */
const pathsThatSteer = (claims: readonly Claim[]): readonly RelPath[] =>
  claims.flatMap((claim) => (claim.kind === "delete" ? [] : pathsOfClaim(claim)));

/** What lies behind a link would be refused when it is carried out: no call is spent on it. Throws path_refused. */
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

/** What the plan runs, its checks too. */
export const commandsOf = (plan: Plan, claims: readonly Claim[]): readonly string[] => [
  ...claims.flatMap((claim) => (claim.kind === "command" ? [claim.command] : [])),
  ...(plan.execution_plan?.checks ?? []),
];

/** What a yes to the plan will do, whole. */
function renderPlanQuestion(run: Run, plan: Plan, claims: readonly Claim[]): string {
  const deletes = claims.flatMap((claim) => (claim.kind === "delete" ? [claim.path] : []));
  const concerns = claims.flatMap(pathsOfClaim).flatMap((path) => {
    const why = run.ports.workspace.concern(path) ?? describeReader(path);
    return why === null ? [] : [`${path} (${why})`];
  });
  const lines = ["Carry out this plan?"];
  if (deletes.length > 0) lines.push(`It deletes: ${deletes.join(", ")}`);
  if (concerns.length > 0) lines.push(`It changes what runs or steers later: ${concerns.join(", ")}`);
  for (const command of commandsOf(plan, claims))
    lines.push(`It runs: ${command}   (in ${run.ports.workspace.root}, not sandboxed)`);
  return lines.join("\n");
}

/** Asks for a yes where one is needed. Returns what the user wants changed, null for yes. Throws declined, approval_needed. */
export async function requireYes(run: Run, plan: Plan, claims: readonly Claim[]): Promise<string | null> {
  if (plan.intent === "conversation" || run.options.planOnly || run.options.dryRun) return null;
  const decision = await run.ports.decide({ kind: "plan", text: renderPlanQuestion(run, plan, claims) });
  if (decision.accept) {
    const refusal = await refuseSteering(run, pathsThatSteer(claims));
    if (refusal !== null) throw refusal.error;
    return null;
  }
  if (decision.feedback !== null) return decision.feedback;
  if (decision.by === "user") throw new PaiError("declined", "the plan was declined; nothing was changed");
  throw new PaiError("approval_needed", "the plan needs approval", {
    hint:
      run.options.command === "apply" ? "approve it with -y" : "approve it with -y, or save it with: pai plan -o FILE",
  });
}
