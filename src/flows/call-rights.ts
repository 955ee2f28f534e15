/** The rights of calls: what a call claims must be promised by the plan, granted since, or allowed without one. */

import { approvalWording } from "../core/approval-wording.ts";
import { grantsRun } from "../core/command/run-patterns.ts";
import { PaiError } from "../core/error.ts";
import { type Call, fieldOf, isFields } from "../core/model.ts";
import type { Amendment } from "../core/outcome.ts";
import type { PathUse, RelPath } from "../core/path.ts";
import { claimOfPlan, type PlanClaim, pathsOfClaim, permits, type Rights, renderClaim } from "../core/plan/scope.ts";
import type { View } from "../core/ports.ts";
import type { Question } from "../core/question.ts";
import { spellPath } from "../core/script/read-amend.ts";
import { rowOf } from "../core/vocabulary.ts";
import { requireChangeable, requireOwnYes, withinOnly } from "./changes/allowed.ts";
import { askBound, describeSandbox, foretellWalls, onlyCommands } from "./commands/commands.ts";
import type { Run } from "./run.ts";

function parsedOrNull(workspace: Run["workspace"], text: string): RelPath | null {
  try {
    return workspace.parse(text);
  } catch {
    return null;
  }
}

/**
 * A path that the policy allows, or that is to be changed and that a person may open. `view`: who parses it; the overlay
 * follows links. Throws path_refused.
 */
export function pathFor(
  { overlay, workspace }: Run,
  text: string,
  use: PathUse,
  view: Pick<View, "path"> = overlay,
): RelPath {
  try {
    return view.path(text, use);
  } catch (thrown) {
    const path = use === "read" || use === "list" ? null : parsedOrNull(workspace, text);
    if (path === null || workspace.whyClosed(path) === null) throw thrown;
    return path;
  }
}

/** A deleted file runs and steers nothing; a closed one may not be deleted either. */
export const pathsToAllow = ({ workspace }: Run, claims: readonly PlanClaim[]): readonly RelPath[] =>
  claims.flatMap((claim) =>
    pathsOfClaim(claim).filter((path) => claim.kind !== "delete" || workspace.whyClosed(path) !== null),
  );

/** Throws scope_refused for a path outside --only. */
export function requireInside({ changing: { only } }: Run, claim: PlanClaim): void {
  const outside = pathsOfClaim(claim).find((path) => !withinOnly(only, path));
  if (outside === undefined) return;
  throw new PaiError("scope_refused", `${outside} is outside --only ${only.flat().join(" ")}`);
}

/** Where nobody is asked, flags allow what needs a yes of its own. Throws delete_refused, path_refused. */
export async function requirePermitted(run: Run, claim: PlanClaim): Promise<void> {
  if (claim.kind === "delete" && !run.changing.allowDelete && !run.changing.dryRun)
    throw new PaiError("delete_refused", "headless a deletion needs --allow-delete");
  await requireOwnYes(run, pathsToAllow(run, [claim]));
}

/** The target of a call, as people see it. */
export function targetOfCall({ input }: Call): string {
  const [pattern, under] = [fieldOf(input, "pattern"), fieldOf(input, "path")];
  if (pattern !== "" && under !== "") return `${pattern} in ${under}`;
  const subject = under || fieldOf(input, "from") || fieldOf(input, "command") || pattern;
  const to = fieldOf(input, "to");
  return to === "" ? subject : `${subject} → ${to}`;
}

/** The claim of a call; null: it needs no right, or lacks its target and cannot be done. Throws path_refused. */
export function claimOfCall(run: Run, { name, input }: Call): PlanClaim | null {
  const form = rowOf(name)?.form;
  const names = form === "command" ? ["command"] : form === "pair" ? ["from", "to"] : ["path"];
  if (!isFields(input) || names.some((each) => typeof input[each] !== "string")) return null;
  const target = fieldOf(input, names[0] ?? "");
  return claimOfPlan(name, target, fieldOf(input, "to"), (text, use) => pathFor(run, text, use));
}

/** Closed files are opened before the action reads them: a flag names them, or the person says yes. Throws path_refused, declined. */
export async function requireOpened(run: Run, claim: PlanClaim): Promise<void> {
  const closed = pathsOfClaim(claim).filter((path) => run.workspace.whyClosed(path) !== null);
  await requireOwnYes(run, closed);
}

