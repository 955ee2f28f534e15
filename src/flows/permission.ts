/** Which paths or command a call needs, and whether it may: scope, --only, and the rules of a mode without a plan. */
import { approvalWording } from "../core/approval-wording.ts";
import { grantsRun } from "../core/command/run-patterns.ts";
import { PaiError } from "../core/error.ts";
import { type Call, isFields, type Json } from "../core/model.ts";
import type { Amendment } from "../core/outcome.ts";
import type { RelPath } from "../core/path.ts";
import { claimOfPlan, type PlanClaim, pathsOfClaim, permits, type Rights, renderClaim } from "../core/plan/scope.ts";
import { spellPath } from "../core/script/read-amend.ts";
import { rowOf } from "../core/vocabulary.ts";
import { pathFor, pathsToAllow } from "./approval.ts";
import { refuseUnallowed } from "./changes/allowed.ts";
import { withinOnly } from "./changes/only.ts";
import { askBound, describeSandbox } from "./commands/approve-command.ts";
import type { Run } from "./run.ts";

/** A text field of the input; "": there is none. */
export const field = (input: Json, name: string): string => {
  const value = isFields(input) ? input[name] : null;
  return typeof value === "string" ? value : "";
};

/** The target of a call, as people see it. */
export function targetOfCall({ input }: Call): string {
  const [pattern, under] = [field(input, "pattern"), field(input, "path")];
  if (pattern !== "" && under !== "") return `${pattern} in ${under}`;
  const subject = under || field(input, "from") || field(input, "command") || pattern;
  const to = field(input, "to");
  return to === "" ? subject : `${subject} → ${to}`;
}

/** The claim of a call; null: it needs no right, or lacks its target and cannot be done. Throws path_refused. */
export function claimOfCall(run: Run, { name, input }: Call): PlanClaim | null {
  const form = rowOf(name)?.form;
  const names = form === "command" ? ["command"] : form === "pair" ? ["from", "to"] : ["path"];
  if (!isFields(input) || names.some((each) => typeof input[each] !== "string")) return null;
  const target = field(input, names[0] ?? "");
  return claimOfPlan(name, target, field(input, "to"), (text, use) => pathFor(run, text, use));
}

/** Closed files are opened before the action reads them: a flag names them, or the person says yes. Throws path_refused, declined. */
export async function requireOpened(run: Run, claim: PlanClaim): Promise<void> {
  const closed = pathsOfClaim(claim).filter((path) => run.workspace.whyClosed(path) !== null);
  const refusal = await refuseUnallowed(run, closed);
  if (refusal !== null) throw refusal.error;
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

/** The file that a READ shows; none for another call, or when the policy refuses the path. */
export function pathsRead(run: Run, { name, input }: Call): readonly RelPath[] {
  if (rowOf(name)?.form !== "lines") return [];
  try {
    return [run.overlay.path(field(input, "path"), "read")];
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
  rowOf(name)?.form === "pair"
    ? { action: name, path: field(input, "from"), destination: field(input, "to") }
    : { action: name, path: field(input, rowOf(name)?.form === "command" ? "command" : "path"), destination: null };

/** The AMEND line that asks for the right that a call lacks. */
function renderAmend(call: Call): string {
  const { action, path, destination } = targetsOf(call);
  const paths = [path, ...(destination === null ? [] : [destination])];
  return `AMEND::${action}::${(rowOf(action)?.form === "command" ? paths : paths.map(spellPath)).join("::")}::why`;
}

/**
 * Throws scope_refused unless the plan promised the claim or it was granted since; declined when the person at the
 * terminal refuses it now. `call` null: a finished change of a saved plan.
 */
export async function requireRight(
  run: Run,
  claim: PlanClaim,
  rights: Rights | null,
  call: Call | null,
): Promise<void> {
  const { only, strict } = run.changing;
  const outside = pathsOfClaim(claim).find((path) => !withinOnly(only, path));
  if (outside !== undefined) {
    throw new PaiError("scope_refused", `${outside} is outside --only ${only.flat().join(" ")}`);
  }
  if (rights === null) return requireAllowed(run, claim);
  if (permits(rights.scope, claim)) return;
  const refused = rights.refusalOf(claim);
  if (refused !== null) throw refused;
  const what = renderClaim(claim);
  const refusal = new PaiError("scope_refused", `the plan does not promise to ${what}`);
  if (strict || call === null) throw refusal;
  const { accept, by } = await run.decide({ kind: "scope", text: approvalWording.beyondPlan(what) });
  if (by === "user") noteAmended(run, { ...targetsOf(call), why: "", accept, by });
  if (accept) return rights.grant(claim, "");
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
async function requireAllowed(run: Run, claim: PlanClaim): Promise<void> {
  const { changing, decide, interactive, shell } = run;
  if (claim.kind === "delete" && !interactive && !changing.allowDelete) {
    throw new PaiError("delete_refused", "headless a deletion needs --allow-delete");
  }
  if (!interactive) {
    const refusal = await refuseUnallowed(run, pathsToAllow(run, [claim]));
    if (refusal !== null) throw refusal.error;
  }
  if (claim.kind !== "command" || !interactive || grantsRun(shell.allowRun, claim.command)) return;
  const text = approvalWording.command(claim.command, await describeSandbox(run));
  const accepted = await askBound(run, claim.command, async (note) => {
    const decision = await decide({ kind: "command", text: note + text });
    return decision.accept;
  });
  if (!accepted) throw new PaiError("command_refused", "the user declined to run this command");
}
