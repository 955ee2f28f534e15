/** What the outcome of a run says, from the states of its parts and how it closed. The model cannot influence the status. */

import type { Change } from "../../core/change.ts";
import { exitCodes, type PaiError, toFailure } from "../../core/error.ts";
import { weighedOf } from "../../core/model.ts";
import type { Outcome, RefusedAction, Status } from "../../core/outcome.ts";
import type { RelPath } from "../../core/path.ts";
import { workOf } from "../../core/plan/plan.ts";
import { undoneStep } from "../../core/plan/scope.ts";
import { nameSome } from "../../core/suggest.ts";
import { rowOf } from "../../core/vocabulary.ts";
import { endedBefore, isRefusal } from "../acting.ts";
import type { Changing } from "../changes/changing.ts";
import { lostOf, showMerged } from "../changes/meanwhile.ts";
import { resultsNow } from "../checks/admit.ts";
import { isAnswer, isVerified } from "../checks/checks.ts";
import { hasOwnWork, redCommands } from "../commands/commands.ts";
import type { Shell } from "../commands/shell.ts";
import type { Ledger } from "../ledger.ts";
import type { Planning } from "../plans/plan-state.ts";
import type { Run } from "../run.ts";
import type { RunEnding } from "./ending.ts";

export interface Closed {
  readonly changes: readonly Change[];
  /** The run's own changes that were taken back. */
  readonly back: readonly Change[];
  /** Of `changes` those that somebody else had changed, so that they were not taken back. */
  readonly left: readonly RelPath[];
  readonly failure: PaiError | null;
  /** Somebody else had taken all of it back. */
  readonly isGone?: boolean;
}

export const stops: readonly string[] = ["interrupted", "terminated", "hangup", "timeout"];

function statusOfFailure(failure: PaiError): Status {
  if (stops.includes(failure.code)) return "interrupted";
  if (failure.code === "partial") return "partial";
  return failure.code === "declined" || failure.code === "approval_needed" ? "declined" : "failed";
}

const promises = (planning: Readonly<Planning>): boolean =>
  !planning.planOnly &&
  planning.plan?.intent === "task" &&
  (planning.plan.execution_plan?.steps ?? []).some(({ action }) => rowOf(action)?.right !== null);

/** "answered": nothing was promised, changed or refused, and no check has to judge; "verified": checks have judged it. */
function statusOf(run: Run, changed: boolean): Status {
  const { acting, changing, checking, planning } = run;
  const decided = checking.checks.length > 0 && !planning.planOnly && !isAnswer(run);
  const isRefused = acting.tally.refused.length + changing.declined.length > 0;
  if (!changed && !decided && !promises(run.planning) && !isRefused) return "answered";
  // What passes is what was there before.
  const isOpen = !changed && changing.declined.length > 0;
  return isVerified(checking) && !isOpen ? "verified" : "unverified";
}

export const hasDone = (run: Run): boolean => hasOwnWork(run) || run.shell.commands.some(({ exit }) => exit === 0);

/** What the person said no to: of changes that they saw, and of requests beyond the plan. */
export const noesOf = ({ acting, changing }: Run): readonly string[] => [
  ...changing.declined.flatMap(({ paths }) => paths),
  ...acting.amended.flatMap(({ accept, by, path }) => (accept || by !== "user" ? [] : [path])),
];

/** Whether the last words were said of what the person then declined. */
const isDeclined = (run: Run): boolean => noesOf(run).length > (run.ending.heard?.noes ?? Number.POSITIVE_INFINITY);

/** Whether the last words were said of work that then did not go as the same reply had it. */
const isSaidEarly = (run: Run): boolean =>
  isDeclined(run) ||
  (run.ending.heard !== null && run.shell.commands.slice(run.ending.heard.commands).some(({ exit }) => exit !== 0));

function howGone({ back, left, isGone = false }: Closed): string | null {
  if (isGone) return "nothing is left of it";
  if (back.length > 0) return "rolled back";
  return left.length > 0 ? "not kept" : null;
}

/** pai's own words in place of those of a run that ended well, which are not so; null: those may stand. */
function ownWordsOfGood(run: Run): string | null {
  const lost = lostOf(run.changing, true);
  if (lost.length > 0) return `edits that are no longer there, by somebody else or a check: ${nameSome(lost)}`;
  return isDeclined(run) && run.ending.text !== "" ? `not done, as the user said no: ${nameSome(noesOf(run))}` : null;
}

