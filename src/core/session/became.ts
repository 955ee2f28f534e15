/** The record of a turn, as later requests are told it: made here from its outcome and the person's decisions alone. Pure. */
import { tailOf } from "../command/check-output.ts";
import {
  type ChangeSummary,
  type CheckResult,
  type CommandRun,
  checkOutdated,
  doubtOf,
  isOutdated,
  nameDeclined,
  nothingKept,
  type Outcome,
  renderProof,
} from "../outcome.ts";
import { renderStepTarget } from "../plan/scope.ts";
import { nameSome } from "../suggest.ts";
import { questionsIn } from "./conversation.ts";

export interface TurnRecord {
  /** The model's last words, of a claim its questions; "": it said none. */
  readonly text: string;
  /** The words claimed what is not so. */
  readonly isClaim?: boolean | undefined;
  /** What became of the turn, in pai's words. */
  readonly became: string;
  /** Unified diff of what was kept, cut; behind a line that says so, of what was taken back or declined. */
  readonly diff: string;
  /** What the checks printed that failed the run, and its last commands; absent: nothing. */
  readonly printed?: string | undefined;
}

export const quoteWords = (words: string): string => `"${words}"`;

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

const name = (all: readonly string[]): string => nameSome([...new Set(all)]);

/** "2 files (+4 −1)"; how many lines of them stand is not known where somebody else changed some. */
function countChanges({ changes, overwritten = [] }: Outcome): string {
  // A folder has neither a digest nor lines; a link has a line.
  const isFolder = ({ before, after, added, deleted }: ChangeSummary) =>
    before === null && after === null && added + deleted === 0;
  const files = changes.filter((change) => !isFolder(change));
  if (files.length === 0) return counted(changes.length, "folder");
  const sum = (field: "added" | "deleted") => files.reduce((total, change) => total + change[field], 0);
  const lines = overwritten.length > 0 ? "" : ` (+${sum("added")} −${sum("deleted")})`;
  return counted(files.length, "file") + lines;
}

const passedOf = ({ checks }: Outcome) => checks.flatMap(({ command, passed }) => (passed === true ? [command] : []));

/** ", verified by pytest -q", ", unverified: no check has proved this": of changes that stay. */
function sayProof(outcome: Outcome): string {
  const { status, checks, proves } = outcome;
  const passed = passedOf(outcome);
  const doubt = doubtOf(checks);
  const before = doubt !== "" ? ` (${doubt})` : proves === "no_regression" ? ", which passed before, too" : "";
  if (status === "verified") return passed.length === 0 ? ", verified" : `, verified by ${name(passed)}${before}`;
  const isGreen = passed.length > 0 && checks.every(({ passed: isPassed }) => isPassed !== false);
  if (status === "partial" && isGreen) return `, and ${name(passed)} passed`;
  return status === "unverified" || status === "partial" ? `, unverified${renderProof(outcome)}` : "";
}

function sayCause({ status, error }: Outcome): string {
  const message = error?.message ?? "";
  if (error?.code === "declined")
    return message.includes("user declined")
      ? message
      : `the user declined${/\bplan\b/.test(message) ? " the plan" : ""}`;
  if (status === "declined" || status === "partial") return message;
  if (error?.code === "interrupted")
    return `interrupted by the user${message.endsWith("question") ? " at a question" : ""}`;
  return status === "interrupted" ? message : `failed: ${message}`;
}

/** Whether the run was only to answer, or only answered: it has no plan of work and did nothing. */
const isAnswer = ({ plan, changes, actions, commands = [] }: Outcome): boolean =>
  plan?.execution_plan == null &&
  changes.length + commands.length + actions.done + actions.failed + actions.refused === 0;

/** Whether the model's last words may stand: those of a run that failed or was declined claim what is not so. */
export const wordsStand = (outcome: Outcome): boolean =>
  outcome.claimed === undefined &&
  (outcome.dry_run !== true || outcome.changes.length === 0) &&
  (["answered", "verified", "unverified", "partial"].includes(outcome.status) ||
    (outcome.error?.code === "check_failed" && isAnswer(outcome)));

const sayChoice = ({ keep }: Outcome): string => (keep === undefined ? "" : ", as the user chose when asked");

