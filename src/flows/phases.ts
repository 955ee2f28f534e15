/** The phases of single-shot: what of the plan is done and what is left, and the requests that say it. */

import { grantsSome } from "../core/command/run-patterns.ts";
import { fence } from "../core/data-fence.ts";
import { tellOnce } from "../core/dialogue.ts";
import type { ErrorCode } from "../core/error.ts";
import type { UndoneStep } from "../core/outcome.ts";
import type { RelPath } from "../core/path.ts";
import { type Plan, type PlanStep, workOf } from "../core/plan/plan.ts";
import { claimOfPlan, type PlanClaim, pathsOfClaim, renderClaim } from "../core/plan/scope.ts";
import type { LooseTarget } from "../core/script/loose-reply.ts";
import { rowOf } from "../core/vocabulary.ts";
import { pathFor } from "./approval.ts";
import { renderPastOf, renderRequest } from "./briefing/briefing.ts";
import { renderPiped } from "./briefing/piped.ts";
import { showFile, toReadable } from "./briefing/sources.ts";
import { type Check, type CheckReport, describeCheck, describeFailed, renderBaseline } from "./checks/checks.ts";
import { tellChanged } from "./dialogue.ts";
import { renderAnswerForm, renderLearning } from "./ending/ending.ts";
import { showLook } from "./evidence.ts";
import type { BatchReport, CallReport } from "./perform.ts";
import type { Run } from "./run.ts";

/** Work that is left: the reason for another phase, or, when no call is left, the failure of the run. */
export interface Left {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | null;
  /** Promised claims that are not done yet, for the next phase. */
  readonly open: readonly string[];
  /** The planned steps that are open, where everything that was tried has worked; else empty. */
  readonly undone: readonly UndoneStep[];
}

/** Facts about a reply besides its batch. */
interface ReplyFacts {
  readonly finished: boolean;
  readonly cut: boolean;
  readonly overflow: boolean;
  /** The reply held neither an action nor an answer. */
  readonly empty: boolean;
  /** What it held instead, as words after "it held"; "": only prose. */
  readonly seen: string;
  /** Promised folders that exist and promised deletions that are done, whoever did them. */
  readonly settled: readonly PlanClaim[];
}

export interface Progress {
  readonly steps: number;
  readonly promisesChanges: boolean;
  /** Promised claims that are not done yet. */
  readonly open: readonly string[];
  /** The one file that is still to be created or changed; if there is not exactly one, all promised files. */
  targets(): readonly LooseTarget[];
  /** The last failure that is not resolved; null: none. */
  readonly failure: CallReport | null;
  /** Files whose edits failed twice, so that they are better written whole. */
  readonly stubborn: readonly RelPath[];
  /** Notes the results of a batch, for flows that decide themselves what is left. */
  absorb(batch: BatchReport): void;
  /** Notes the results of a batch and decides what is left; null: only the checks. */
  take(batch: BatchReport, facts: ReplyFacts): Left | null;
  /** `left` after the checks: a fatal one is worth another phase, and fails the run when no call is left. */
  judgeChecks(left: Left | null, reports: readonly CheckReport[]): Left | null;
}

/** The files that a plan creates or changes, each once. */
function targetsOf(run: Run, plan: Plan, claims: readonly PlanClaim[]): readonly LooseTarget[] {
  const written = new Set(
    workOf(plan).flatMap(({ action, target }) =>
      rowOf(action)?.form === "content" ? (toReadable(run, target) ?? []) : [],
    ),
  );
  const paths = new Set(claims.flatMap((claim) => (claim.kind === "content" ? [claim.path] : [])));
  return [...paths].map((path) => ({ path, isWritten: written.has(path) }));
}

