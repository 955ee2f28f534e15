/** Rights beyond the plan that a script asks for with AMEND: judges them, asks one question, reports the decisions. */

import { approvalWording } from "../core/approval-wording.ts";
import { squash } from "../core/change.ts";
import { flagToRun } from "../core/command/run-patterns.ts";
import { untoldRanges } from "../core/dialogue.ts";
import { renderChanges } from "../core/diff.ts";
import { orNull, PaiError, toPaiError } from "../core/error.ts";
import type { Call } from "../core/model.ts";
import type { Amendment } from "../core/outcome.ts";
import type { RelPath } from "../core/path.ts";
import { claimOfPlan, type PlanClaim, permits, type Rights, renderClaim } from "../core/plan/scope.ts";
import type { AmendRequest } from "../core/script/read-amend.ts";
import { isRefusal } from "./acting.ts";
import {
  claimOfCall,
  concernsOf,
  noteAmended,
  pathFor,
  refuseLinks,
  requireInside,
  requirePermitted,
} from "./approval.ts";
import { requireChangeable, withinOnly } from "./changes/allowed.ts";
import { bindCommands, describeSandbox, mayRunCommand, onlyCommands } from "./commands/commands.ts";
import { textNow } from "./dialogue.ts";
import type { CallReport } from "./perform.ts";
import { rehearse } from "./rehearse.ts";
import type { Run } from "./run.ts";

const fewAmendments = 3;

interface Asked {
  readonly request: AmendRequest;
  readonly claim: PlanClaim;
}

/** Throws for what not even a yes allows: a path outside --only or behind a link, anything in a strict run. */
async function refuseForbidden(run: Run, claim: PlanClaim): Promise<void> {
  if (run.changing.strict) {
    throw new PaiError("scope_refused", `the run is strict (--strict): only the plan allows to ${renderClaim(claim)}`);
  }
  requireInside(run, claim);
  await refuseLinks(run, [claim]);
  await requireChangeable(run, [claim]);
}

/** Throws what a run without a person never grants, even where -y would approve the same step of a plan. */
async function refuseHeadless(run: Run, rights: Rights, claim: PlanClaim): Promise<void> {
  const { acting, changing, invocation } = run;
  if (invocation.command === "apply" || invocation.command === "plan") {
    throw new PaiError(
      "scope_refused",
      `a saved plan is carried out as it is: it does not allow to ${renderClaim(claim)}`,
    );
  }
  if (claim.kind === "command" && !changing.dryRun && !mayRunCommand(run, claim.command)) {
    throw new PaiError("command_refused", `headless it needs ${flagToRun(claim.command)}`);
  }
  await requirePermitted(run, claim);
  const maxAmendments = Math.max(fewAmendments, rights.planned);
  if (acting.amended.filter(({ accept }) => accept).length >= maxAmendments) {
    throw new PaiError("scope_refused", `the run has ${maxAmendments} amendments already, as many as it may`);
  }
}

function refuse(run: Run, rights: Rights, { request, claim }: Asked, error: PaiError, by: Amendment["by"] = "policy") {
  rights.refuse(claim, error);
  noteAmended(run, { ...request, accept: false, by });
}

function refuseOrThrow(run: Run, rights: Rights, asked: Asked, thrown: unknown): void {
  const error = toPaiError(thrown);
  if (run.signal.aborted || !isRefusal(error)) throw thrown;
  refuse(run, rights, asked, error);
}

function grant(run: Run, rights: Rights, { request, claim }: Asked, by: Amendment["by"]): void {
  rights.grant(claim, request.why);
  noteAmended(run, { ...request, accept: true, by });
}

/** The diff of what these claims would change beyond the plan: the reply is tried on an overlay of the workspace. */
async function diffBeyond(run: Run, rights: Rights, asked: readonly Asked[], calls: readonly Call[]): Promise<string> {
  const wanted = new Set(asked.map(({ claim }) => renderClaim(claim)));
  const allowed = calls.filter((call) => {
    const claim = readCall(run, call);
    return claim !== null && (wanted.has(renderClaim(claim)) || permits(rights.scope, claim));
  });
  const isWanted = (call: Call) => wanted.has(renderClaim(readCall(run, call) as PlanClaim));
  const { steps } = await rehearse(run, allowed);
  return renderChanges(squash(steps.flatMap(({ call, changes }) => (isWanted(call) ? changes : []))));
}

async function renderAsked(run: Run, { request, claim }: Asked): Promise<string> {
  const { action, path, destination, why } = request;
  if (claim.kind === "command")
    return approvalWording.wishToRun(action, claim.command, why, await describeSandbox(run));
  const concern = concernsOf(run, [claim])[0]?.why ?? null;
  return approvalWording.wish(action, destination === null ? path : `${path} → ${destination}`, why, concern);
}