/** The paths that a call claims; none when the policy refuses one. */
export function pathsOfCall(run: Run, call: Call): readonly RelPath[] {
  try {
    const claim = claimOfCall(run, call);
    return claim === null ? [] : pathsOfClaim(claim);
  } catch {
    return [];
  }
}

/** Reports the decision about an amendment, and keeps it for the outcome. */
export function noteAmended({ emit, acting }: Run, amendment: Amendment): void {
  acting.amended = [...acting.amended, amendment];
  emit({ type: "plan.amended", ...amendment });
}

/** Action, path and destination of a call, as an amendment has them. */
const targetsOf = ({ name, input }: Call) =>
  rowOf(name)?.form === "pair" || rowOf(name)?.form === "setting"
    ? { action: name, path: fieldOf(input, "from") || fieldOf(input, "path"), destination: fieldOf(input, "to") }
    : { action: name, path: fieldOf(input, rowOf(name)?.form === "command" ? "command" : "path"), destination: null };

/** The AMEND line that asks for the right that a call lacks. */
function renderAmend(call: Call): string {
  const { action, path, destination } = targetsOf(call);
  const paths = [path, ...(destination === null ? [] : [destination])];
  return `AMEND::${action}::${(rowOf(action)?.form === "command" ? paths : paths.map(spellPath)).join("::")}::why`;
}

/**
 * Throws scope_refused unless the plan promised the claim or it was granted since; declined when the person at the
 * terminal refuses it now. `call` null: a finished change of a saved plan. `preview`: what the call would change.
 */
export async function requireRight(
  run: Run,
  claim: PlanClaim,
  rights: Rights | null,
  call: Call | null,
  preview: () => Promise<Pick<Question, "diff">> = async () => ({}),
): Promise<void> {
  requireInside(run, claim);
  if (rights === null) return requireUnplanned(run, claim);
  if (permits(rights.scope, claim)) return;
  const refused = rights.refusalOf(claim);
  if (refused !== null) throw refused;
  const what = renderClaim(claim);
  const refusal = new PaiError("scope_refused", `the plan does not promise to ${what}`);
  if (run.changing.strict || call === null) throw refusal;
  const shown = run.interactive ? await preview() : {};
  const isNew = claim.kind === "content" && shown.diff?.includes("\n--- /dev/null\n") === true;
  const text = approvalWording.beyondPlan(isNew ? `write the new file ${claim.path}` : what);
  const { accept, by } = await run.decide({ kind: "scope", text, ...shown, ...(await onlyCommands(run, [claim])) });
  if (by === "user") noteAmended(run, { ...targetsOf(call), why: "", accept, by });
  if (accept) {
    await requireChangeable(run, [claim]);
    return rights.grant(claim, "");
  }
  if (by !== "user")
    throw new PaiError("scope_refused", refusal.message, {
      hint: `if the task needs it, write ${renderAmend(call)} on the line before it`,
    });
  const declined = new PaiError("declined", `the plan does not promise to ${what}, and the user declined it`);
  rights.refuse(claim, declined);
  throw declined;
}

/**
 * The rules of a mode without a plan. Headless, a deletion needs --allow-delete, and a flag must name what is asked about;
 * at a terminal a command needs a yes. Throws delete_refused, path_refused, command_refused.
 */
async function requireUnplanned(run: Run, claim: PlanClaim): Promise<void> {
  const { decide, interactive, shell } = run;
  if (!interactive) await requirePermitted(run, claim);
  await requireChangeable(run, [claim]);
  if (claim.kind !== "command" || !interactive || grantsRun(shell.allowRun, claim.command)) return;
  const { command } = claim;
  await foretellWalls(run, [command]);
  const text = approvalWording.command(command, await describeSandbox(run));
  const only = await onlyCommands(run, [claim]);
  const accepted = await askBound(run, claim.command, async (note) => {
    const decision = await decide({ kind: "command", text: note + text, ...only });
    return decision.accept;
  });
  if (!accepted) throw new PaiError("command_refused", "the user declined to run this command");
}