export function createProgress(run: Run, plan: Plan, claims: readonly PlanClaim[]): Progress {
  const promised = claims.filter(({ kind }) => kind !== "command");
  const touched = new Set<string>();
  let settled: ReadonlySet<PlanClaim> = new Set();
  const failedEdits = new Map<RelPath, number>();
  let failures: readonly CallReport[] = [];

  // By kind, since a promise to delete and to rewrite a file needs both. A command's change counts for every kind.
  const isTouched = (kind: PlanClaim["kind"], path: RelPath) =>
    touched.has(`${kind} ${path}`) ||
    run.begun?.commandPaths.has(path) === true ||
    // A file that the plan moves has two names, and a promised change may be made under either.
    promised.some((claim) => claim.kind === "move" && claim.from === path && touched.has(`${kind} ${claim.to}`));
  const isDone = (claim: PlanClaim) =>
    settled.has(claim) || pathsOfClaim(claim).every((path) => isTouched(claim.kind, path));
  const openClaims = () => promised.filter((claim) => !isDone(claim));

  const touch = ({ name, paths }: CallReport) => {
    for (const path of paths) touched.add(`${rowOf(name)?.right} ${path}`).add(`folder ${path}`);
    if (rowOf(name)?.right !== "move") return;
    const [from, to] = paths;
    // A move that was not promised as a move fulfils two other promises: a deletion here and content there.
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
    failures = failures.length === 0 ? bad : [...stillOpen(failures, reports, bad), ...bad];
  };

  /**
   * A refused action beyond the plan is not worth another call. An action that the person declined is worth telling the
   * model, but it is no failure when no call is left.
   */
  const isOpen = ({ code, isBeyond }: CallReport) =>
    isBeyond !== true && (code !== "declined" || !run.ledger.exhausted);

  const left = (code: ErrorCode, message: string, hint: string | null = null): Left => ({
    code,
    message,
    hint,
    open: openClaims().map(renderClaim),
    undone: [],
  });

  /** The planned steps of the open claims; none where the reply was cut or too long. `lack`: what an empty reply lacked. */
  const undoneAfter = ({ cut, overflow, empty }: ReplyFacts, lack: string): readonly UndoneStep[] => {
    if (cut || overflow) return [];
    const why = empty ? lack : "no reply did it";
    const open = new Set(openClaims().map(renderClaim));
    return workOf(plan).flatMap(({ action, target, destination }) => {
      const claim = claimOfPlan(action, target, destination, (text, use) => pathFor(run, text, use));
      const isOpen = claim !== null && open.delete(renderClaim(claim));
      return isOpen ? [{ action, target: destination === null ? target : `${target} → ${destination}`, why }] : [];
    });
  };

  return {
    steps: plan.execution_plan?.steps.length ?? 0,
    promisesChanges: promised.length > 0,
    get open() {
      return openClaims().map(renderClaim);
    },
    targets() {
      const targets = targetsOf(run, plan, claims);
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
      const failure = failures.findLast(isOpen);
      const why =
        whyNot(facts, failure, open) ?? (done && run.ledger.exhausted ? null : asksForMore(run, batch, facts.finished));
      if (why !== null) return { ...left(...why), undone: failure === undefined ? undoneAfter(facts, why[1]) : [] };
      return done ? null : left("reply_invalid", "the reply did not end with FINISH");
    },
    judgeChecks(before, reports) {
      if (before !== null) return before;
      const worst = reports.find(({ fatal }) => fatal);
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

/** Why a reply leaves work undone, the worst reason; null: it leaves none. */
function whyNot(
  facts: ReplyFacts,
  failure: CallReport | undefined,
  open: readonly string[],
): [code: ErrorCode, message: string, hint?: string] | null {
  if (failure !== undefined) {
    const reason = [failure.code ?? "failed", oneLine(failure)] as const;
    return failure.code === "guard_refused" ? [...reason, guardHint] : [...reason];
  }
  if (facts.cut && (open.length > 0 || !facts.finished)) return ["reply_cut", "the reply was cut at the output limit"];
  if (facts.empty) return ["reply_invalid", `the reply held ${facts.seen || "no action and no answer"}`];
  if (facts.overflow) return ["nothing_done", "the reply held more actions than one phase may do"];
  return open.length > 0 ? ["nothing_done", `promised and not done: ${open.join(", ")}`] : null;
}

/**
 * The reason for another call when a reply holds a look whose answer the model has not seen; null: none. After FINISH
 * only a READ counts, and only of a file that the model was not shown and has not changed.
 */
function asksForMore(run: Run, { reports }: BatchReport, finished: boolean): [ErrorCode, string] | null {
  const known = (path: string) =>
    run.overlay.shown(path as RelPath) !== null ||
    (run.begun?.changes ?? run.changing.staged).some((change) => change.path === path);
  const open = reports.some(
    ({ kind, name, ok, target }) =>
      kind === "look" && (!finished || (rowOf(name)?.form === "lines" && ok && !known(target))),
  );
  return open ? ["nothing_done", "the model asked to see more and no call is left"] : null;
}

const renderStep = ({ action, target, destination, purpose }: PlanStep, at: number) =>
  `${at + 1}. ${action} ${target}${destination === null ? "" : ` → ${destination}`}${purpose === "" ? "" : ` — ${purpose}`}`;

/** The plan's success criteria; "": it has none. */
export function renderCriteria({ analysis }: Plan): string {
  const criteria = (analysis?.success_criteria ?? []).map((each) => each.trim()).filter((each) => each !== "");
  return criteria.length === 0 ? "" : `Done when:\n${criteria.map((each) => `- ${each}`).join("\n")}`;
}

/** How many replies are left for the work, and what this one must therefore do. */
function renderTurns(left: number): string {
  const head = `turns left: ${left}, this one included.`;
  if (left <= 1) return `${head} Do all of it now, and end with FINISH.`;
  return `${head} Missing something? READ it and leave out FINISH. Otherwise end with FINISH.`;
}

/** What a request for work holds besides its evidence. */
interface AskedExecution {
  readonly checks: readonly Check[];
  /** Replies that are left for the work, this one included; null: another part of the message says it. */
  readonly turns: number | null;
}

/** Names the commands that are not run, so that the model does not claim any result of them. */
function renderNotRun({ acting: { tally }, changing, shell }: Run): string {
  if (!changing.dryRun && tally.withheld.size === 0) return "";
  const some = !changing.dryRun && grantsSome(shell.allowRun);
  return some
    ? `Not run this time: ${[...tally.withheld].join("; ")}. Do not say what they showed.`
    : "Commands are not run this time: do not say what one showed.";
}

/** Characters of the turn before that a call of the work is told. */
const maxOfLastTurn = 12_000;

/**
 * The user message of the first call for the work: what is new, then what is to be done. Where it stands alone, also
 * request, context and plan, which the dialogue holds otherwise.
 */
export function renderTask(run: Run, plan: Plan, evidence: string, { checks, turns }: AskedExecution): string {
  const { task, dialogue } = run;
  const isAlone = dialogue.messages.length === 0;
  const alone = (text: string) => (isAlone ? text : "");
  const last = task.history.slice(-1);
  const where = plan.analysis?.target_identification ?? "";
  const steps = workOf(plan);
  const done = checks.flatMap(({ command, by }) => (by === "plan" ? [`- ${command}`] : [])).join("\n");
  const parts = [
    evidence,
    alone(renderPiped(run)),
    alone(last.length === 0 ? "" : fence("conversation", {}, renderPastOf(run, last, maxOfLastTurn))),
    alone(`Plan${where === "" ? "" : ` (${where})`}:\n${steps.map(renderStep).join("\n")}`),
    alone(renderCriteria(plan)),
    renderNotRun(run),
    tellOnce(dialogue, "checks", renderBaseline(run.checking)),
    alone(done === "" ? "" : `Checks that pai runs after it (no RUN needed):\n${done}`),
    turns === null ? "" : renderTurns(turns),
    alone(renderRequest(run)),
    renderLearning(run.ending),
    alone(renderAnswerForm(run.ending)),
    isAlone ? "Carry out the plan: an action script." : "The plan is approved. Carry it out: an action script.",
  ];
  return parts.filter(Boolean).join("\n\n");
}

const renderCall = ({ name, target, ok, text }: CallReport) => {
  if (ok && !text.includes("\n")) return `done: ${name} ${target}${text === "" ? "" : ` (${text})`}`;
  return `${ok ? "done" : "FAILED"}: ${name} ${target}\n${text.includes("\n") ? fence("result", {}, text) : text}`;
};

/** The results of calls, one after another; of a successful look only that it was done. */
export function renderCalls(reports: readonly CallReport[]): string {
  return reports
    .map((report) => renderCall(report.kind === "look" && report.ok ? { ...report, text: "" } : report))
    .join("\n");
}

/** How a phase ended. */
interface PhaseResults {
  readonly batch: BatchReport;
  readonly left: Left;
  readonly notes: readonly string[];
  readonly checks: readonly CheckReport[];
  /** Files whose edits failed twice. */
  readonly stubborn: readonly RelPath[];
  /** The tag that closes bodies. */
  readonly tag: string;
  /** Replies that are left for the work, the next one included. */
  readonly turns: number;
}

/** The forms of actions, for a model whose reply could not be used. */
export const renderForms = (tag: string): string =>
  `Send an existing file's change as MODIFY::path::${tag}, <<<<<<< SEARCH, its lines, =======, the new lines, >>>>>>> REPLACE, END::${tag}; a new file as WRITE::path::${tag}, its lines, END::${tag}; then FINISH::${tag}, the message, END::${tag}.`;

/** Asks for a whole file instead of edits, and shows it again. */
async function renderStubborn(run: Run, path: RelPath): Promise<string> {
  run.dialogue.files.delete(path);
  const now = await showFile(run, path);
  return [now ?? "", `Edits of ${path} failed twice: send the whole file with WRITE::${path} instead.`]
    .filter(Boolean)
    .join("\n");
}

/** The user message of a later phase: what is done, what failed and why, what is still to do. */
export async function renderResults(
  run: Run,
  { batch, left, notes, checks, stubborn, tag, turns }: PhaseResults,
): Promise<string> {
  // What the model wrote, and what commands and other people did to the files that it knows.
  const changed = await tellChanged(run);
  const looks = batch.reports.filter(({ kind }) => kind === "look");
  const rest = batch.reports.filter(({ kind }) => kind !== "look");
  const shown = await Promise.all(looks.map((report) => showLook(run, report)));
  const failed = checks.filter(({ passed }) => passed === false);
  const parts = [
    ...shown,
    rest.length > 0 ? `Results. What is done is done: do not send it again.\n${rest.map(renderCall).join("\n")}` : "",
    changed,
    ...(await Promise.all(stubborn.map((path) => renderStubborn(run, path)))),
    ...notes,
    ...failed.map((check) => describeCheck(check)),
    left.code === "reply_invalid" ? `Your last reply could not be used: ${left.message}.\n${renderForms(tag)}` : "",
    left.open.length > 0 ? `Still to do from the plan:\n${left.open.map((claim) => `- ${claim}`).join("\n")}` : "",
    renderTurns(turns),
    failed.length > 0
      ? "Your edits are in the files now. Correct what the failed check shows: an action script again, ended with FINISH."
      : "Answer with an action script again, of only what is left, ended with FINISH (alone when nothing is).",
  ];
  return parts.filter(Boolean).join("\n\n");
}
