/** What a plan and its calls may do: refused, asked about or granted before the work; each call is held to it. */

import { approvalWording } from "../core/approval-wording.ts";
import { spellAllow } from "../core/command/quote.ts";
import { flagsToRun, grantsRun, whyNotRun } from "../core/command/run-patterns.ts";
import { linkRefused, orNull, PaiError, toPaiError } from "../core/error.ts";
import { type Call, fieldOf, isFields } from "../core/model.ts";
import type { Amendment } from "../core/outcome.ts";
import type { PathUse, RelPath } from "../core/path.ts";
import type { Plan, PlanStep } from "../core/plan/plan.ts";
import {
  claimOfPlan,
  commandOf,
  type PlanClaim,
  pathsOfClaim,
  permits,
  type Rights,
  renderClaim,
} from "../core/plan/scope.ts";
import type { View } from "../core/ports.ts";
import type { Concern, Question } from "../core/question.ts";
import { spellPath } from "../core/script/read-amend.ts";
import { rowOf } from "../core/vocabulary.ts";
import { findConcerns, requireChangeable, requireOwnYes, withinOnly } from "./changes/allowed.ts";
import { askBound, describeSandbox, mayRunCommand, onlyCommands } from "./commands/commands.ts";
import { keepPlans } from "./plans/plan-state.ts";
import type { Run } from "./run.ts";

type Claimed = ReturnType<typeof claimsOfPlan>;

/** The claims of the plan's steps; those on closed files that a person may open are among them. */
export function claimsOfPlan(run: Run, plan: Plan) {
  const claims: PlanClaim[] = [];
  const refusals: PaiError[] = [];
  for (const { action, target, destination } of plan.execution_plan?.steps ?? []) {
    try {
      // What the plan itself removes is not followed.
      const claim = claimOfPlan(action, target, destination, (text, use) => pathFor(run, text, use, run.workspace));
      if (claim !== null) claims.push(claim);
    } catch (thrown) {
      const error = toPaiError(thrown);
      if (error.code !== "path_refused") throw thrown;
      refusals.push(error);
    }
  }
  return { claims, refusals };
}

const commandIn = ({ action, target }: PlanStep): string | null =>
  rowOf(action)?.right === "command" ? commandOf(action, target) : null;

export const plannedCommands = ({ execution_plan: work }: Plan): readonly string[] => [
  ...(work?.steps ?? []).flatMap((step) => commandIn(step) ?? []),
  ...(work?.checks ?? []),
];

/** Whether the command is a check of the user that runs behind changes anyway, or that is only known by its result. */
const isLeftToChecks = (run: Run, command: string, changes: boolean) =>
  run.checking.checks.some((check) => check.trim() === command) && (changes || !mayRunCommand(run, command));

/** The plan without commands that may not run here, which are named, and without checks of the user that run anyway. */
export function withoutCommands(run: Run, plan: Plan): Plan {
  const { execution_plan: work } = plan;
  if (work === null || plan.intent === "conversation" || run.planning.planOnly) return plan;
  const { allowRun } = run.shell;
  const { dryRun } = run.changing;
  const withheld = new Set<string>();
  const steps: PlanStep[] = [];
  const changes = work.steps.some(({ action }) => rowOf(action)?.kind === "change");
  for (const step of work.steps) {
    const command = commandIn(step);
    if (command === null) steps.push(step);
    else if (isLeftToChecks(run, command, changes)) continue;
    else if (dryRun || mayRunCommand(run, command)) steps.push(step);
    else withheld.add(command);
  }
  for (const command of withheld) run.acting.tally.withhold(command, whyNotRun(allowRun));
  if (withheld.size > 0 && !run.planning.asksOnly && steps.some(({ action }) => rowOf(action)?.right !== null)) {
    const text = `not run: ${[...withheld].join("; ")} (${whyNotRun(allowRun)}); the rest of the plan goes on`;
    run.emit({ type: "notice", level: "warning", code: "commands_not_run", text });
  }
  return { ...plan, execution_plan: { ...work, steps } };
}

/** Why a plan may not be carried out, and the flag that allows it; null: none does. */
interface Refused {
  readonly error: PaiError;
  readonly flag: string | null;
}

/** Commands that may not run here, when they are all that the plan would do. */
export function refusedCommands({ acting, shell }: Run, { claims, refusals }: Claimed): readonly Refused[] {
  const { withheld } = acting.tally;
  if (withheld.size === 0 || claims.length + refusals.length > 0) return [];
  const text = `the plan would run ${[...withheld].join("; ")}: ${whyNotRun(shell.allowRun)}`;
  return [{ error: new PaiError("command_refused", text), flag: flagsToRun([...withheld]) }];
}

