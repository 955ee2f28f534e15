/** Renders the end of a run for people: the result, the footer, and the error. */

import type { Failure } from "../../core/error.ts";
import { weighedOf } from "../../core/model.ts";
import {
  type Amendment,
  type ChangeSummary,
  type CheckResult,
  isOutdated,
  nameDeclined,
  nothingKept,
  type Outcome,
  type RefusedAction,
  renderProof,
  type Status,
} from "../../core/outcome.ts";
import { nameSome } from "../../core/suggest.ts";
import { counted, grouped, priced, renderDuration } from "../amount.ts";
import { listNaturally, renderCounts } from "../diff/render-diff.ts";
import { hang, pad, widest } from "../layout.ts";
import { renderInline } from "../markdown.ts";
import { visible, visibleLine } from "../sanitize.ts";
import { type Meaning, mark, type Style } from "../style.ts";

function pathOf({ op, from, path }: ChangeSummary, style: Style): string {
  return op === "move" && from !== null
    ? `${visibleLine(from)} ${style.glyphs.arrow} ${visibleLine(path)}`
    : visibleLine(path);
}

export const listChanges = (changes: readonly ChangeSummary[]): readonly ChangeSummary[] =>
  listNaturally(changes, ({ path, op }) => ({ path, isNewFolder: op === "mkdir" }));

/** One line for each path: the operation and the number of lines. `how`: what is said of changes that commands made. */
export function renderSummaries(all: readonly ChangeSummary[], style: Style, how = "by command"): string[] {
  const changes = listChanges(all);
  const paths = changes.map((change) => pathOf(change, style));
  const width = Math.min(widest(paths), 48);
  const ops = widest(changes.map((change) => change.op));
  return changes.map((change, index) => {
    const sums = renderCounts(change.added, change.deleted, style);
    const counts = sums === "" ? "" : `  ${sums}`;
    const by = change.by === "command" ? style.paint("dim", `  ${how}`) : "";
    const path = counts + by === "" ? (paths[index] ?? "") : pad(paths[index] ?? "", width);
    return `${mark(style, "change")} ${pad(change.op, ops)} ${path}${counts}${by}`;
  });
}

interface Page {
  readonly style: Style;
  readonly columns: number | null;
}

/** "✗ not done: RUN npm test  commands of the model run …": a sign, what it is about, and dimly why. */
function renderNote({ style, columns }: Page, meaning: Meaning, what: string, why = ""): string[] {
  return hang(`${mark(style, meaning)} `, `${what.trimEnd()}  ${style.paint("dim", why)}`.trimEnd(), columns);
}

export function renderAmended(amended: readonly Amendment[], page: Page): string[] {
  return amended
    .filter(({ accept }) => accept)
    .flatMap(({ action, path, destination, why, by, implicit = false }) => {
      const to = destination === null ? "" : ` ${page.style.glyphs.arrow} ${visibleLine(destination)}`;
      const reason = implicit ? "not asked for" : visibleLine(why);
      const allowed = by === "policy" ? "(allowed by -y)" : "(you allowed it)";
      const what = `beyond the plan: ${action} ${visibleLine(path)}${to}`;
      return renderNote(page, "warn", what, `${reason} ${allowed}`.trim());
    });
}

/** What a model did wrong on the way to a success: its own affair, shown as it happened. */
const isSlip = ({ why }: RefusedAction): boolean =>
  /^unusable arguments|the text to replace is not in|^unknown action/.test(why);

/** What was refused and neither the error says nor a success has made good. */
const untold = ({ ok, refused, error }: Outcome): readonly RefusedAction[] =>
  refused.filter((each) => {
    const { action, target, why } = each;
    return ok ? !isSlip(each) : error?.message.includes(`${action} ${target}: ${why}`) !== true;
  });

const renderActions = (actions: readonly RefusedAction[], page: Page, meaning: Meaning, what: string): string[] =>
  actions.flatMap(({ action, target, why }) =>
    renderNote(page, meaning, `${what}: ${action} ${visibleLine(target)}`, visibleLine(why)),
  );

/** What of the last command the model's last words may call done and is not. */
function renderLast({ status, declined, commands = [], mode, error }: Outcome, page: Page): string[] {
  const last = commands.at(-1);
  if (last === undefined) return [];
  const command = visibleLine(last.command);
  const isCut = status === "interrupted";
  const isRed = mode === "tool-loop" && !isCut && last.exit !== 0;
  // Where the run went on, the line of the command said that nothing of it was kept.
  const isLost = error !== null && declined === undefined && last.kept === false;
  return [
    ...(isCut && last.ended === "signal" ? renderNote(page, "warn", `stopped before it ended: ${command}`) : []),
    ...(isLost ? renderNote(page, "warn", `${nothingKept}: ${command}`) : []),
    ...(isRed
      ? renderNote(page, "warn", `the last command failed: ${command}`, last.exit === null ? "" : `exit ${last.exit}`)
      : []),
  ];
}

