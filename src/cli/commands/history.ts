/** `pai undo`, `pai redo`, `pai history`: the runs of this folder, taken back and brought back. */
import { type Change, sameBlob } from "../../core/change.ts";
import { renderChanges, summarizeAll } from "../../core/diff.ts";
import { PaiError } from "../../core/error.ts";
import { counted } from "../../ui/amount.ts";
import { renderSummaries } from "../../ui/run/render-outcome.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import type { Clash, Reversal } from "../../workspace/journal/history.ts";
import { showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { openHere } from "../compose/open-here.ts";
import { isInteractive, openPrompter, styleOf } from "../compose/view.ts";
import { renderDiffOn } from "../print-diff.ts";

/**
 * A path that is not as the run left it, as the change that was made since: from what the run left to what is there.
 */
const asChange = ({ path, expected, actual }: Clash): Change => ({
  path,
  before: expected,
  after: actual ?? null,
  from: null,
});

async function refuse(context: Context, { run, clashes }: Reversal, verb: string): Promise<never> {
  const foreign = clashes.filter(({ expected, actual }) => !sameBlob(expected, actual ?? null)).map(asChange);
  context.err(`${await renderDiffOn("stderr", context, foreign)}\n`);
  const paths = clashes.map(({ path }) => path).join(", ");
  throw new PaiError("conflict", `run ${run.id} cannot be ${verb}: changed since: ${paths}`, {
    hint: "nothing was touched; put these files back to what the run left, or change them by hand",
  });
}

async function requireYes(context: Context, { run, changes }: Reversal, kind: "undo" | "redo"): Promise<void> {
  if (context.flags.yes === true) return;
  const what = `${kind === "undo" ? "Take back" : "Bring back"} run ${run.id}: ${visibleLine(run.task)}`;
  if (!isInteractive(context))
    throw new PaiError("approval_needed", `pai ${kind} needs a yes`, { hint: `pai ${kind} -y` });
  context.err(await renderDiffOn("stderr", context, changes));
  const prompter = await openPrompter(context, context.signal)();
  if ((await prompter.ask({ kind: "changes", text: what })) !== "yes")
    throw new PaiError("declined", "nothing was changed");
}

async function reverse(given: Context, kind: "undo" | "redo"): Promise<number> {
  const { history, base } = await openHere(given);
  const { context } = base;
  const [id = null, ...more] = context.words;
  if (more.length > 0) throw new PaiError("usage", `pai ${kind} takes one run`, { hint: "see: pai history" });
  const verb = kind === "undo" ? "undone" : "redone";
  const preview = await history[kind](id, { dryRun: true });
  if (preview.clashes.length > 0) await refuse(context, preview, verb);
  const dryRun = context.flags.dryRun === true;
  if (!dryRun) await requireYes(context, preview, kind);
  const done = dryRun ? preview : await history[kind](preview.run.id, { dryRun: false });
  if (done.clashes.length > 0) await refuse(context, done, verb);
  const changes = summarizeAll(done.changes, () => "plan");
  const data = { run: done.run.id, dry_run: dryRun, changes, diff: renderChanges(done.changes) };
  const paths = counted(changes.length, "path");
  const back = kind === "undo" ? "redo" : "undo";
  const listed = renderSummaries(changes, styleOf(context, context.tty.stdout)).join("\n");
  const text = dryRun
    ? `${await renderDiffOn("stdout", context, done.changes)}\nwould be ${verb}: run ${done.run.id}, ${paths}; nothing was changed\n`
    : `${listed}\n${verb} run ${done.run.id}: ${visibleLine(done.run.task)}\n${back} with: pai ${back}\n`;
  return showResult(context, kind, data, text);
}

export const undoCommand = (context: Context): Promise<number> => reverse(context, "undo");
export const redoCommand = (context: Context): Promise<number> => reverse(context, "redo");

export async function historyCommand(context: Context): Promise<number> {
  const opened = await openHere(context);
  const { listRuns, pruneRuns, renderRun } = await import("../runs.ts");
  const forgotten = context.flags.prune === true ? pruneRuns(opened, context.now()) : null;
  const runs = listRuns(opened);
  const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
  const lines = runs.length === 0 ? "no runs are kept for this folder\n" : runs.map(renderRun).join("");
  const pruned = forgotten === null ? "" : `${forgotten} old runs forgotten\n`;
  return showResult(context, "history", { runs, bytes, pruned: forgotten }, `${pruned}${lines}`);
}
