/** The record of a turn, as later requests are told it: made here from its outcome and the person's decisions alone. Pure. */
import { tailOf } from "../command/check-output.ts";
import {
  type ChangeSummary,
  type CheckResult,
  type CommandRun,
  checkDeclined,
  checkOutdated,
  checkStopped,
  doubtOf,
  isOutdated,
  nameDeclined,
  nothingKept,
  type Outcome,
  type RefusedAction,
  renderProof,
} from "../outcome.ts";
import { renderStepTarget } from "../plan/scope.ts";
import { isQuestion } from "../script/prose.ts";
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

/** What the user typed, as a name of it. */
export const quoteWords = (words: string): string => `"${words}"`;

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** How many paths, checks, commands and actions are named. */
const maxNamed = 5;
const name = (all: readonly string[]): string => nameSome([...new Set(all)], maxNamed);

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

/** Why a run that did not end well ended. */
function sayCause({ status, error }: Outcome): string {
  const message = error?.message ?? "";
  if (error?.code === "declined")
    return message.includes("user declined")
      ? message
      : `the user declined${/\bplan\b/.test(message) ? " the plan" : ""}`;
  if (status === "declined" || status === "partial") return message;
  const at = message.endsWith("at a question") ? " at a question, so what it asked about was not decided" : "";
  if (status === "interrupted") return error?.code === "interrupted" ? `interrupted by the user${at}` : message;
  return `failed: ${message}`;
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

/** ["left out: ", names]: a clause of the record; "": there is nothing to name. */
const clause = (head: string, all: readonly string[]): string => (all.length === 0 ? "" : `${head}${name(all)}`);

const endOf = ({ exit, ended }: Pick<CommandRun, "exit"> & Partial<CommandRun>): string =>
  exit !== null ? `exit ${exit}` : ended === "timeout" ? "ended by its time limit" : "ended by a signal";

/** Where what commands wrote to /tmp is gone; one that ran twice may have done so without the sandbox, as a person allowed. */
function sayOwnPlace({ sandbox, commands = [] }: Outcome): string {
  const isOwn = sandbox === "full" && new Set(commands.map(({ command }) => command)).size === commands.length;
  return isOwn && commands.length > 0 ? "they ran in a sandbox with a /tmp of its own" : "";
}

/** The steps of a plan that was only made, or declined. */
const proposedOf = ({ plan, planned, error, changes, declined }: Outcome): readonly string[] =>
  planned === true || (error?.code === "declined" && changes.length === 0 && declined === undefined)
    ? (plan?.execution_plan?.steps ?? []).map((step) => `${step.action} ${renderStepTarget(step)}`)
    : [];

/** "kept: 2 files (+4 −1), verified by pytest -q; changed: …; ran: …; then the user's own commands ran: …; committed as …" */
export function becameOf(outcome: Outcome): string {
  const { status, changes, refused, undone = [], skipped = [], commands = [], merged = [], corrections = [] } = outcome;
  const { stays, commit, then: after = [], checks, declined = { paths: [] }, error, overwritten = [] } = outcome;
  const isNotDone = (name: string) => notDone.slice(0, maxNamed).some(({ target }) => target === name);
  const isTold = (command: string) => error?.message.includes(command) === true || isNotDone(command);
  // A command that ended badly is told as one that ran.
  const hasRun = ({ target }: { readonly target: string }) => commands.some(({ command }) => command === target);
  // What ended the run is told first.
  const isFirst = ({ why }: RefusedAction) => error?.message.includes(why) === true;
  const others = refused.filter((step) => status !== "declined" || !isFirst(step));
  const notDone = [...others, ...undone].filter((step) => !hasRun(step));
  const said = (about: "plan" | "changes", asks: boolean) => {
    const all = corrections.filter((each) => each.about === about && isQuestion(each.words) === asks);
    const words = all.map((each) => quoteWords(each.words)).join(", then ");
    return words && `the user had ${asks ? `asked about the ${about}` : `wanted the ${about} otherwise`}: ${words}`;
  };
  const changed = changes.map(({ op, from, path }) => {
    if (op === "move") return `${from} → ${path}`;
    return path + (op === "mkdir" ? "/" : op === "delete" ? " (deleted)" : "");
  });
  const leftOut = skipped.map(({ target, why }) => (why === "" ? target : `${target} (${why})`));
  // The reason of an action is a line.
  const isSaid = (why: string) =>
    corrections.some(({ words }) => why.endsWith(quoteWords(words).split("\n", 1)[0] ?? ""));
  const noted = (why: string) => checks.flatMap(({ note, command }) => (note === why ? [command] : []));
  const ran = ({ command, ...ended }: Pick<CommandRun, "command" | "exit"> & Partial<CommandRun & CheckResult>) => {
    const more = [
      ended.kept === false ? `, and ${nothingKept}` : "",
      isOutdated(ended) ? `, and ${checkOutdated}` : "",
    ];
    return `${command} (${endOf(ended)}${more.join("")})`;
  };
  return [
    changes.length === 0 && outcome.left === undefined ? sayUnchanged(outcome) : sayChanged(outcome),
    clause(
      "not done: ",
      notDone.map(
        (step) => `${step.action} ${step.target}${isFirst(step) || isSaid(step.why) ? "" : ` (${step.why})`}`,
      ),
    ),
    clause(outcome.dry_run ? "it would have changed: " : "changed: ", outcome.left === undefined ? changed : []),
    clause(
      "of these by commands or checks: ",
      outcome.left === undefined ? changes.flatMap(({ by, path }) => (by === "command" ? [path] : [])) : [],
    ),
    clause("changed while checks ran, too: ", outcome.left === undefined ? (outcome.checked ?? []) : []),
    clause(
      "the user did not agree to the changes to: ",
      status === "declined"
        ? []
        : nameDeclined(
            outcome,
            declined.paths.filter((path) => !isNotDone(path)),
          ),
    ),
    clause(
      "checks that failed: ",
      changes.length === 0 ? [] : checks.filter((each) => each.passed === false && !isTold(each.command)).map(ran),
    ),
    clause(
      "checks that passed: ",
      outcome.ok || status === "partial"
        ? []
        : checks.flatMap((each) => (each.passed !== true ? [] : isOutdated(each) ? [ran(each)] : [each.command])),
    ),
    clause("checks that were stopped: ", noted(checkStopped)),
    clause("checks that the user declined: ", noted(checkDeclined)),
    clause(
      "somebody else changed meanwhile, too: ",
      merged.filter((path) => !overwritten.includes(path)),
    ),
    clause("somebody else changed lines of these edits, or all of them: ", overwritten),
    clause(
      "edits that are no longer there, by somebody else or a check: ",
      changes.length === 0 ? [] : (outcome.lost ?? []),
    ),
    clause("commands changed ignored paths, which stay so: ", stays?.paths ?? []),
    clause("the plan proposed: ", proposedOf(outcome)),
    clause("left out of the plan: ", leftOut),
    clause("commands that ran: ", commands.map(ran)),
    sayOwnPlace(outcome),
    ...[said("plan", true), said("plan", false), said("changes", true), said("changes", false)],
    clause("then the user's own commands ran: ", after.map(ran)),
    commit === undefined ? "" : `committed as ${commit.slice(0, 12)}`,
  ]
    .filter(Boolean)
    .join("; ");
}

/** Characters of a turn's diff that a session keeps. */
const maxOfDiff = 4096;

/** The diff up to the last whole line of `max` characters. */
export function cutDiff(diff: string, max = maxOfDiff): string {
  if (diff.length <= max) return diff;
  const end = diff.lastIndexOf("\n", max);
  return `${diff.slice(0, end < 0 ? max : end)}\n[… the rest of the diff is not shown]`;
}

/** Outputs of a run, by command, and what its formatters did. */
export interface Printed {
  /** Which files they rewrote, a line each. */
  readonly formatted: Set<string>;
  /** Of each check: what it printed when it last ran after the work. */
  readonly checks: Map<string, string>;
  /** Of the commands, oldest first. */
  readonly commands: Map<string, string>;
}

/** How many are told at most: of the failed checks the first, of the commands the last. */
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

/** The record of a turn. */
export function turnRecord(
  outcome: Outcome,
  outputs: Printed = { formatted: new Set(), checks: new Map(), commands: new Map() },
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
    became: [becameOf(outcome), ...(outcome.changes.length === 0 ? [] : outputs.formatted)].join("; "),
    diff: cutDiff(parts.filter(Boolean).join("\n")),
    ...(printed !== "" && { printed }),
  };
}