function sayUnchanged(outcome: Outcome): string {
  const { status, ok, planned, error, rolled_back: back } = outcome;
  if (planned === true) return "a plan was made; nothing was changed";
  const judged = (is: boolean) =>
    name(outcome.checks.flatMap(({ command, passed }) => (passed === is ? [command] : [])));
  const found = [judged(true) && `; ${judged(true)} passed`, judged(false) && `; ${judged(false)} failed`].join("");
  const answered = status === "answered" || (isAnswer(outcome) && outcome.text.trim() !== "" && wordsStand(outcome));
  if (answered) return `answered; nothing was changed${ok ? found : `; ${error?.message ?? ""}`}`;
  if (ok) return `nothing was changed${found}`;
  if (back !== undefined)
    return `${back.by === "others" ? "nothing is left of it" : "rolled back"}${sayChoice(outcome)}, ${sayCause(outcome)}`;
  return `${status === "declined" ? "not applied" : "nothing was changed"}, ${sayCause(outcome)}`;
}

function sayChanged(outcome: Outcome): string {
  const { ok, status, left } = outcome;
  if (outcome.dry_run === true) return "a dry run, so nothing was written";
  if (left !== undefined) {
    const stayed = `but for what somebody else had changed since, which is as they left it, with what of your edits is in it: ${name(left)}`;
    const back = outcome.rolled_back === undefined ? "not kept" : "rolled back";
    return `${back}${sayChoice(outcome)}, ${stayed}; ${sayCause(outcome)}`;
  }
  const part = status === "partial" ? "kept in part" : "kept";
  const kept = `${part}: ${countChanges(outcome)}`;
  if (ok || status === "partial") return kept + sayProof(outcome);
  if (status === "declined") return `${kept} from before ${sayCause(outcome)}${sayChoice(outcome)}`;
  return `${kept}${sayChoice(outcome)}, ${sayCause(outcome)}`;
}

const endOf = ({ exit, ended }: Pick<CommandRun, "exit"> & Partial<CommandRun>): string =>
  exit !== null ? `exit ${exit}` : ended === "timeout" ? "ended by its time limit" : "ended by a signal";

/** The steps of a plan that was only made, or declined. */
const proposedOf = ({ plan, planned, error, changes, declined }: Outcome): readonly string[] =>
  planned === true || (error?.code === "declined" && changes.length === 0 && declined === undefined)
    ? (plan?.execution_plan?.steps ?? []).map((step) => `${step.action} ${renderStepTarget(step)}`)
    : [];

const renderRan = ({ command, ...ended }: Pick<CommandRun, "command" | "exit"> & Partial<CommandRun & CheckResult>) => {
  const unkept = ended.kept === false ? `, and ${nothingKept}` : "";
  const outdated = isOutdated(ended) ? `, and ${checkOutdated}` : "";
  return `${command} (${endOf(ended)}${unkept}${outdated})`;
};

function renderChange({ op, from, path }: ChangeSummary): string {
  if (op === "move") return `${from} → ${path}`;
  return path + (op === "mkdir" ? "/" : op === "delete" ? " (deleted)" : "");
}

const withWhy = (what: string, why: string): string => (why === "" ? what : `${what} (${why})`);

