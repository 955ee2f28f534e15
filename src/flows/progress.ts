/** Keeps track of what a plan promised and what of it is still left, over the phases of a run. */

import type { ErrorCode } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import { type Plan, workOf } from "../core/plan/plan.ts";
import { type Claim, pathsOfClaim, renderClaim } from "../core/plan/scope.ts";
import type { LooseTarget } from "../core/script/loose-reply.ts";
import { rowOf } from "../core/vocabulary.ts";
import { toReadable } from "./briefing/sources.ts";
import type { CheckReport } from "./checks/checks.ts";
import { describeFailed } from "./checks/describe.ts";
import type { BatchReport, CallReport } from "./perform.ts";
import type { Run } from "./run.ts";

/** What is left to do: the reason for another phase, and the failure of the run when no call is left for one. */
export interface Left {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | null;
  /** Promised and not touched yet, for the next phase. */
  readonly open: readonly string[];
}

/** What is known of a reply beside the batch it became. */
export interface ReplyFacts {
  readonly finished: boolean;
  readonly cut: boolean;
  readonly overflow: boolean;
  /** The reply held neither an action nor an answer. */
  readonly empty: boolean;
  /** What it held instead, as words that follow "it held"; "" for plain words. */
  readonly seen: string;
  /** Promised folders that exist and promised deletions that are done, whoever did it. */
  readonly settled: readonly Claim[];
}

export interface Progress {
  readonly steps: number;
  readonly promisesChanges: boolean;
  /** Promised and not touched yet. */
  readonly open: readonly string[];
  /** The file that is left to be made or changed; all that are promised when it is not one. */
  readonly targets: readonly LooseTarget[];
  /** The last failure that nothing has resolved; null: none. */
  readonly failure: CallReport | null;
  /** Files whose edits failed twice: they are better written whole. */
  readonly stubborn: readonly RelPath[];
  /** Notes what a batch did; for flows that judge by themselves what is left. */
  absorb(batch: BatchReport): void;
  /** Notes what a batch did and judges what is left; null: nothing but the checks. */
  take(batch: BatchReport, facts: ReplyFacts): Left | null;
  /** The same with the checks: a failed one is worth another phase, but only a fatal one fails the run. */
  judgeChecks(left: Left | null, reports: readonly CheckReport[]): Left | null;
}

/** The files that a plan makes or changes, each once. */
function targetsOf(run: Run, plan: Plan, claims: readonly Claim[]): readonly LooseTarget[] {
  const written = new Set(
    workOf(plan).flatMap(({ action, target }) =>
      rowOf(action)?.form === "content" ? (toReadable(run, target) ?? []) : [],
    ),
  );
  const paths = new Set(claims.flatMap((claim) => (claim.kind === "content" ? [claim.path] : [])));
  return [...paths].map((path) => ({ path, isWritten: written.has(path) }));
}

