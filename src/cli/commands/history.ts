/** `pai undo`, `pai redo`, `pai history`: undoes, redoes and lists the runs of this folder. */
import { statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { commandWording } from "../../core/approval-wording.ts";
import { type Change, sameBlob } from "../../core/change.ts";
import { quoteForShell } from "../../core/command/quote.ts";
import { summarizeAll } from "../../core/diff.ts";
import { PaiError } from "../../core/error.ts";
import type { Outcome } from "../../core/outcome.ts";
import { noEnd } from "../../core/receipt.ts";
import { outcomeSchema } from "../../core/schemas.ts";
import { nameSome } from "../../core/suggest.ts";
import { renderDisputes } from "../../core/three-way.ts";
import type { IndexedRun } from "../../lab/door.ts";
import { type Ends, noteUndone, openReceipts } from "../../store/receipts.ts";
import { counted, grouped, priced, renderDuration } from "../../ui/amount.ts";
import { cut, wrap } from "../../ui/layout.ts";
import { renderSummaries } from "../../ui/run/render-outcome.ts";
import { firstLine, visible, visibleLine } from "../../ui/sanitize.ts";
import type { Clash, KeptRun, Reversal } from "../../workspace/journal/run-history.ts";
import type { OpenedWorkspace } from "../../workspace/open.ts";
import { columnsOfResults, openLog, showFinding, showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { type Base, composeBase, rootFlag } from "../compose/base.ts";
import { openHere } from "../compose/compose-task.ts";
import {
  askYes,
  isApproved,
  isInteractive,
  renderDiffOn,
  renderHiddenHere,
  styleDiffOn,
  styleOf,
} from "../compose/view.ts";
import { openLab } from "../lab.ts";

type Kind = "undo" | "redo";
type Opened = Pick<OpenedWorkspace, "workspace" | "stateFolder">;

const verbOf = { undo: "undone", redo: "redone" } as const;

const isMergeable = ({ merge }: Clash): boolean => merge.kind === "merged";

/** What was changed after the run, as a change: from the content that the run left to the current one. */
const asChange = ({ path, expected, actual }: Clash): Change => ({
  path,
  before: expected,
  after: actual ?? null,
  from: null,
});

const repeat = (base: Base, kind: Kind, id: string) => `pai ${kind}${rootFlag(base)} ${id}`;

/** Refuses for what was changed since. `isApart`: no line is touched by both, so a yes or --merge would do. */
async function refuse(base: Base, { run, clashes }: Reversal, kind: Kind, isApart: boolean): Promise<never> {
  const { err } = base.context;
  const foreign = clashes.filter(({ expected, actual }) => !sameBlob(expected, actual ?? null)).map(asChange);
  err(`${await renderDiffOn("stderr", base, foreign)}\n`);
  const sides = { ours: `what the ${kind} would write`, theirs: "what was written since" };
  for (const { path, merge } of clashes)
    if (merge.kind === "disputed") err(`${visible(renderDisputes(path, merge.disputes, sides))}\n`);
  const paths = clashes.map(({ path }) => path).join(", ");
  const out = "take it out, or undo the run that made it, if one did (pai history), then";
  const way = isApart ? `to keep both: ${repeat(base, kind, run.id)} --merge` : `${out}: ${repeat(base, kind, run.id)}`;
  throw new PaiError("conflict", `run ${run.id} cannot be ${verbOf[kind]}: changed since: ${paths}`, {
    hint: `nothing was touched; the diff above is what was changed beside the run or after it: ${way}`,
  });
}

async function requireYes(base: Base, { run, changes, merged }: Reversal, kind: Kind): Promise<void> {
  const { context } = base;
  if (changes.length === 0) return;
  const isMergeAsked = merged.length > 0 && context.flags.merge !== true;
  if (
    !isMergeAsked &&
    isApproved(context, { needs: `pai ${kind} needs a yes`, line: `pai ${kind} -y${rootFlag(base)} ${run.id}` })
  )
    return;
  context.err(await renderDiffOn("stderr", base, changes));
  const what = commandWording.reverse(kind, run.id, firstLine(run.task));
  await askYes(context, isMergeAsked ? `${what}\n${commandWording.merge(nameSome(merged))}` : what);
}

const sayNothing = ({ run }: Reversal, kind: Kind): string =>
  `nothing of run ${run.id} is left to ${kind === "undo" ? "take" : "bring"} back: ${firstLine(run.task)}`;

/** Where runs of the folder `root` may be that are not found: with another user. null: nothing tells of others. */
function findMissingRuns(root: string, env: Context["env"]): string | null {
  const user = env["SUDO_USER"] ?? "";
  if (!["", "root"].includes(user)) return `under sudo the runs of ${user} are not seen: take those back without sudo`;
  const uid = statSync(join(root, ".pai_history"), { throwIfNoEntry: false })?.uid;
  if (uid === undefined || uid === process.geteuid?.()) return null;
  return `uid ${uid} has run pai here: runs are kept with their user, who can take them back`;
}

/** Says that an undo restores files but leaves the commit: git's history is the user's. */
function sayCommit(commit: string | null, { changes }: Reversal): readonly string[] {
  if (commit === null) return [];
  const [short, paths] = [commit.slice(0, 10), changes.map(({ path }) => quoteForShell(path)).join(" ")];
  const way = `git add -A -- ${paths} && git commit -m 'Revert ${short}' -- ${paths}`;
  return [`the commit ${short} stays; to take it back, too: ${way}`];
}

async function showReversal(
  base: Base,
  done: Reversal,
  kind: Kind,
  { stateFolder, inSession }: { readonly stateFolder: string | null; readonly inSession: boolean },
): Promise<number> {
  const { context } = base;
  const dryRun = context.flags.dryRun === true;
  const { run, merged, lost } = done;
  const ends = stateFolder === null ? null : openReceipts(join(stateFolder, "runs")).ends(run.id);
  const commit = ends?.finished?.outcome.commit ?? null;
  const changes = summarizeAll(done.changes, () => "plan");
  // A long diff takes longer than everything else here, so it is made once, and only where it is shown.
  const diff = dryRun || context.flags.json === true ? renderHiddenHere(base, done.changes) : "";
  const data = { run: run.id, commit, dry_run: dryRun, changes, merged, diff };
  const wrapOnScreen = (line: string) => wrap(line, columnsOfResults(context)).join("\n");
  const committed = kind === "undo" ? sayCommit(commit, done) : [];
  const back = kind === "undo" ? "redo" : "undo";
  const lines = dryRun
    ? [
        await styleDiffOn("stdout", context, diff),
        `would be ${verbOf[kind]}: run ${run.id}, ${counted(changes.length, "path")}; nothing was changed`,
        ...committed,
      ]
    : [
        ...renderSummaries(changes, styleOf(context, context.tty.stdout)),
        wrapOnScreen(`${verbOf[kind]} run ${run.id}: ${firstLine(run.task)}`),
        ...(merged.length === 0 ? [] : [`merged with what was changed since: ${visibleLine(nameSome(merged))}`]),
        ...lost.map(wrapOnScreen),
        ...committed,
        `${back} with: ${inSession ? `/${back}` : `pai ${back}${rootFlag(base)}`}`,
      ];
  const told = changes.length === 0 ? [wrapOnScreen(sayNothing(done, kind))] : lines;
  return showResult(context, kind, data, told.map((line) => `${line}\n`).join(""));
}

export async function reverse(given: Context, kind: Kind, inSession = false): Promise<number> {
  const opened = await openHere(given);
  const { history, base, stateFolder, workspace } = opened;
  const { context } = base;
  const [id = null, ...more] = context.words;
  if (more.length > 0) throw new PaiError("usage", `pai ${kind} takes one run`, { hint: "see: pai history" });
  const merge = context.flags.merge === true || isInteractive(context);
  const preview = await history[kind](id, { dryRun: true, merge }).catch((thrown) => {
    const isGone = thrown instanceof PaiError && thrown.code === "nothing_to_undo";
    const hint = isGone ? findMissingRuns(workspace.root, context.env) : null;
    throw hint === null ? thrown : new PaiError(thrown.code, thrown.message, { hint, cause: thrown });
  });
  if (preview.clashes.length > 0) await refuse(base, preview, kind, preview.clashes.every(isMergeable));
  const how = { stateFolder, inSession };
  if (context.flags.dryRun === true) return showReversal(base, preview, kind, how);
  await requireYes(base, preview, kind);
  const done = await history[kind](preview.run.id, { dryRun: false, merge: preview.merged.length > 0 });
  if (done.clashes.length > 0) await refuse(base, done, kind, false);
  await tellUndone(base, opened, done.run.id, kind);
  for (const text of done.lost) context.notices.add({ level: "warning", code: "owner_lost", text });
  return showReversal(base, done, kind, how);
}

const maxListed = 200;

/** The newest runs of all folders, or of the team; `limit` null: all. */
async function indexedRuns(base: Base, limit: number | null): Promise<readonly IndexedRun[]> {
  const { context, places } = base;
  if (context.flags.team === true) {
    const { askTeam, readTeamRuns } = await openLab();
    return askTeam(base, (store) => readTeamRuns(store, limit));
  }
  if (places.stateDir === null) throw new PaiError("failed", "no receipts are kept: no home folder is known");
  const { readRuns } = await openLab();
  return readRuns(places.stateDir).slice(0, limit ?? undefined);
}

async function historyOfAll(given: Context): Promise<number> {
  const base = composeBase(given);
  const { context } = base;
  if (context.flags.prune === true) throw new PaiError("usage", "--prune works on one folder, without --all or --team");
  const runs = await indexedRuns(base, context.flags.json === true ? null : maxListed + 1);
  const rows = runs.slice(0, maxListed).map((run) => toIndexedRow(run, context.flags.team === true));
  const more = runs.length > maxListed ? "older runs: pai history --json, with the same flags\n" : "";
  const text = runs.length === 0 ? "no runs are kept\n" : renderRows(rows, columnsOfResults(context)) + more;
  return showResult(context, "history", { runs }, text);
}

export async function historyCommand(context: Context): Promise<number> {
  const { flags, words } = context;
  if (flags.verify === true) return verifyReceipts(context);
  if (words.length > 0)
    throw new PaiError("usage", "a run is named with --verify only", { hint: "see: pai help history" });
  if (flags.all === true || flags.team === true) return historyOfAll(context);
  const opened = await openHere(context);
  const forgotten = context.flags.prune === true ? pruneRuns(opened, context.now(), opened.base.settings.keep) : null;
  const runs = listRuns(opened);
  const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
  const missing = findMissingRuns(opened.workspace.root, context.env);
  const none = `no runs are kept for this folder\n${missing === null ? "" : `${missing}\n`}`;
  const lines = runs.length === 0 ? none : renderRows(runs.map(toRow), columnsOfResults(context));
  const pruned = forgotten === null ? "" : `${forgotten} old runs forgotten\n`;
  return showResult(context, "history", { runs, bytes, pruned: forgotten }, `${pruned}${lines}`);
}

/** Receipts without an end that are no failure, by the state of the run's changes. */
const unfinished: Readonly<Record<string, "running" | "recovered">> = {
  open: "running",
  rolled_back: "recovered",
  none: "recovered",
};

async function verifyReceipts(context: Context): Promise<number> {
  const [wanted, ...rest] = context.words;
  if (rest.length > 0) throw new PaiError("usage", "--verify takes one run", { hint: "see: pai history" });
  const { stateFolder, history } = await openHere(context);
  if (stateFolder === null) throw new PaiError("failed", "no receipts are kept here");
  const receipts = openReceipts(join(stateFolder, "runs"));
  const ids = wanted === undefined ? receipts.ids() : [receipts.find(wanted)];
  const journal = new Map(history.list().map(({ id, status }) => [id, status] as const));
  const runs = ids.map((id) => {
    const { facts, broken } = receipts.read(id);
    const state = broken?.why === noEnd ? unfinished[journal.get(id) ?? "none"] : undefined;
    return { run: id, lines: facts.length, broken: state === undefined ? broken : null, state: state ?? "ended" };
  });
  const open = runs.filter(({ state }) => state !== "ended").map(({ run, state }) => `${run} ${state}`);
  const told = open.length === 0 ? "" : ` (${open.join(", ")})`;
  const fine =
    runs.length === 0 ? "no receipts are kept" : `${counted(runs.length, "receipt")}, every line unchanged${told}`;
  const [first, ...others] = runs.flatMap(({ run, broken }) => (broken === null ? [] : [{ run, ...broken }]));
  if (first === undefined) return showResult(context, "history", { runs }, `${fine}\n`);
  const more = others.length === 0 ? "" : ` (and ${counted(others.length, "more receipt")})`;
  const message = `the receipt of run ${first.run} is broken at line ${first.line}: ${first.why}${more}`;
  return showFinding(context, "history", { runs }, new PaiError("failed", message));
}

/** Reports an undo or redo to the statistics, here and in the team's store; one that is away only causes a notice. */
export async function tellUndone(base: Base, { workspace: { root }, stateFolder }: Opened, id: string, kind: Kind) {
  if (stateFolder === null) return;
  noteUndone(stateFolder, id, kind);
  if (base.settings.storeUrl === null) return;
  const { shareUndone } = await openLab();
  const notice = await shareUndone(base, { root, id }, kind === "undo");
  if (notice !== null) openLog(base.context).notify(notice);
}

type Ended = NonNullable<ReturnType<typeof readEnds>["outcome"]>;

export interface ListedRun extends Omit<KeptRun, "status"> {
  /** State of its changes; `unchanged`: there were none, or they are no longer kept; `planned`: it only made a plan. */
  readonly status: KeptRun["status"] | "unchanged" | "planned";
  /** null: no receipt, or the run was cut off. */
  readonly outcome: Ended | null;
}

const begunShape = z.object({ at: z.string(), task: z.object({ text: z.string() }) });
const endedShape = z.object({ outcome: z.omit(outcomeSchema, { plan: true, diff: true }) });

/** The first and last fact of a receipt; null for a missing or invalid one. */
function readEnds(ends: Ends | undefined) {
  const begun = z.safeParse(begunShape, ends?.started).data ?? null;
  const { outcome } = z.safeParse(endedShape, ends?.finished).data ?? {};
  if (outcome === undefined) return { begun, outcome: null, status: "unchanged" } as const;
  const { status, code, mode, score, cost, model, calls, usage } = outcome;
  const ended = {
    ...{ status, code, mode, score, cost, model: model.requested, calls: calls.sent ?? calls.made },
    tokens: usage.input + usage.output,
    ms: outcome.ms,
    actions: outcome.actions,
    lines: outcome.changes.reduce(
      (sum, { added, deleted }) => ({ added: sum.added + added, deleted: sum.deleted + deleted }),
      { added: 0, deleted: 0 },
    ),
  };
  return { begun, outcome: ended, status: outcome.planned === true ? "planned" : "unchanged" } as const;
}

/** Newest first, including runs that changed nothing. */
export function listRuns({ history, stateFolder }: OpenedWorkspace): readonly ListedRun[] {
  const receipts = stateFolder === null ? null : openReceipts(join(stateFolder, "runs"));
  const journal = new Map(history.list().map((run) => [run.id, run] as const));
  const ids = new Set([...journal.keys(), ...(receipts?.ids() ?? [])]);
  return [...ids]
    .sort()
    .reverse()
    .flatMap((id): ListedRun[] => {
      const { begun, outcome, status } = readEnds(receipts?.ends(id));
      const kept = journal.get(id);
      if (kept !== undefined) return [{ ...kept, outcome }];
      if (begun === null) return [];
      return [{ id, task: begun.task.text, at: begun.at, status, changes: [], left: [], bytes: 0, outcome }];
    });
}

/** Removes old runs and receipts; returns how many runs the journal removed. */
export function pruneRuns({ history, stateFolder }: OpenedWorkspace, now: Date, keep: number): number {
  if (stateFolder !== null) openReceipts(join(stateFolder, "runs")).prune(now, keep);
  return history.prune({ runs: keep });
}

const sizeOf = (bytes: number) => (bytes < 10_240 ? `${bytes} B` : `${Math.round(bytes / 1024)} KiB`);

type RunFigures = Pick<Ended, "score" | "calls" | "tokens" | "cost" | "lines"> & {
  /** null: an ended run of another machine or folder does not tell. */
  readonly ms: number | null;
  readonly actions: Outcome["actions"] | null;
  /** null: the list says it elsewhere. */
  readonly status: string | null;
};

function renderEnded({ status, score, calls, tokens, cost, ms, actions, lines }: RunFigures): string {
  const all = actions === null ? 0 : actions.done + actions.failed + actions.refused;
  return [
    ...(status === null ? [] : [status]),
    ...(score === null ? [] : [`score ${score}`]),
    counted(calls, "call"),
    `${grouped(tokens)} tokens`,
    ...(cost === null ? [] : [priced(cost)]),
    ...(actions === null || all === 0 ? [] : [`${actions.done} of ${counted(all, "action")}`]),
    ...(lines.added + lines.deleted === 0 ? [] : [`+${lines.added} -${lines.deleted}`]),
    ...(ms === null ? [] : [renderDuration(ms)]),
  ].join(", ");
}

export interface RunRow {
  readonly lead: string;
  readonly facts: string;
  readonly task: string;
}

export function toIndexedRow(run: IndexedRun, ofTeam = false): RunRow {
  const { id, at, root, task, status, input, output, added, deleted, files, undone } = run;
  const spentOn = { ...run, tokens: input + output, lines: { added, deleted }, actions: null };
  const how = status === null ? "not ended" : renderEnded({ ...spentOn, status });
  const when = visibleLine(at.slice(0, 16).replace("T", " "));
  const whose = ofTeam ? `${visibleLine(run.folder)}:` : "";
  const where = `${files === 0 ? "" : `, ${counted(files, "path")}`}  ${whose}${visibleLine(root)}${undone ? "  undone" : ""}`;
  return { lead: `${id}  ${when}`, facts: `${how}${where}`, task: visibleLine(task) };
}

export function toRow({ id, at, status, task, changes, left, bytes, outcome }: ListedRun): RunRow {
  const when = visibleLine(at.slice(0, 16).replace("T", " "));
  const ended =
    outcome === null ? [] : [renderEnded({ ...outcome, status: status === "planned" ? null : outcome.status })];
  const work = changes.length === 0 ? [] : [`${counted(changes.length, "path")}, ${sizeOf(bytes)}`];
  const standing = left.length === 0 ? [] : [`left: ${visibleLine(nameSome(left))} (pai undo)`];
  return {
    lead: `${id}  ${when}  ${status.padEnd(11)}`,
    facts: [...ended, ...work, ...standing].join("  "),
    task: visibleLine(task),
  };
}

/** A line for each run; where it is wider than `columns`, the task has a line of its own. */
export function renderRows(rows: readonly RunRow[], columns: number | null): string {
  const shown = rows.flatMap(({ lead, facts, task }) => {
    const told = [lead, facts].filter(Boolean).join("  ");
    const line = `${told}  ${cut(task, 60, "")}`;
    if (columns === null || Bun.stringWidth(line) <= columns) return [line];
    const [first = "", ...more] = wrap(told, columns - 2);
    return [first.trimEnd(), ...[...more, cut(task, columns - 2, "…")].map((part) => `  ${part}`)];
  });
  return shown.map((line) => `${line}\n`).join("");
}
