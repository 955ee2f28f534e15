/** Lists the runs of a folder: from the journal, with results from the receipts. */

import { join } from "node:path";
import { type RunSummary, summarizeRun } from "../core/run-summary.ts";
import { nameSome } from "../core/suggest.ts";
import type { IndexedRun } from "../lab/door.ts";
import { openReceipts } from "../store/receipts.ts";
import { counted, grouped, priced, renderDuration } from "../ui/amount.ts";
import { cut, wrap } from "../ui/layout.ts";
import { visibleLine } from "../ui/sanitize.ts";
import type { KeptRun } from "../workspace/journal/run-history.ts";
import type { OpenedWorkspace } from "../workspace/open.ts";

export interface ListedRun extends Omit<KeptRun, "status"> {
  /** State of its changes; `unchanged`: there were none, or they are no longer kept; `planned`: it only made a plan. */
  readonly status: KeptRun["status"] | "unchanged" | "planned";
  /** null: no receipt, or the run was cut off. */
  readonly outcome: RunSummary | null;
}

/** Newest first, including runs that changed nothing. */
export function listRuns({ history, stateFolder }: OpenedWorkspace): readonly ListedRun[] {
  const receipts = stateFolder === null ? null : openReceipts(join(stateFolder, "runs"));
  const journal = new Map(history.list().map((run) => [run.id, run] as const));
  const ids = [...new Set([...journal.keys(), ...(receipts?.ids() ?? [])])].sort().reverse();
  return ids.flatMap((id): ListedRun[] => {
    const { started = null, finished = null } = receipts?.ends(id) ?? {};
    const summary = summarizeRun(id, started, finished);
    const outcome = summary.status === null ? null : summary;
    const kept = journal.get(id);
    if (kept !== undefined) return [{ ...kept, outcome }];
    if (started === null) return [];
    const status = summary.status === "planned" ? "planned" : "unchanged";
    return [{ id, task: summary.task, at: summary.at, status, changes: [], left: [], bytes: 0, outcome }];
  });
}

/** Removes old runs and receipts; returns how many runs the journal removed. */
export function pruneRuns({ history, stateFolder }: OpenedWorkspace, now: Date, keep: number): number {
  if (stateFolder !== null) openReceipts(join(stateFolder, "runs")).prune(now, keep);
  return history.prune({ runs: keep });
}

const sizeOf = (bytes: number) => (bytes < 10_240 ? `${bytes} B` : `${Math.round(bytes / 1024)} KiB`);

/** `status` null: the list says it elsewhere. */
function renderEnded(run: RunSummary, status = run.status): string {
  const { score, calls, input, output, cost, actions, added, deleted, ms } = run;
  return [
    ...(status === null ? [] : [status]),
    ...(score === null ? [] : [`score ${score}`]),
    counted(calls, "call"),
    `${grouped(input + output)} tokens`,
    ...(cost === null ? [] : [priced(cost)]),
    ...(actions === null || actions === 0 ? [] : [counted(actions, "action")]),
    ...(added + deleted === 0 ? [] : [`+${added} -${deleted}`]),
    ...(ms === null ? [] : [renderDuration(ms)]),
  ].join(", ");
}

/** What a list says of a run. */
export interface RunRow {
  readonly lead: string;
  readonly facts: string;
  readonly task: string;
}

/** A run of any folder; `ofTeam`: with its user. */
export function toIndexedRow(run: IndexedRun, ofTeam = false): RunRow {
  const { id, at, root, task, status, files, undone } = run;
  const how = status === null ? "not ended" : renderEnded(run);
  const when = visibleLine(at.slice(0, 16).replace("T", " "));
  const whose = ofTeam ? `${visibleLine(run.folder)}:` : "";
  const where = `${files === 0 ? "" : `, ${counted(files, "path")}`}  ${whose}${visibleLine(root)}${undone ? "  undone" : ""}`;
  return { lead: `${id}  ${when}`, facts: `${how}${where}`, task: visibleLine(task) };
}

/** A run of this folder. */
export function toRow({ id, at, status, task, changes, left, bytes, outcome }: ListedRun): RunRow {
  const when = visibleLine(at.slice(0, 16).replace("T", " "));
  const ended = outcome === null ? [] : [renderEnded(outcome, status === "planned" ? null : outcome.status)];
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
