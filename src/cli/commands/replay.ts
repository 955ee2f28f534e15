/** `pai replay`: repeats a run from its receipt on the original files; the resulting tree must be the same. */

import { join } from "node:path";
import { allActions } from "../../actions/registry.ts";
import type { Change } from "../../core/change.ts";
import { digest } from "../../core/digest.ts";
import { PaiError } from "../../core/error.ts";
import type { ChangeSummary } from "../../core/outcome.ts";
import type { RelPath } from "../../core/path.ts";
import type { AnyAction } from "../../core/ports.ts";
import { type FactOf, factsOf } from "../../core/receipt.ts";
import { createVeil } from "../../core/secrets/veil.ts";
import { resumePlan } from "../../flows/auto.ts";
import type { Flow, RunOptions } from "../../flows/run.ts";
import { runTask } from "../../flows/run-task.ts";
import { followPlan } from "../../flows/single-shot.ts";
import { openReceipts, type Receipt, type ReceiptWriter } from "../../store/receipts.ts";
import { recordRun } from "../../store/record-receipt.ts";
import type { Mode } from "../../store/setting-table.ts";
import { counted } from "../../ui/amount.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import type { History } from "../../workspace/journal/run-history.ts";
import type { OpenedWorkspace } from "../../workspace/open.ts";
import { openLog, showFinding, showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { openHere } from "../compose/compose-task.ts";
import { flowFor } from "../compose/options.ts";
import { openPast, playTape, type ReplayTape } from "../replay/replay-tape.ts";

function finishedEdits({ facts }: Receipt, history: History, id: string): readonly Change[] {
  const work = history.work(id) ?? [];
  const edits = factsOf(facts, "changes").at(0)?.changes ?? [];
  return edits.map(({ path, from, after: hash }) => {
    const change = work.find((each) => each.path === path);
    const kept = change?.after ?? null;
    if (change === undefined || (kept?.kind === "file" && digest(kept.bytes) !== hash))
      throw new PaiError("failed", `the edits of run ${id} are no longer kept`);
    return { path: change.path, before: change.before, after: kept, from: from as RelPath | null };
  });
}

async function flowOf(receipt: Receipt, started: FactOf<"run.started">, history: History): Promise<Flow> {
  const { command, planOnly } = started.options;
  if (command === "apply") {
    const plan = factsOf(receipt.facts, "plan").at(-1)?.plan;
    if (plan === undefined) throw new PaiError("failed", `run ${receipt.id} ended before its plan was read`);
    const asked = factsOf(receipt.facts, "call").length > 0;
    return followPlan(plan, asked ? null : finishedEdits(receipt, history, receipt.id));
  }
  const { approved } = optionsOf(started);
  if (approved !== undefined) return resumePlan(approved);
  if (command === "run" || command === "plan")
    return flowFor(planOnly === true ? "single-shot" : (started.mode as Mode));
  throw new PaiError("failed", `run ${receipt.id} was a summary (${String(command)}), not a task`);
}

const sideOf = ({ op, before, after }: ChangeSummary) => [op, before, after].join(" ");

function compare(recorded: readonly ChangeSummary[], now: readonly ChangeSummary[]): string[] {
  const [then, again] = [recorded, now].map((list) => new Map(list.map((each) => [each.path, sideOf(each)])));
  const paths = new Set([...recorded, ...now].map(({ path }) => path));
  return [...paths].filter((path) => then?.get(path) !== again?.get(path)).sort();
}

/**
 * Repeats the recorded task. Writes nothing, asks nobody, runs no command. Throws failed for a receipt without an end.
 * `changed`: paths of the recorded run; `differing`: those that it left otherwise; `difference`: the first other step.
 */
export async function replayRun(
  receipt: Receipt,
  { workspace, history }: Pick<OpenedWorkspace, "workspace" | "history">,
  signal: AbortSignal,
) {
  const { facts, id, broken } = receipt;
  const started = facts[0];
  const recorded = factsOf(facts, "run.finished").at(-1)?.outcome;
  if (broken !== null || started?.type !== "run.started" || recorded === undefined)
    throw new PaiError("failed", `the receipt of run ${id} is broken at line ${broken?.line ?? 1}: ${broken?.why}`);
  const tape = playTape(facts, started);
  const past = await openPast(workspace, history, id, tape);
  const flow = await flowOf(receipt, started, history);
  const { files, ...said } = started.task;
  const task = { ...said, files: files as readonly RelPath[], conversation: null };
  const options = optionsOf(started);
  // The replay writes its own receipt, since that gives secrets their names, and discards it.
  const veil = createVeil({ ...started.names, trusting: true });
  const played = { ...tape, workspace: past, now, veil, actions: allActions.map((action) => playLooks(action, tape)) };
  const recorder = recordRun(nowhere, { task, options }, played, () => {});
  const ports = { ...recorder, signal, now, price: () => null, id };
  const outcome = await runTask(flow, task, options, ports);
  const differing = compare(recorded.changes, outcome.changes);
  return { outcome, differing, changed: recorded.changes.length, difference: tape.difference };
}

/** Makes a look return its recorded result. It still reads the files, since reading gives secrets their names. */
function playLooks(action: AnyAction, { nextLook }: ReplayTape): AnyAction {
  if (action.kind !== "look") return action;
  return {
    ...action,
    async propose(input, stage, signal) {
      const then = nextLook(action.name, input);
      const now = action.propose(input, stage, signal);
      if (then === null) return now;
      await now.catch(() => {});
      const { code, text } = then;
      return code === null ? { kind: "answer", text } : { kind: "complaint", code, text };
    },
  };
}

/** Without the cost cap, as the receipt has no prices; a run that it stopped ends with its recorded facts. */
function optionsOf({ options }: FactOf<"run.started">): RunOptions {
  const given = options as unknown as RunOptions;
  return { ...given, caps: { ...given.caps, cost: null }, commit: null };
}

const nowhere: ReceiptWriter = { add: () => {}, close: () => {} };
const now = () => new Date(0);

export async function replayCommand(context: Context): Promise<number> {
  const [wanted, ...more] = context.words;
  if (more.length > 0) throw new PaiError("usage", "pai replay takes one run", { hint: "see: pai history" });
  const opened = await openHere(context);
  const receipts = opened.stateFolder === null ? null : openReceipts(join(opened.stateFolder, "runs"));
  const last = receipts?.ids().toSorted().at(-1);
  if (receipts === null || last === undefined) throw new PaiError("failed", "no receipts are kept here");
  const id = receipts.find(wanted ?? last);
  const { outcome, differing, changed, difference } = await replayRun(receipts.read(id), opened, context.signal);
  const data = { run: id, same: differing.length === 0, changed, differing, difference, status: outcome.status };
  if (difference !== null) openLog(context).notify({ level: "info", code: "replay", text: `note: ${difference}` });
  if (differing.length === 0) return showResult(context, "replay", data, `same tree: ${counted(changed, "file")}\n`);
  const paths = differing.map(visibleLine).join(", ");
  const why = outcome.error === null ? "" : ` (${outcome.error.message})`;
  const hint = "the files that it began with may have changed";
  return showFinding(context, "replay", data, new PaiError("conflict", `the tree differs: ${paths}${why}`, { hint }));
}