function refusedClaim({ changing, interactive, planning }: Run, claim: PlanClaim): readonly Refused[] {
  const { only, allowDelete, dryRun } = changing;
  const outside = pathsOfClaim(claim).filter((path) => !withinOnly(only, path));
  const refused: Refused[] = outside.map((path) => {
    const text = `the plan would touch ${path}, which is outside --only ${only.flat().join(" ")}`;
    return { error: new PaiError("scope_refused", text), flag: null };
  });
  if (claim.kind !== "delete" || interactive || allowDelete || planning.planOnly || dryRun) return refused;
  const error = new PaiError("delete_refused", `the plan would delete ${claim.path}`);
  return [...refused, { error, flag: "--allow-delete" }];
}

function refusedPaths(run: Run, claims: readonly PlanClaim[]): readonly Refused[] {
  if (run.interactive) return [];
  return [...findConcerns(run, pathsToAllow(run, claims))].map(([path, why]) => ({
    error: new PaiError("path_refused", `${path}: ${why}`),
    flag: spellAllow(path),
  }));
}

/** In a run that only answers nothing may be changed or run. Throws scope_refused. */
function refuseWork({ acting, planning }: Run, claims: readonly PlanClaim[]): void {
  if (!planning.asksOnly) return;
  const wanted = [...claims.map(renderClaim), ...[...acting.tally.withheld].map((command) => `run: ${command}`)];
  if (wanted.length === 0) return;
  throw new PaiError("scope_refused", `pai ask only looks and answers; the plan would ${wanted.join(", ")}`, {
    hint: "pai run does it, after a yes",
  });
}

/** Refuses at once what not even a yes may allow. A plan that only lacks flags is kept. Throws scope_refused, path_refused … */
export async function refuseForbidden(run: Run, claimed: Claimed): Promise<void> {
  const { claims, refusals } = claimed;
  refuseWork(run, claims);
  const refused = [
    ...refusals.map((error) => ({ error, flag: null })),
    ...refusedCommands(run, claimed),
    ...claims.flatMap((claim) => refusedClaim(run, claim)),
    ...refusedPaths(run, claims),
  ];
  const [first] = refused;
  if (first !== undefined) {
    const flags = new Set(refused.flatMap(({ flag }) => flag ?? []));
    const text = [...new Set(refused.map(({ error }) => error.message))].join("; ");
    const hint = flags.size === 0 ? first.error.hint : `allow it with ${[...flags].join(" ")}`;
    if (refused.every(({ flag }) => flag !== null)) keepPlans(run.planning);
    throw new PaiError(first.error.code, text, { hint });
  }
  await requireChangeable(run, claims);
}

/** Refuses links before a call is spent on them: carrying out the plan would refuse them too. Throws path_refused. */
export async function refuseLinks(run: Run, claims: readonly PlanClaim[]): Promise<void> {
  const isOfLink = (claim: PlanClaim) =>
    claim.kind === "delete" || (claim.kind === "setting" && claim.action === "LINK");
  const meant = new Set(claims.filter(isOfLink).flatMap(pathsOfClaim));
  for (const path of new Set(claims.flatMap(pathsOfClaim))) {
    if (run.workspace.whyClosed(path) !== null) continue;
    const blob = await run.workspace.read(path, 0).catch((thrown) => {
      if (toPaiError(thrown).code === "path_refused") throw thrown;
      return null;
    });
    if (blob?.kind === "link" && !meant.has(path)) throw linkRefused(path, blob.target);
  }
}

/** The paths of a plan that need a yes of their own, whether or not they have it. */
export const concernsOf = (run: Run, claims: readonly PlanClaim[]): readonly Concern[] =>
  [...new Set(claims.flatMap(pathsOfClaim))].flatMap((path) => {
    const why = run.workspace.concern(path) ?? run.workspace.whyClosed(path);
    return why === null ? [] : [{ path, why }];
  });

async function renderPlanQuestion(run: Run, plan: Plan, claims: readonly PlanClaim[]): Promise<string> {
  const deletes = claims.flatMap((claim) => (claim.kind === "delete" ? claim.path : []));
  const concerns = concernsOf(run, claims).map(({ path, why }) => `${path} (${why})`);
  const commands = plannedCommands(plan);
  const sandbox = commands.length === 0 ? "" : await describeSandbox(run);
  return approvalWording.plan(deletes, concerns, commands, sandbox);
}