export function createProgress(run: Run, plan: Plan, claims: readonly Claim[]): Progress {
  const promised = claims.filter(({ kind }) => kind !== "command");
  const targets = targetsOf(run, plan, claims);
  const touched = new Set<string>();
  let settled: ReadonlySet<Claim> = new Set();
  const failedEdits = new Map<RelPath, number>();
  let failures: readonly CallReport[] = [];

  // By kind: a promise to delete and write a file again needs both. What a command changed counts for every kind.
  const isTouched = (kind: Claim["kind"], path: RelPath) =>
    namesOf(path).some((name) => touched.has(`${kind} ${name}`)) || run.begun?.commandPaths.has(path) === true;
  const isDone = (claim: Claim) =>
    settled.has(claim) || pathsOfClaim(claim).every((path) => isTouched(claim.kind, path));
  /** A file that the plan moves may be changed under either name. */
  const namesOf = (path: RelPath) => [
    path,
    ...promised.flatMap((claim) => (claim.kind === "move" && claim.from === path ? [claim.to] : [])),
  ];
  const openClaims = () => promised.filter((claim) => !isDone(claim));

  const touch = ({ name, paths }: CallReport) => {
    for (const path of paths) touched.add(`${rowOf(name)?.right} ${path}`).add(`folder ${path}`);
    if (rowOf(name)?.right !== "move") return;
    const [from, to] = paths;
    // A move that was not promised as one is what was: a deletion here and content there.
    const isPromised = promised.some((claim) => claim.kind === "move" && claim.from === from && claim.to === to);
    if (!isPromised) touched.add(`delete ${from}`).add(`content ${to}`);
  };
  const countFailedEdit = ({ paths }: CallReport) => {
    for (const path of paths) failedEdits.set(path, (failedEdits.get(path) ?? 0) + 1);
  };

  const absorb = ({ reports }: BatchReport) => {
    for (const report of reports) if (report.ok && report.kind === "change") touch(report);
    const bad = reports.filter(({ ok, kind }) => !ok && kind !== "look");
    for (const report of bad) if (report.code === "edit_failed") countFailedEdit(report);
    const redone = new Set(reports.filter(({ ok }) => ok).flatMap(({ paths }) => paths));
    // What was out of scope, or is not a path at all, is settled by not being repeated; the rest by a later change of its path.
    const earlier = failures.filter(
      ({ code, paths, isBeyond }) =>
        isBeyond !== true &&
        code !== "scope_refused" &&
        code !== "declined" &&
        !paths.every((path) => redone.has(path)) &&
        !bad.some((report) => samePaths(report.paths, paths)),
    );
    failures = [...earlier, ...bad];
  };

  /**
   * A refused action beyond the plan is not worth another call. What the person declined unasked is worth
   * telling the model, and no failure when no call is left for it.
   */
  const isOpen = ({ code, isBeyond }: CallReport) =>
    isBeyond !== true && (code !== "declined" || !run.ledger.exhausted);

  const left = (code: ErrorCode, message: string, hint: string | null = null): Left => ({
    code,
    message,
    hint,
    open: openClaims().map(renderClaim),
  });

  return {
    steps: plan.execution_plan?.steps.length ?? 0,
    promisesChanges: promised.length > 0,
    get open() {
      return openClaims().map(renderClaim);
    },
    get targets() {
      const left = openClaims().flatMap((claim) => (claim.kind === "content" ? [claim.path] : []));
      return left.length === 1 ? targets.filter(({ path }) => path === left[0]) : targets;
    },
    get failure() {
      return failures.at(-1) ?? null;
    },
    get stubborn() {
      return [...failedEdits].filter(([, times]) => times >= 2).map(([path]) => path);
    },
    absorb,
    take(batch, facts) {
      absorb(batch);
      settled = new Set(facts.settled);
      const open = openClaims().map(renderClaim);
      const done = facts.finished || promised.length > 0;
      const why =
        whyNot(facts, failures.findLast(isOpen), open) ??
        (done && run.ledger.exhausted ? null : asksForMore(run, batch, facts.finished));
      if (why !== null) return left(...why);
      return done ? null : left("reply_invalid", "the reply did not end with FINISH");
    },
    judgeChecks(before, reports) {
      if (before !== null) return before;
      const failed = reports.filter(({ passed, tolerated }) => passed === false && !tolerated);
      const worst = failed.find(({ fatal }) => fatal) ?? (run.ledger.exhausted ? undefined : failed[0]);
      if (worst === undefined) return null;
      const keep = "--keep keeps the changes all the same";
      const isOld = worst.compared?.same === true;
      return left(
        "check_failed",
        describeFailed(worst),
        isOld ? `--no-worse accepts a failure that was there before; ${keep}` : keep,
      );
    },
  };
}

const samePaths = (a: readonly RelPath[], b: readonly RelPath[]) =>
  a.length === b.length && a.every((path, at) => path === b[at]);

function oneLine({ name, target, text }: CallReport): string {
  const [line = ""] = text.split("\n", 1);
  return line.startsWith(`${target}: `) ? `${name} ${line}` : `${name} ${target}: ${line}`;
}

const guardHint = "say in the task what may be replaced or deleted, or raise the limits guard.lines and guard.ratio";

/** What a reply left undone, the worst first. */
function whyNot(
  facts: ReplyFacts,
  failure: CallReport | undefined,
  open: readonly string[],
): [code: ErrorCode, message: string, hint?: string] | null {
  if (failure !== undefined) {
    const told = [failure.code ?? "failed", oneLine(failure)] as const;
    return failure.code === "guard_refused" ? [...told, guardHint] : [...told];
  }
  if (facts.cut && (open.length > 0 || !facts.finished)) return ["reply_cut", "the reply was cut at the output limit"];
  if (facts.empty) return ["reply_invalid", `the reply held ${facts.seen || "no action and no answer"}`];
  if (facts.overflow) return ["nothing_done", "the reply held more actions than one phase may do"];
  return open.length > 0 ? ["nothing_done", `promised and not done: ${open.join(", ")}`] : null;
}

/**
 * Set when a reply holds a look whose answer the model still has to see. After FINISH only a READ of a file counts that it
 * was neither shown nor has changed.
 */
function asksForMore(run: Run, { reports }: BatchReport, finished: boolean): [ErrorCode, string] | null {
  const known = (path: string) =>
    run.overlay.shown(path as RelPath) !== null ||
    (run.begun?.changes ?? run.record.staged).some((change) => change.path === path);
  const open = reports.some(
    ({ kind, name, ok, target }) =>
      kind === "look" && (!finished || (rowOf(name)?.form === "lines" && ok && !known(target))),
  );
  return open ? ["nothing_done", "the model asked to see more and no call is left"] : null;
}
