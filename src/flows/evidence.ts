/** Collects what the execution call shows: files that the plan names (parts of large ones), and results of looks. */

import { atPathsIn } from "../core/at-paths.ts";
import { linesOf } from "../core/context/blocks.ts";
import type { ExcerptRange } from "../core/context/excerpts.ts";
import { extentsIn, namesMeant } from "../core/context/extents.ts";
import { isLongChangelog, kindOf } from "../core/context/kind.ts";
import { maxReadLines } from "../core/context/shown.ts";
import { fence } from "../core/data-fence.ts";
import { noteTold } from "../core/dialogue.ts";
import { type Call, isFields, type Json, partOf } from "../core/model.ts";
import { type RelPath, resolveFrom } from "../core/path.ts";
import type { Plan, PlanStep } from "../core/plan/plan.ts";
import { createRights, type Rights } from "../core/plan/scope.ts";
import { splitRange } from "../core/script/script.ts";
import { blankSecrets } from "../core/secrets/veil.ts";
import { isLook, namesPath, rowOf } from "../core/vocabulary.ts";
import type { FilesRead, Shown } from "./briefing/reading.ts";
import { type Focus, noteSent, pathOfRead, renderNested, showFile, toReadable } from "./briefing/sources.ts";
import { mayRunCommand } from "./commands/commands.ts";
import { continueOrStart, filesOf, shareRoom, sizeOfFiles, tellChanged, textNow, untoldSize } from "./dialogue.ts";
import { type CallReport, perform } from "./perform.ts";
import type { Run } from "./run.ts";

function inputOfStep({ action, target, destination }: PlanStep): Json {
  const form = rowOf(action)?.form;
  const range = form === "lines" ? splitRange(target) : null;
  if (range !== null) return { path: range.path, start_line: range.from, end_line: range.to };
  if (form === "command") return { command: target };
  if (namesPath(action)) return { path: target };
  return { pattern: target, ...(destination !== null && { path: destination }) };
}

export const callsOfSteps = (plan: Plan, isWanted: (step: PlanStep) => boolean): readonly Call[] =>
  (plan.execution_plan?.steps ?? []).flatMap((step, at): readonly Call[] => {
    const id = `${isLook(step.action) ? "look" : "run"}.${at + 1}`;
    return isWanted(step) ? [{ id, name: step.action, input: inputOfStep(step) }] : [];
  });

/** What shows which parts of a file the plan is about: its words, outputs of failed checks, and the ranges read. */
function focusOn(run: Run, plan: Plan, path: RelPath, reports: readonly CallReport[], room: number): Focus {
  const { task, changing, checking, planning, reading } = run;
  const steps = (plan.execution_plan?.steps ?? []).filter(({ target }) => toReadable(run, target) === path);
  const words = steps.map(({ purpose, expected_outcome }) => `${purpose} ${expected_outcome}`);
  const where = plan.analysis?.target_identification ?? "";
  const failed = (checking.baseline?.results ?? []).filter(({ passed }) => passed !== true).map(({ output }) => output);
  const looked = reading.looked.flatMap((each) => (each.path === path ? (each.range ?? []) : []));
  const read = reports.flatMap((report) =>
    report.ok && pathOfRead(run, report) === path ? (rangeOf(report) ?? []) : [],
  );
  return {
    request: blankSecrets([task.text, ...planning.corrections, ...changing.corrections].join("\n")),
    plan: blankSecrets([...words, where, plan.reply].join("\n")),
    output: blankSecrets([task.context ?? "", ...failed].join("\n")),
    looked: [...looked, ...read],
    room,
  };
}