/** Notes the yes to the plan; asks for the yes of its own that some paths need. Throws declined. */
export async function takeYes(run: Run, claims: readonly PlanClaim[]): Promise<void> {
  await requireOwnYes(run, pathsToAllow(run, claims));
  run.planning.approved = true;
}

/** Asks for approval where it is needed. Returns what the user wants changed; null: approved. Throws declined, approval_needed. */
export async function requireYes(
  run: Run,
  plan: Plan,
  claims: readonly PlanClaim[],
  { diff, faults } = { diff: "", faults: [] as readonly string[] },
): Promise<string | null> {
  if (plan.intent === "conversation" || run.planning.planOnly || run.planning.asksOnly) return null;
  if (run.changing.dryRun) {
    await requireOwnYes(run, pathsToAllow(run, claims));
    return null;
  }
  const text = approvalWording.withFaults(await renderPlanQuestion(run, plan, claims), faults);
  const only = await onlyCommands(run, claims, plan.execution_plan?.checks);
  const decision = await run.decide({ kind: "plan", text, ...(diff !== "" && { diff }), ...only });
  run.signal.throwIfAborted();
  const isSeen = diff !== "" && decision.by === "user" && (decision.accept || decision.feedback === null);
  // The answer holds for this diff alone, and words are no answer to it.
  run.planning.seenDiff = isSeen ? diff : null;
  if (decision.accept) {
    run.planning.wantsReview = decision.review === true || isSeen;
    await takeYes(run, claims);
    return null;
  }
  if (decision.feedback !== null) return decision.feedback;
  if (decision.by === "user") throw new PaiError("declined", "the plan was declined; nothing was changed");
  // With --review the changes are approved when they are shown, and without a person they will be refused then. A
  // command that runs before them needs the approval now.
  if (run.changing.review && !claims.some(({ kind }) => kind === "command")) {
    await takeYes(run, claims);
    return null;
  }
  const orSave = run.invocation.command === "apply" ? "" : ", or save it with: pai plan -o FILE";
  throw new PaiError("approval_needed", "the plan needs approval", { hint: `approve it with -y${orSave}` });
}

/** A path that the policy allows, or one to be changed that a person may open. `view`: who parses it. Throws path_refused. */
export function pathFor({ overlay, workspace }: Run, text: string, use: PathUse, view: Pick<View, "path"> = overlay) {
  try {
    return view.path(text, use);
  } catch (thrown) {
    const path = use === "read" || use === "list" ? null : orNull(() => workspace.parse(text));
    if (path === null || workspace.whyClosed(path) === null) throw thrown;
    return path;
  }
}

/** A deleted file runs and steers nothing; a closed one may not be deleted either. */
const pathsToAllow = ({ workspace }: Run, claims: readonly PlanClaim[]): readonly RelPath[] =>
  claims.flatMap((claim) =>
    pathsOfClaim(claim).filter((path) => claim.kind !== "delete" || workspace.whyClosed(path) !== null),
  );

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

export function pathsOfCall(run: Run, call: Call): readonly RelPath[] {
  const claim = orNull(() => claimOfCall(run, call));
  return claim === null ? [] : pathsOfClaim(claim);
}

export function noteAmended({ emit, acting }: Run, amendment: Amendment): void {
  acting.amended = [...acting.amended, amendment];
  emit({ type: "plan.amended", ...amendment });
}

const targetsOf = ({ name, input }: Call) =>
  rowOf(name)?.form === "pair" || rowOf(name)?.form === "setting"
    ? { action: name, path: fieldOf(input, "from") || fieldOf(input, "path"), destination: fieldOf(input, "to") }
    : { action: name, path: fieldOf(input, rowOf(name)?.form === "command" ? "command" : "path"), destination: null };

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

/** The rules of a mode without a plan. Throws delete_refused, path_refused, command_refused. */
async function requireUnplanned(run: Run, claim: PlanClaim): Promise<void> {
  const { decide, interactive, shell } = run;
  if (!interactive) await requirePermitted(run, claim);
  await requireChangeable(run, [claim]);
  if (claim.kind !== "command" || !interactive || grantsRun(shell.allowRun, claim.command)) return;
  const text = approvalWording.command(claim.command, await describeSandbox(run));
  const only = await onlyCommands(run, [claim]);
  const ask = async (note: string) => (await decide({ kind: "command", text: note + text, ...only })).accept;
  if (!(await askBound(run, claim.command, ask)))
    throw new PaiError("command_refused", "the user declined to run this command");
}
