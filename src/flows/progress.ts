/** What of a plan is done and what is left: the reason for another call, or for the end of the run. */

import type { ErrorCode } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import { type Plan, type PlanStep, workOf } from "../core/plan/plan.ts";
import { claimOfPlan, commandOf, type PlanClaim, pathsOfClaim, renderClaim } from "../core/plan/scope.ts";
import type { LooseTarget } from "../core/script/loose-reply.ts";
import { nameSome } from "../core/suggest.ts";
import { rowOf } from "../core/vocabulary.ts";
import type { Made } from "./acting.ts";
import { pathFor } from "./approval.ts";
import { toReadable } from "./briefing/sources.ts";
import type { CheckReport } from "./checks/checking.ts";
import { describeFailed } from "./checks/checks.ts";
import { mayRunCommand, redCommands } from "./commands/commands.ts";
import { takeUp } from "./ending/ending.ts";
import type { BatchReport, CallReport } from "./perform.ts";
import type { Run } from "./run.ts";

export interface Left {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | null;
  readonly open: readonly string[];
  readonly files: readonly RelPath[];
  /** Why the planned steps are open, where everything that was tried has worked; null: a part is not enough. */
  readonly part: string | null;
}

interface ReplyFacts {
  readonly finished: boolean;
  readonly cut: boolean;
  readonly overflow: boolean;
  readonly empty: boolean;
  /** What it held instead, as words after "it held"; "": only prose. */
  readonly seen: string;
}

export type Progress = ReturnType<typeof createProgress>;

function targetsOf(run: Run, plan: Plan, claims: readonly PlanClaim[]): readonly LooseTarget[] {
  const written = new Set(
    workOf(plan).flatMap(({ action, target }) =>
      rowOf(action)?.form === "content" ? (toReadable(run, target) ?? []) : [],
    ),
  );
  const paths = new Set(claims.flatMap((claim) => (claim.kind === "content" ? [claim.path] : [])));
  return [...paths].map((path) => ({ path, isWritten: written.has(path) }));
}

function touches({ name, paths }: Made, promised: readonly PlanClaim[]): readonly string[] {
  const made = paths.flatMap((path) => [`${rowOf(name)?.right} ${path}`, `folder ${path}`]);
  const [from, to] = paths;
  if (rowOf(name)?.right !== "move") return made;
  // A move that was not promised as a move fulfils two other promises: a deletion here and content there.
  const isPromised = promised.some((claim) => claim.kind === "move" && claim.from === from && claim.to === to);
  return isPromised ? made : [...made, `delete ${from}`, `content ${to}`];
}