/** The result of a look, of which the model is shown `shown`. Notes the lines of a file that the answer of a READ numbers. */
async function renderLook(run: Run, report: CallReport, shown = report.text): Promise<string> {
  const { name, target, input, ok } = report;
  await noteAnswer(run, report);
  const path = ok ? pathOfRead(run, { name, target }) : null;
  const text = path === null ? null : await textNow(run, path);
  const ranges = [...shown.matchAll(/^ *(\d+)(?: |$)/gm)].map(([, line]) => ({ from: Number(line), to: Number(line) }));
  if (path !== null && text !== null) noteTold(run.dialogue, path, text, ranges);
  const { start_line: from = null, end_line: to = null } = isFields(input) ? input : {};
  const action = from === null ? `${name} ${target}` : `${name} ${target}:${from}-${to ?? ""}`;
  return fence("result", { action: action.trim(), ok: String(ok) }, shown);
}

export async function noteAnswer(run: Run, { name, target, ok, text }: CallReport): Promise<void> {
  const path = ok ? pathOfRead(run, { name, target }) : null;
  const blob = path === null ? null : await run.overlay.read(path).catch(() => null);
  if (path !== null && blob?.kind === "file") noteSent(run, [{ path, bytes: blob.bytes, shown: text }]);
}

function stepsBefore(plan: Plan): readonly PlanStep[] {
  const steps = plan.execution_plan?.steps ?? [];
  const at = steps.findIndex(({ action }) => rowOf(action)?.kind === "change");
  return at === -1 ? steps : steps.slice(0, at);
}

async function showNamed(run: Run, plan: Plan, reports: readonly CallReport[]): Promise<readonly string[]> {
  const named = filesOf(run, plan);
  const { shares } = await shareRoom(run, named);
  const texts: string[] = [];
  for (const path of named.paths) {
    const room = shares.get(path) ?? null;
    texts.push((await showFile(run, path, room === null ? null : focusOn(run, plan, path, reports, room))) ?? "");
  }
  return texts.filter((text) => text !== "");
}

export const showNow = async (run: Run, plan: Plan): Promise<string> => (await showNamed(run, plan, [])).join("\n\n");

/** Does the looks that the plan lists after its changes, for the user to see. */
export async function lookBehind(run: Run, plan: Plan, rights: Rights): Promise<void> {
  const before = stepsBefore(plan);
  const calls = callsOfSteps(plan, (step) => isLook(step.action) && !before.includes(step));
  if (calls.length > 0) await perform(run, calls, rights);
}

/**
 * The plan's evidence as one text: what has changed since it was told, the files it names (parts of large ones that it
 * changes), and the results of looks and commands before its first change. Where the dialogue cannot go on with the
 * prompt `system`, also what the planning calls have looked at.
 */
export async function collectEvidence(run: Run, plan: Plan, rights: Rights, system: string) {
  const before = stepsBefore(plan);
  const isDue = ({ action, target }: PlanStep) => isLook(action) || (action === "RUN" && mayRunCommand(run, target));
  const calls = callsOfSteps(plan, (step) => before.includes(step) && isDue(step));
  const batch = await perform(run, calls, rights);
  const { reports } = batch;
  for (const { kind, target } of reports)
    if (kind === "command") run.shell.ran.set(target, run.begun?.changes.length ?? 0);
  const looked = reports.reduce((sum, { text }) => sum + text.length, 0);
  continueOrStart(run, system, "work", looked + (await sizeOfFiles(run, plan)));
  const changed = await tellChanged(run);
  const isAlone = run.dialogue.messages.length === 0;
  const texts = [changed, ...(await showNamed(run, plan, reports))];
  const { paths } = filesOf(run, plan);
  const isShown = (report: CallReport) => report.ok && paths.has(pathOfRead(run, report) ?? ("" as RelPath));
  for (const report of reports) if (!isShown(report)) texts.push(await renderLook(run, report));
  const alone = isAlone ? [renderLooked(run.reading, paths), await renderSignatures(run, paths, texts)] : [];
  return { text: [renderNested(run), ...alone, ...texts].filter(Boolean).join("\n\n"), batch };
}

const maxOfRound = 24_000;
const noRights = createRights([], []);

function fitFirst(lines: readonly string[], room: number): readonly string[] {
  let kept = 0;
  for (let size = 0; kept < lines.length; kept += 1) {
    size += (lines[kept]?.length ?? 0) + 1;
    if (size > room) break;
  }
  return lines.slice(0, kept);
}