function renderContrary(outcome: Outcome, page: Page): string[] {
  const { status, declined, refused, undone = [], lost = [], error, changes } = outcome;
  const told = [...refused, ...undone].map(({ target }) => target).join("\n") + (error?.message ?? "");
  // The error of a run that a no ended says it.
  const paths = status === "declined" ? [] : (declined?.paths ?? []).filter((path) => !told.includes(path));
  const no = visibleLine(nameSome(nameDeclined(outcome, paths), maxNamed));
  const gone = `edits that are no longer there, by somebody else or a check: ${nameSome(lost.map(visibleLine), maxNamed)}`;
  return [
    ...(paths.length > 0 ? renderNote(page, "error", `not done: changes to ${no}`, "the user declined them") : []),
    // Where all is gone, the error says it.
    ...(lost.length > 0 && changes.length > 0 ? renderNote(page, "warn", gone) : []),
  ];
}

export function renderCheck({ command, passed, exit, ms, note }: CheckResult, page: Page): string[] {
  const meaning: Meaning = passed === null ? "dim" : passed ? "ok" : "error";
  const ended = exit === null ? "did not end by itself" : `exit ${exit}`;
  const how = passed === null ? note || "not run" : `${ended}, ${renderDuration(ms)}`;
  return renderNote(page, meaning, `check ${visibleLine(command)}`, how);
}

const statusWords: Readonly<Record<Exclude<Status, "answered">, readonly [Meaning, string]>> = {
  verified: ["ok", "verified"],
  unverified: ["warn", "unverified"],
  partial: ["warn", "done in part"],
  declined: ["warn", "declined"],
  failed: ["error", "failed"],
  interrupted: ["warn", "interrupted"],
};

function showProof(outcome: Outcome, words: string): string {
  const { status, changes, checks } = outcome;
  const still = `nothing changed${renderStays(outcome)}`;
  // Where all that was to be done was declined, checks that pass prove no work.
  const isGreen = checks.length > 0 && checks.every(({ passed }) => passed === true);
  if (status === "unverified" && changes.length === 0 && isGreen)
    return `${still}; ${counted(checks.length, "check")} passed`;
  const isStill = status === "verified" && changes.length === 0;
  // Why a check says nothing stands in its line.
  const judged = checks.map((check) => (check.passed === null ? { ...check, note: "" } : check));
  return words + visibleLine(renderProof({ ...outcome, checks: judged })) + (isStill ? `, ${still}` : "");
}

const maxNamed = 3;

/** " but 2 ignored paths: build, out.csv": what commands changed and no undo restores; "" for nothing. */
function renderStays({ stays }: Pick<Outcome, "stays">): string {
  if (stays === undefined) return "";
  const { count, paths } = stays;
  const more = count > maxNamed ? ` and ${count - maxNamed} more` : "";
  return ` but ${counted(count, "ignored path")}: ${paths.slice(0, maxNamed).map(visibleLine).join(", ")}${more}`;
}

function renderStatus(outcome: Outcome, { applied, screen, style, columns }: ResultOptions): string[] {
  if (outcome.status === "answered" || (screen && outcome.status === "declined")) return [];
  // Where nothing was changed or checked there is nothing to prove; what was refused is told above.
  const isIdle = outcome.changes.length === 0 && outcome.checks.length === 0;
  if (screen && outcome.status === "unverified" && isIdle) return [];
  // On a screen the error comes first, and says that nothing was changed.
  if (screen && outcome.status === "failed" && !applied && outcome.error !== null && outcome.score === null) return [];
  const [meaning, words] = statusWords[outcome.status];
  const untouched =
    !applied && outcome.changes.length === 0 && !["verified", "unverified", "partial"].includes(outcome.status);
  const { rolled_back: back, score: points } = outcome;
  const score = points === null || back !== undefined ? "" : style.paint("dim", `  score ${points} of 10`);
  const by = back?.by === "others" ? " by somebody else" : "";
  const what = back === undefined ? "nothing changed" : `all that it had changed was taken back${by}`;
  const status = untouched ? `${words}, ${what}${renderStays(outcome)}` : showProof(outcome, words);
  return hang(`${mark(style, meaning)} `, style.paint(meaning, status) + score, columns);
}

/** Next steps as a numbered list after a blank line; empty if there are none. */
export function renderNext(
  next: readonly string[],
  { style, columns, session }: Pick<ResultOptions, "style" | "columns" | "session">,
): string[] {
  if (next.length === 0) return [];
  const how = next.length === 1 ? " (y does it)" : " (y does all, a number one of them)";
  const shown = (step: string) => (style.plain ? visible(step) : renderInline(visible(step), style));
  const steps = next.flatMap((step, index) => hang(`  ${index + 1}. `, shown(step), columns));
  return ["", style.paint("dim", `next steps${session ? how : ""}`), ...steps];
}