export function createProgress(run: Run, plan: Plan, claims: readonly PlanClaim[]) {
  const promised = claims.filter(({ kind }) => kind !== "command");
  const withdrawn = new Set<string>();
  let settled: ReadonlySet<PlanClaim> = new Set();
  const failedEdits = new Map<RelPath, number>();
  let failures: readonly CallReport[] = [];

  const touched = () => new Set(run.acting.made.flatMap((made) => touches(made, promised)));
  // By kind, since a promise to delete and to rewrite a file needs both. A command's change counts for every kind.
  const isTouched = (made: ReadonlySet<string>, kind: PlanClaim["kind"], path: RelPath) =>
    made.has(`${kind} ${path}`) ||
    run.begun?.commandPaths.has(path) === true ||
    // A file that the plan moves has two names, and a promised change may be made under either.
    promised.some((claim) => claim.kind === "move" && claim.from === path && made.has(`${kind} ${claim.to}`));
  /** Whether the person saw these changes and said no: no reply is to make them. */
  const isDeclined = (paths: readonly RelPath[]) =>
    paths.length > 0 && paths.every((path) => run.changing.declined.some((each) => each.paths.includes(path)));
  const isDone = (made: ReadonlySet<string>, claim: PlanClaim) =>
    settled.has(claim) ||
    withdrawn.has(renderClaim(claim)) ||
    isDeclined(pathsOfClaim(claim)) ||
    pathsOfClaim(claim).every((path) => isTouched(made, claim.kind, path));
  const openClaims = () => {
    const made = touched();
    return promised.filter((claim) => !isDone(made, claim));
  };

  /** Notes the results of a batch. `settled`: promised folders that exist and promised deletions that are done. */
  const absorb = ({ reports }: BatchReport, done: readonly PlanClaim[] = []) => {
    settled = new Set([...settled, ...done]);
    const worked = reports.filter(({ code, kind }) => code === null && kind !== "look");
    for (const { target, paths } of worked) takeUp(run.ending, [target, ...paths]);
    const bad = reports.filter((report) => report.code !== null && report.kind !== "look" && !isDeclined(report.paths));
    for (const path of bad.flatMap(({ code, paths }) => (code === "edit_failed" ? paths : [])))
      failedEdits.set(path, (failedEdits.get(path) ?? 0) + 1);
    failures = failures.length === 0 ? bad : [...stillOpen(failures, reports, bad), ...bad];
  };

  /** Refused work beyond the plan is worth no call; declined work is told, but fails nothing when no call is left. */
  const isOpen = ({ code, isBeyond }: CallReport) =>
    isBeyond !== true && (code !== "declined" || !run.ledger.exhausted);

  const left = (code: ErrorCode, message: string, hint: string | null = null): Left => ({
    code,
    message,
    hint,
    open: openClaims().map(renderClaim),
    files: openClaims().flatMap((claim) => (claim.kind === "content" ? [claim.path] : [])),
    part: null,
  });

  const claimOfStep = ({ action, target, destination }: PlanStep) =>
    claimOfPlan(action, target, destination, (text, use) => pathFor(run, text, use));

  const openSteps = () => {
    const open = new Set(openClaims().map(renderClaim));
    const ran = new Set(run.shell.commands.map(({ command }) => command));
    const checked = new Set(
      [...run.checking.checks, ...(plan.execution_plan?.checks ?? [])].map((each) => each.trim()),
    );
    return workOf(plan).filter((step) => {
      const claim = claimOfStep(step);
      if (claim?.kind !== "command") return claim !== null && open.delete(renderClaim(claim));
      const command = commandOf(step.action, step.target);
      if (withdrawn.has(renderClaim(claim)) || ran.has(command) || checked.has(command)) return false;
      return mayRunCommand(run, command);
    });
  };

  return {
    steps: plan.execution_plan?.steps.length ?? 0,
    promisesChanges: promised.length > 0,
    get open(): readonly string[] {
      return openClaims().map(renderClaim);
    },
    /** The one file that is still to be created or changed; if there is not exactly one, all promised files. */
    targets(): readonly LooseTarget[] {
      const targets = targetsOf(run, plan, claims);
      const left = openClaims().flatMap((claim) => (claim.kind === "content" ? [claim.path] : []));
      return left.length === 1 ? targets.filter(({ path }) => path === left[0]) : targets;
    },
    get failure(): CallReport | null {
      return failures.at(-1) ?? null;
    },
    /** The planned steps that are open: changes that no call made, and commands that may run and did not. */
    get openSteps(): readonly PlanStep[] {
      return openSteps();
    },
    withdraw(step: PlanStep): void {
      const claim = claimOfStep(step);
      if (claim === null) return;
      withdrawn.add(renderClaim(claim));
      const gone = pathsOfClaim(claim);
      failures = failures.filter(({ paths }) => paths.length === 0 || !paths.every((path) => gone.includes(path)));
    },
    /** Files whose edits failed twice, so that they are better written whole. */
    get stubborn(): readonly RelPath[] {
      return [...failedEdits].filter(([, times]) => times >= 2).map(([path]) => path);
    },
    absorb,
    /** Decides what a reply leaves, once its batch is absorbed; null: only the checks. */
    decide(batch: BatchReport, facts: ReplyFacts): Left | null {
      const open = openClaims().map(renderClaim);
      const done = facts.finished || promised.length > 0;
      const failure = failures.findLast(isOpen);
      const wants = asksForMore(run, batch, facts.finished);
      const lack = whyNot(facts, failure, open);
      const isTurn = failure === undefined && !facts.cut && !run.ledger.exhausted;
      const why = (isTurn ? wants : null) ?? lack ?? (done ? null : wants);
      const hasPart = failure === undefined && open.length > 0;
      if (why !== null) return { ...left(...why), part: hasPart ? whyOpen(facts, why[1]) : null };
      return done ? null : left("reply_invalid", "the reply did not end with FINISH");
    },
    /** `before` after the commands: a red one is worth another call, unless the reply only ended the work (`isMore` false). */
    judgeCommands(before: Left | null, isMore: boolean): Left | null {
      const red = isMore && promised.length > 0 && !run.ledger.exhausted ? redCommands(run)[0] : undefined;
      return before !== null || red === undefined ? before : left("command_failed", `${red.target}: ${red.why}`);
    },
    /** `before` after the checks: a fatal one is worth another phase, and fails the run when no call is left. */
    judgeChecks(before: Left | null, reports: readonly CheckReport[]): Left | null {
      if (before !== null) return before;
      const worst = reports.find(({ fatal }) => fatal);
      if (worst === undefined) return null;
      // A person is asked instead whether the changes stay.
      if (run.interactive) return left("check_failed", describeFailed(worst));
      const isOld = worst.compared?.same === true;
      const offer = isOld ? "--no-worse accepts a failure that was there before" : null;
      const limit = "--no-worse accepts a failure only where its output shows that it was there before";
      return left("check_failed", describeFailed(worst), run.checking.noWorse ? limit : offer);
    },
  };
}