const shareOfStart = 0.2;

/** As many whole lines as fit, with a note on what is left out and how to ask for it. Of both ends of a file both stay. */
function cutResult({ name, target, text }: CallReport, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const lines = text.split("\n");
  const gap = lines.findIndex((line) => /^\(lines \d+-\d+ of \d+ left out; /.test(line));
  const start = gap < 0 ? lines : lines.slice(0, gap);
  const first = fitFirst(start, gap < 0 ? maxLength : maxLength * shareOfStart);
  const room = maxLength - first.join("\n").length;
  const last = gap < 0 ? [] : fitFirst(lines.slice(gap + 1).toReversed(), room).toReversed();
  const rest = lines.slice(first.length, lines.length - last.length);
  const numberOf = (line = "") => /^\s*(\d+)(?: |$)/.exec(line)?.[1];
  const from = gap < 0 ? numberOf(rest[0]) : Number(numberOf(first.at(-1)) ?? 0) + 1;
  const after = numberOf(last[0]);
  const to = after === undefined ? numberOf(rest.findLast((line) => numberOf(line) !== undefined)) : Number(after) - 1;
  const path = target.replace(/::?\d+(-\d+)?$/, "");
  const isRead = rowOf(name)?.form === "lines" && from !== undefined && to !== undefined;
  const how = isRead
    ? `lines ${from}-${to} are left out: READ ${path}:${from}-${to}`
    : `${rest.length} lines are left out: ask for less at once`;
  return [...first, `[… ${how}]`, ...last].join("\n");
}

/** How many characters of each result fit into a room: short ones are whole, and the others share what these leave. */
export function shareAmong<Result extends { readonly text: string }>(results: readonly Result[], room: number) {
  const limits = new Map<Result, number>();
  let left = room;
  for (const result of results.toSorted((one, other) => one.text.length - other.text.length)) {
    const share = Math.max(0, Math.floor(left / (results.length - limits.size)));
    limits.set(result, share);
    left -= Math.min(result.text.length, share);
  }
  return limits;
}

/** Does the looks of a plan that asks to see more. Returns their results for the next planning call. */
export async function lookAround(run: Run, plan: Plan): Promise<string> {
  const looked = callsOfSteps(plan, ({ action }) => isLook(action));
  const named = new Set(looked.flatMap(({ input }) => (isFields(input) ? [input["path"]] : [])));
  const others = (plan.analysis?.files_to_read ?? []).filter((path) => !named.has(path));
  const reads = others.map((path, at): Call => ({ id: `look.r${at + 1}`, name: "READ", input: { path } }));
  const { reports } = await perform(run, [...looked, ...reads], noRights);
  if (!run.ledger.spare || reports.some(({ ok }) => ok)) run.planning.rounds += 1;
  const { rounds: done, maxRounds } = run.planning;
  const { promised, made } = run.ledger;
  const rounds = Math.min(maxRounds - done, promised.at_most - made - 1);
  if (maxRounds > 2 && rounds > 0)
    run.emit({ type: "notice", level: "info", code: "looked", text: `looked ${done} of at most ${maxRounds} times` });
  const { window, maxOutputTokens } = partOf(run.calling.model, "plan");
  const room = Math.min(maxOfRound, Math.max(1000, Math.floor((window - maxOutputTokens) * 0.75)));
  const limits = shareAmong(reports, room);
  const results: string[] = [];
  for (const report of reports) {
    const path = report.ok ? pathOfRead(run, report) : null;
    if (path !== null) run.reading.bases.add(path);
    const text = await renderLook(run, report, cutResult(report, limits.get(report) ?? 0));
    results.push(text);
    if (report.ok) run.reading.looked = [...run.reading.looked, { path, text, range: rangeOf(report) }];
  }
  return [...results, renderMore(rounds, run.planning.atOncePrompt !== null)].join("\n\n");
}

/** The files that a person's words name by `@path`; "": none that the messages do not show. */
export async function showMentioned(run: Run, words: string): Promise<string> {
  const root = run.workspace.root.slice(1) as RelPath;
  const shown: string[] = [];
  for (const names of atPathsIn(words)) {
    const all = names.map((name) => (name.startsWith("../") ? `/${resolveFrom(root, name) ?? ""}` : name));
    let found: string | null = null;
    for (const path of all.flatMap((name) => toReadable(run, name) ?? [])) found ??= await showFile(run, path);
    if (found !== null) shown.push(found);
  }
  return shown.filter(Boolean).join("\n\n");
}

function renderMore(rounds: number, atOnce: boolean): string {
  const answer = `eply with ${atOnce ? "your script" : "the plan"}, or with the whole answer`;
  const left = rounds === 1 ? "one more round of looks is" : `${rounds} more rounds of looks are`;
  const more = rounds === 0 ? `No look is left: r${answer}.` : `R${answer}; ${left} left.`;
  return atOnce ? more : `${more} One JSON value again.`;
}

function rangeOf({ input }: CallReport): ExcerptRange | null {
  const { start_line: from = null, end_line: to = null } = isFields(input) ? input : {};
  if (typeof from !== "number") return null;
  return { from, to: Math.min(typeof to === "number" ? to : Number.POSITIVE_INFINITY, from + maxReadLines - 1) };
}

/** The result of a look in a later phase; a file that was read without a range is shown whole, but for a long changelog. */
export async function showLook(run: Run, report: CallReport): Promise<string> {
  const named = report.ok && !("start_line" in (report.input as object)) ? pathOfRead(run, report) : null;
  const size = named === null ? 0 : ((await textNow(run, named))?.length ?? 0);
  const path = named === null || isLongChangelog(named, size) ? null : named;
  const shown = path === null ? null : await showFile(run, path);
  if (shown === "") return `${report.name} ${report.target}: shown above, with its changes`;
  return shown ?? renderLook(run, report);
}

/** What the model has not seen of a file that its reply left undone; "": nothing, or more than fits. */
export async function showRest(run: Run, path: RelPath): Promise<string> {
  const text = await textNow(run, path);
  if (text === null || !run.dialogue.files.has(path)) return "";
  return untoldSize(run, path, text) > maxLooked ? "" : ((await showFile(run, path)) ?? "");
}

const maxLooked = 24_000;

/** What looks before the plan found, for a call that stands alone: the smallest that fit. `evidence`: paths that it shows anyway. */
function renderLooked(reading: Readonly<FilesRead>, evidence: ReadonlySet<string>): string {
  const looked = reading.looked.filter(({ path }) => path === null || !evidence.has(path));
  let room = maxLooked;
  const kept = new Set<Shown>();
  for (const each of looked.toSorted((a, b) => a.text.length - b.text.length)) {
    room -= each.text.length;
    if (room >= 0) kept.add(each);
  }
  const left = new Set(looked.filter((each) => !kept.has(each)).map(({ path }) => path ?? "the result of a look"));
  const note = left.size === 0 ? "" : `Looked at before, and left out here: ${[...left].join(", ")}.`;
  const texts = looked.filter((each) => kept.has(each)).map(({ text }) => text);
  return [...texts, note].filter(Boolean).join("\n\n");
}

const maxOfSignatures = 2_000;

/** Of files that the planning call showed and the plan does not touch: how what the evidence uses of them is defined. */
async function renderSignatures(run: Run, evidence: ReadonlySet<RelPath>, texts: readonly string[]): Promise<string> {
  const used = namesMeant(texts.join("\n"), true);
  const found: string[] = [];
  let left = maxOfSignatures;
  for (const path of run.reading.briefed) {
    if (evidence.has(path) || kindOf(path) !== "code") continue;
    const lines = linesOf((await textNow(run, path)) ?? "");
    for (const { name, line } of extentsIn(path, lines)) {
      const text = `${path}:${line} ${(lines[line - 1] ?? "").trim()}`;
      if (!used.has(name) || text.length > left) continue;
      left -= text.length;
      found.push(text);
    }
  }
  return found.length === 0 ? "" : fence("signatures", {}, found.join("\n"));
}