/** "kept: 2 files (+4 −1), verified by pytest -q; changed: …; ran: …; then the user's own commands ran: …; committed as: …" */
export function becameOf(outcome: Outcome): string {
  const { status, refused, undone = [], skipped = [], commands = [], corrections = [], checks, commit } = outcome;
  const { merged = [], overwritten = [], lost = [], stays, declined } = outcome;
  // A command that ended badly is told as one that ran.
  const notDone = [...refused, ...undone].filter((step) => !commands.some(({ command }) => command === step.target));
  const changes = outcome.left === undefined ? outcome.changes : [];
  const hasChanged = outcome.changes.length > 0;
  const isGood = outcome.ok || status === "partial";
  const passed = checks.filter((each) => each.passed === true);
  const failed = checks.filter((each) => each.passed === false && !outcome.error?.message.includes(each.command));
  const said = (about: "plan" | "changes") =>
    corrections.flatMap((each) => (each.about === about ? [quoteWords(each.words)] : []));
  const clauses: readonly (readonly [head: string, all: readonly string[]])[] = [
    ["not done", notDone.map(({ action, target, why }) => withWhy(`${action} ${target}`, why))],
    [outcome.dry_run ? "it would have changed" : "changed", changes.map(renderChange)],
    ["of these by commands or checks", changes.flatMap(({ by, path }) => (by === "command" ? [path] : []))],
    [
      "the user did not agree to the changes to",
      status === "declined" ? [] : nameDeclined(outcome, declined?.paths ?? []),
    ],
    ["checks that failed", hasChanged ? failed.map(renderRan) : []],
    ["checks that passed", isGood ? [] : passed.map((each) => (isOutdated(each) ? renderRan(each) : each.command))],
    [
      "checks without a result",
      checks.flatMap(({ command, passed: is, note = "" }) => (is === null ? [withWhy(command, note)] : [])),
    ],
    ["somebody else changed meanwhile, too", merged.filter((path) => !overwritten.includes(path))],
    ["somebody else changed lines of these edits, or all of them", overwritten],
    ["edits that are no longer there, by somebody else or a check", hasChanged ? lost : []],
    ["commands changed ignored paths, which stay so", stays?.paths ?? []],
    ["the plan proposed", proposedOf(outcome)],
    ["left out of the plan", skipped.map(({ target, why }) => withWhy(target, why))],
    ["commands that ran", commands.map(renderRan)],
    ["the user said to the plan", said("plan")],
    ["the user said to the changes", said("changes")],
    ["then the user's own commands ran", (outcome.then ?? []).map(renderRan)],
    ["committed as", commit === undefined ? [] : [commit.slice(0, 12)]],
  ];
  const first = !hasChanged && outcome.left === undefined ? sayUnchanged(outcome) : sayChanged(outcome);
  return [first, ...clauses.flatMap(([head, all]) => (all.length === 0 ? [] : [`${head}: ${name(all)}`]))].join("; ");
}

const maxOfDiff = 4096;

/** The diff up to the last whole line of `max` characters. */
export function cutDiff(diff: string, max = maxOfDiff): string {
  if (diff.length <= max) return diff;
  const end = diff.lastIndexOf("\n", max);
  return `${diff.slice(0, end < 0 ? max : end)}\n[… the rest of the diff is not shown]`;
}

export interface Printed {
  /** Of each check: what it printed when it last ran after the work. */
  readonly checks: Map<string, string>;
  /** Of the commands, oldest first. */
  readonly commands: Map<string, string>;
}

const maxPrinted = 2;

function printedOf({ ok, checks }: Outcome, printed: Printed): string {
  const failed = checks.flatMap(({ passed, command }) => (!ok && passed === false ? [command] : []));
  const say = (head: string, command: string, all: Printed["checks"]) => {
    const output = tailOf(all.get(command) ?? "");
    return output.trim() === "" ? [] : [`${head} ${command} printed at last:\n${output}`];
  };
  const of = failed.flatMap((command) => say("the check", command, printed.checks));
  const ran = [...printed.commands.keys()].flatMap((command) => say("the command", command, printed.commands));
  return [...ran.slice(-maxPrinted), ...of.slice(0, maxPrinted)].join("\n");
}

/** What the diff of a turn shows, where that is not what was kept; "": it is. */
function headOfDiff({ left, dry_run }: Outcome): string {
  if (dry_run === true) return "what it would have changed:\n";
  return left === undefined ? "" : "what was changed before somebody else changed it:\n";
}

export function turnRecord(
  outcome: Outcome,
  outputs: Printed = { checks: new Map(), commands: new Map() },
): TurnRecord {
  const printed = printedOf(outcome, outputs);
  const { diff, rolled_back: back, declined } = outcome;
  const parts = [
    diff === "" ? "" : `${headOfDiff(outcome)}${diff}`,
    back === undefined ? "" : `what was taken back:\n${back.diff}`,
    declined === undefined ? "" : `what the user declined:\n${declined.diff}`,
  ];
  const isClaim = !wordsStand(outcome);
  return {
    text: isClaim ? questionsIn(outcome.claimed ?? outcome.text).join(" ") : outcome.text,
    ...(isClaim && { isClaim }),
    became: becameOf(outcome),
    diff: cutDiff(parts.filter(Boolean).join("\n")),
    ...(printed !== "" && { printed }),
  };
}