/** Why planned steps are open after a reply that ended by itself; null: it did not. `lack`: what an empty one lacked. */
function whyOpen({ cut, overflow, empty }: ReplyFacts, lack: string): string | null {
  if (cut || overflow) return null;
  return empty ? lack : "left out in the end";
}

/** The earlier failures that a batch with these reports leaves open; `bad`: its failed ones. */
function stillOpen(earlier: readonly CallReport[], reports: readonly CallReport[], bad: readonly CallReport[]) {
  const redone = new Set(reports.filter(({ ok }) => ok).flatMap(({ paths }) => paths));
  // A failure out of scope or without a path is settled unless repeated; any other by a later change of its paths.
  return earlier.filter(
    ({ code, paths, isBeyond }) =>
      isBeyond !== true &&
      code !== "scope_refused" &&
      code !== "declined" &&
      !paths.every((path) => redone.has(path)) &&
      !bad.some((report) => samePaths(report.paths, paths)),
  );
}

const samePaths = (a: readonly RelPath[], b: readonly RelPath[]) =>
  a.length === b.length && a.every((path, at) => path === b[at]);

function oneLine({ name, target, text }: CallReport): string {
  const [line = ""] = text.split("\n", 1);
  return line.startsWith(`${target}: `) ? `${name} ${line}` : `${name} ${target}: ${line}`;
}

const guardHint = "say in the task what may be replaced or deleted, or raise the limit guard.lines";

function whyNot(
  facts: ReplyFacts,
  failure: CallReport | undefined,
  open: readonly string[],
): [code: ErrorCode, message: string, hint?: string] | null {
  if (failure !== undefined) {
    const reason = [failure.code ?? "failed", oneLine(failure)] as const;
    return failure.code === "guard_refused" ? [...reason, guardHint] : [...reason];
  }
  if (facts.cut && (open.length > 0 || !facts.finished)) return ["reply_cut", "the reply was too long, and was cut"];
  if (facts.empty) return ["reply_invalid", `the reply held ${facts.seen || "no action and no answer"}`];
  if (facts.overflow) return ["nothing_done", "the reply held more actions than one phase may do"];
  return open.length > 0 ? ["nothing_done", `promised and not done: ${open.join(", ")}`] : null;
}

/** The look that is worth another call; null: none. After FINISH only a READ of a file not shown and not changed. */
function asksForMore(run: Run, { reports }: BatchReport, finished: boolean): [ErrorCode, string] | null {
  const known = (path: string) =>
    run.overlay.shown(path as RelPath) !== null ||
    (run.begun?.changes ?? run.changing.staged).some((change) => change.path === path);
  const wanted = reports.filter(
    ({ kind, name, ok, target }) =>
      kind === "look" && (!finished || (rowOf(name)?.form === "lines" && ok && !known(target))),
  );
  if (wanted.length === 0) return null;
  const names = nameSome(wanted.map(({ name, target }) => `${name} ${target}`));
  return ["nothing_done", `the model wants to see ${names}${run.ledger.exhausted ? ", and no call is left" : ""}`];
}