function ownWords(run: Run, closed: Closed): string | null {
  const { changes, failure } = closed;
  if (failure === null) return ownWordsOfGood(run);
  const { code, message } = failure;
  const how = howGone(closed);
  if (how !== null) return `${how}: ${message}`;
  const isIdle = isRefusal(failure) || exitCodes[code] === exitCodes.nothing_done;
  if (isIdle && !hasDone(run)) return `nothing was done: ${message}`;
  if (run.ending.text === "" || code === "command_failed") return null;
  // Words behind a command that failed may tell of it, and a summary knows what is not done; other words do not.
  const isUnaware = run.ending.heard !== null && run.ending.undone.length > redCommands(run).length;
  if (code === "partial") return isSaidEarly(run) || isUnaware ? message : null;
  if (changes.length > 0) return `kept, but ${message}`;
  // Its words tell of work that a conflict kept from being done.
  return code === "conflict" ? message : null;
}

function showBack(
  run: Run,
  closed: Closed,
  backDiff: string,
): Pick<Outcome, "text" | "claimed" | "rolled_back" | "left"> {
  const { text } = run.ending;
  const own = ownWords(run, closed);
  if (own === null) return { text };
  const paths = [...new Set(closed.back.map(({ path }) => path))];
  return {
    text: own,
    claimed: text,
    ...(closed.left.length > 0 && { left: closed.left }),
    ...(paths.length > 0 && {
      rolled_back: { diff: backDiff, paths, ...(closed.isGone === true && { by: "others" as const }) },
    }),
  };
}

const maxStays = 20;

const showStays = ({ stays }: Readonly<Changing>): Pick<Outcome, "stays"> =>
  stays.size === 0 ? {} : { stays: { count: stays.size, paths: [...stays].sort().slice(0, maxStays) } };

const showCalls = (ledger: Ledger, failure: PaiError | null): Outcome["calls"] => ({
  made: ledger.made,
  ...(ledger.sent > ledger.made && failure !== null && stops.includes(failure.code) && { sent: ledger.sent }),
  ...ledger.promised,
});

const isTest = (path: string) => /(?:^|[/_.-])(?:tests?|specs?)(?:[/_.-]|$)|[a-z](?:Tests?|Spec)\.\w+$/.test(path);

/** What the green checks prove: nothing new where all passed before the work, too, and no test was changed. */
function showProves(run: Run, changes: readonly Change[]): Pick<Outcome, "proves"> {
  const { baseline, plannedBefore, results } = run.checking;
  if (changes.length === 0 || statusOf(run, true) !== "verified") return {};
  const before = new Map([...(baseline?.results ?? []), ...plannedBefore].map((each) => [each.command, each.passed]));
  const passed = results.filter((check) => check.passed === true).map(({ command }) => before.get(command) ?? null);
  if (passed.includes(false) || changes.some(({ path }) => isTest(path))) return { proves: "change" };
  return passed.every((each) => each === true) ? { proves: "no_regression" } : {};
}

/** A step with the reason why its action was refused, or failed; without one, as it is. */
export const knownStep = ({ acting }: Run, step: RefusedAction): RefusedAction =>
  acting.tally.refused.find(({ target }) => target === step.target) ?? step;

/** A step with the failure of the run as its reason where it is what met that. */
const withFailure = (step: RefusedAction, failure: PaiError | null): RefusedAction => {
  const isMet = [step.target, ...step.target.split(" → ")].some((target) => target === failure?.target);
  return isMet && step.why === endedBefore ? { ...step, why: failure?.message ?? "" } : step;
};

/** The steps that are open where nothing was taken back, and what else was refused; what the checks prove of a run that left none. */
function showUndone(run: Run, { failure, changes, back }: Closed): Pick<Outcome, "refused" | "undone" | "proves"> {
  const isTold = failure !== null && back.length === 0;
  const open = isTold ? run.ending.open().map((step) => undoneStep(step, endedBefore)) : [];
  const undone = failure?.code === "partial" ? run.ending.undone : open.map((step) => knownStep(run, step));
  // The command or the no that ended the run is told by itself.
  const known = new Set([
    ...run.shell.commands.map(({ command }) => command),
    ...run.changing.declined.flatMap(({ paths }) => paths),
  ]);
  const isKnown = ({ action, target }: RefusedAction) => {
    const [path, to = path] = target.split(" → ");
    return known.has(target) || known.has((rowOf(action)?.form === "setting" ? path : to) ?? "");
  };
  const named = new Set([...run.ending.undone, ...undone].map(({ target }) => target));
  return {
    refused: run.acting.tally.refused
      .filter((step) => !named.has(step.target) && (step.why !== endedBefore || (isTold && !isKnown(step))))
      .map((step) => withFailure(step, failure)),
    ...(undone.length > 0 && { undone: undone.map((step) => withFailure(step, failure)) }),
    ...(failure === null && showProves(run, changes)),
  };
}

/** The next steps that apply: none behind changes that were taken back, those behind a red command, which they answer. */
const nextOf = (run: Run, failure: PaiError | null): readonly string[] =>
  failure === null || (failure.code === "command_failed" && !isSaidEarly(run)) ? run.ending.next : [];