export interface ResultOptions extends Page {
  readonly applied: boolean;
  /** Whether checks and errors were shown on the same screen, so that they are not repeated. */
  readonly screen: boolean;
  readonly session: boolean;
}

/** Files, checks, status and next steps: standard output after the message. "" if there is nothing to say. */
export function renderResult(outcome: Outcome, options: ResultOptions): string {
  const { style, screen } = options;
  const dry = outcome.dry_run === true && outcome.changes.length > 0;
  /** Whether the error on the screen does not say it yet, as it says of a command that failed. */
  const isUnsaid = ({ target, why }: RefusedAction) =>
    !screen || outcome.error?.message.includes(`${target}: ${why}`) !== true;
  const lines = [
    // Where the model ran none, it was a check, or somebody meanwhile.
    ...renderSummaries(outcome.changes, style, outcome.commands === undefined ? "while checks ran" : "by command"),
    ...(dry ? [style.paint("dim", `${style.glyphs.dim} not written`)] : []),
    ...(screen ? [] : renderAmended(outcome.amended, options)),
    ...renderActions(untold(outcome), options, "error", "not done"),
    ...renderContrary(outcome, options),
    ...renderLast(outcome, options),
    ...renderActions((outcome.undone ?? []).filter(isUnsaid), options, "warn", "left undone"),
    ...(screen ? [] : outcome.checks.flatMap((check) => renderCheck(check, options))),
    ...(dry && outcome.status === "unverified" ? [] : renderStatus(outcome, options)),
    ...renderNext(outcome.next, options),
  ];
  return lines.length === 0 ? "" : `${lines.join("\n").replace(/^\n/, "")}\n`;
}

/** "3 of 4 actions done" if some were not, and no later one made up for them; otherwise empty. */
function countActions({ ok, actions: { done, failed, refused: forbidden }, refused }: Outcome): string[] {
  const all = done + failed + forbidden;
  return done === all || (ok && refused.length === 0) ? [] : [`${done} of ${counted(all, "action")} done`];
}

/** "2 calls (expected 2, at most 3), 1,580 tokens, price unknown, 4.2 s"; `ms`: time that pai worked. */
export function renderFooter(outcome: Outcome, ms: number): string {
  const { calls, mode, usage, cost, model } = outcome;
  const expected = mode === "tool-loop" ? "" : `expected ${grouped(calls.expected)}, `;
  // Of a run that was stopped before its plan, the first promise was for planning.
  const isOpen = outcome.status === "interrupted" && outcome.plan === null;
  const promise = isOpen ? "" : ` (${expected}at most ${grouped(calls.at_most)})`;
  const tokens = usage.input + usage.output;
  const kept = usage.cached === 0 ? "" : ` (${grouped(usage.cached)} cached, weighed ${grouped(weighedOf(usage))})`;
  const spending =
    tokens === 0 || model.requested.startsWith("replay:") ? [] : [counted(tokens, "token") + kept, priced(cost)];
  return [
    `${counted(calls.sent ?? calls.made, "call")}${promise}`,
    ...countActions(outcome),
    ...spending,
    renderDuration(ms),
  ].join(", ");
}

/** Adds to the error of a run that changed nothing a line that says so, and names ignored paths that stay changed. */
export function sayUntouched(error: Failure, outcome: Pick<Outcome, "stays">): Failure {
  const { message } = error;
  const stays = renderStays(outcome);
  if (stays === "" && /\bnothing (?:was|is) changed\b/.test(message)) return error;
  return { ...error, message: `${message}\nnothing was changed${stays}` };
}

/** Adds to the error what stays all the same where a no ended the run, and checks that fail on it. */
export function sayStays(error: Failure, { status, changes, checks, left }: Outcome): Failure {
  const { message } = error;
  const theirs = `; of what was applied before only ${nameSome(left ?? [], maxNamed)} stays, as somebody else left it`;
  if (left !== undefined) return { ...error, message: message + theirs };
  const isRed = (check: CheckResult) =>
    check.passed === false && !isOutdated(check) && !message.includes(check.command);
  const red = checks.filter(isRed).map(({ command }) => command);
  const failed = red.length === 0 ? "" : `, with ${counted(red.length, "failed check")}: ${nameSome(red, maxNamed)}`;
  const stays = status === "declined" ? "; what was applied before stays" : "";
  return changes.length === 0 ? error : { ...error, message: message + stays + failed };
}

/** What failed, why, and what to do; the important line is last. Ends in a line feed. */
export function renderFailure(error: Failure, style: Style, columns: number | null): string {
  return `${[
    ...hang(`${mark(style, "error")} `, visible(error.message), columns),
    ...(error.hint === null ? [] : hang(`${style.paint("dim", style.glyphs.arrow)} `, visible(error.hint), columns)),
  ].join("\n")}\n`;
}