async function ask(run: Run, rights: Rights, asked: readonly Asked[], calls: readonly Call[]): Promise<void> {
  const claims = asked.map(({ claim }) => claim);
  const commands = claims.flatMap((claim) => (claim.kind === "command" ? [claim.command] : []));
  await bindCommands(run, commands);
  const text = approvalWording.amendments(await Promise.all(asked.map((each) => renderAsked(run, each))));
  const diff = await diffBeyond(run, rights, asked, calls);
  const only = await onlyCommands(run, claims);
  const decision = await run.decide({ kind: "amend", text, ...(diff === "" ? {} : { diff }), ...only });
  for (const each of asked) {
    if (decision.accept) grant(run, rights, each, decision.by);
    else {
      const error = new PaiError("declined", `the user declined to ${renderClaim(each.claim)}`);
      refuse(run, rights, each, error, decision.by);
    }
  }
}

/** Grants a request without a person, as -y would have done in the plan. A dry run asks nobody. */
async function grantByPolicy(run: Run, rights: Rights, asked: Asked): Promise<void> {
  try {
    await refuseHeadless(run, rights, asked.claim);
    if (!run.changing.dryRun) {
      const decision = await run.decide({ kind: "amend", text: await renderAsked(run, asked) });
      if (!decision.accept) throw new PaiError("scope_refused", `nobody can be asked to ${renderClaim(asked.claim)}`);
    }
    if (asked.claim.kind === "command") await bindCommands(run, [asked.claim.command]);
    grant(run, rights, asked, "policy");
  } catch (thrown) {
    refuseOrThrow(run, rights, asked, thrown);
  }
}

/** The claim of a request; null: it needs none. An error: the policy denies one of its paths, so its action is refused, too. */
function claimOf(run: Run, { action, path, destination }: AmendRequest): PlanClaim | PaiError | null {
  try {
    return claimOfPlan(action, path, destination, (text, use) => pathFor(run, text, use));
  } catch (thrown) {
    const error = toPaiError(thrown);
    if (!isRefusal(error)) throw thrown;
    return error;
  }
}

/** Counts refused requests that no call of the reply needs; the others are counted with their calls. */
export function noteRefused(run: Run, rights: Rights, asked: readonly AmendRequest[], reports: readonly CallReport[]) {
  for (const request of asked) {
    const { action: name, path, destination } = request;
    const claim = claimOf(run, request);
    const error = claim instanceof PaiError || claim === null ? claim : rights.refusalOf(claim);
    const target = destination === null ? path : `${path} → ${destination}`;
    if (error === null || reports.some((report) => report.name === name && report.target === target)) continue;
    run.acting.tally.note({ kind: "change", name, target, paths: [], text: error.message, code: error.code });
  }
}

const maxImplicit = 2;

/** The amendments that the last reply of a run without a person left out, for open files that the model was shown whole. */
export async function findImplicit(run: Run, rights: Rights, calls: readonly Call[]): Promise<readonly AmendRequest[]> {
  const { changing, interactive, ledger, workspace } = run;
  if (interactive || changing.strict || !ledger.exhausted) return [];
  const paths = new Set<RelPath>();
  for (const call of calls) {
    const claim = call.name === "MODIFY" ? readCall(run, call) : null;
    if (claim?.kind !== "content" || permits(rights.scope, claim) || rights.refusalOf(claim) !== null) continue;
    const { path } = claim;
    if (!withinOnly(changing.only, path) || !(await isToldWhole(run, path))) continue;
    if (workspace.concern(path) === null && workspace.whyClosed(path) === null) paths.add(path);
  }
  if (paths.size > maxImplicit) return [];
  return [...paths].map((path) => ({ action: "MODIFY", path, destination: null, why: "", implicit: true }));
}

async function isToldWhole(run: Run, path: RelPath): Promise<boolean> {
  const text = await textNow(run, path);
  return text !== null && untoldRanges(run.dialogue, path, text, null).length === 0;
}

const readCall = (run: Run, call: Call): PlanClaim | null => orNull(() => claimOfCall(run, call));

/** Adds to the rights what the requests of a reply ask for, if it is granted. `calls`: all calls of the reply. */
export async function amend(run: Run, rights: Rights, requests: readonly AmendRequest[], calls: readonly Call[]) {
  const open = new Map<string, Asked>();
  for (const request of requests) {
    const claim = claimOf(run, request);
    if (claim instanceof PaiError) noteAmended(run, { ...request, accept: false, by: "policy" });
    if (claim === null || claim instanceof PaiError || permits(rights.scope, claim) || rights.refusalOf(claim))
      continue;
    const asked = { request, claim };
    try {
      await refuseForbidden(run, claim);
      open.set(renderClaim(claim), asked);
    } catch (thrown) {
      refuseOrThrow(run, rights, asked, thrown);
    }
  }
  if (open.size === 0) return;
  const all = [...open.values()];
  if (run.interactive && !run.changing.dryRun) await ask(run, rights, all, calls);
  else for (const each of all) await grantByPolicy(run, rights, each);
}