const showSkipped = ({ skipped }: RunEnding): Pick<Outcome, "skipped"> =>
  skipped.length === 0 ? {} : { skipped: skipped.map(({ target, why }) => ({ target, why })) };

const showCommands = ({ commands }: Shell): Pick<Outcome, "commands"> =>
  commands.length === 0 ? {} : { commands: commands.map(({ isEarly: _, ...ran }) => ran) };

/** The name is a contract, and its value no function. */
const showThen = ({ ranThen }: Readonly<RunEnding>): Pick<Outcome, "then"> =>
  // biome-ignore lint/suspicious/noThenProperty: see above
  ranThen.length === 0 ? {} : { then: ranThen };

const madePlan = ({ invocation: { command }, planning: { planOnly, plan } }: Run) =>
  (planOnly || command === "plan") && plan?.intent === "task";

/** What a plan promised and the person did not want when they saw it, while they agreed to the rest. */
export function declinedSteps({ changing, planning: { plan } }: Run): readonly RefusedAction[] {
  const paths = new Set(changing.declined.flatMap((each) => each.paths));
  const steps = plan === null ? [] : workOf(plan).filter(({ target }) => paths.has(target));
  return steps.map((step) => undoneStep(step, "the user declined it"));
}

/** Those of the paths that the run itself changed that changed while the user's checks ran, too. */
function showChecked(own: readonly { readonly path: string }[], checked: readonly string[]): Pick<Outcome, "checked"> {
  const both = checked.filter((path) => own.some((each) => each.path === path));
  return both.length === 0 ? {} : { checked: both };
}

function showDecisions({ planning, changing }: Run): Pick<Outcome, "corrections" | "declined"> {
  const said = [
    ...planning.corrections.map((words) => ({ about: "plan" as const, words })),
    ...changing.corrections.map((words) => ({ about: "changes" as const, words })),
  ];
  const { seenDiff, approved, plan } = planning;
  const steps = plan === null ? [] : workOf(plan).filter(({ action }) => rowOf(action)?.kind === "change");
  const withPlan = seenDiff === null || approved ? [] : [{ paths: steps.map(({ target }) => target), diff: seenDiff }];
  const declined = [...withPlan, ...changing.declined];
  const paths = declined.flatMap((each) => each.paths);
  const diff = declined.map((each) => each.diff).join("");
  return {
    ...(said.length > 0 && { corrections: said }),
    ...(paths.length > 0 && { declined: { diff, paths: [...new Set(paths)] } }),
  };
}

interface Shown extends Pick<Outcome, "changes" | "diff"> {
  readonly backDiff: string;
  /** Paths that changed while the user's checks ran. */
  readonly checked: readonly RelPath[];
}

/** The outcome of a run that began. `commit`: the hash of its commit; null: there is none. */
export function outcomeOf(
  run: Run,
  closed: Closed,
  { changes, diff, backDiff, checked }: Shown,
  commit: string | null,
): Outcome {
  const { ledger, acting, calling, changing, checking, ending, planning, shell } = run;
  const { failure } = closed;
  const { refused, ...open } = showUndone(run, closed);
  return {
    v: 2,
    ok: failure === null,
    command: run.invocation.command,
    run: run.id,
    mode: planning.mode,
    status: failure === null ? statusOf(run, closed.changes.length > 0) : statusOfFailure(failure),
    code: failure === null ? 0 : exitCodes[failure.code],
    ...showBack(run, closed, backDiff),
    next: nextOf(run, failure),
    plan: planning.plan,
    changes,
    ...(changing.dryRun && { dry_run: true }),
    diff,
    checks: resultsNow(run),
    calls: showCalls(ledger, failure),
    usage: { ...ledger.usage, weighed: weighedOf(ledger.usage) },
    cost: ledger.cost,
    model: { requested: calling.model.id, served: ledger.served, key: ledger.key },
    score: ending.score,
    ms: 0,
    actions: acting.tally.actions,
    looks: acting.tally.looks,
    amended: acting.amended,
    refused,
    sandbox: shell.sandbox,
    ...showStays(changing),
    ...showMerged(changing, closed),
    ...showChecked([...changes.filter(({ by }) => by === "plan"), ...closed.back], checked),
    ...showThen(ending),
    ...(commit !== null && { commit }),
    ...(checking.unsettled.length > 0 && { unsettled: checking.unsettled }),
    ...(failure === null && madePlan(run) && { planned: true }),
    ...open,
    ...showSkipped(ending),
    ...(ending.keep !== undefined && { keep: ending.keep }),
    ...showDecisions(run),
    ...showCommands(shell),
    error: failure === null ? null : toFailure(failure),
  };
}
