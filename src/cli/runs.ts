/** Lists the runs of a folder: from the journal, with results from the receipts. */

import { join } from "node:path";
import * as z from "zod/mini";
import type { Outcome } from "../core/outcome.ts";
import { outcomeSchema } from "../core/schemas.ts";
import { nameSome } from "../core/suggest.ts";
import type { IndexedRun } from "../lab/door.ts";
import { openReceipts } from "../store/receipts.ts";
import type { Ends } from "../store/run-notes.ts";
import { counted, grouped, priced, renderDuration } from "../ui/amount.ts";
import { cut, wrap } from "../ui/layout.ts";
import { visibleLine } from "../ui/sanitize.ts";
import type { KeptRun } from "../workspace/journal/run-history.ts";
import type { OpenedWorkspace } from "../workspace/open.ts";

/** End and effort of a run; lines are summed over all files. */
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

/** A run of any folder; `ofTeam`: with its user. */
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
