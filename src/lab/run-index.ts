/** All runs in all folders, read from their receipts, and their sums, for `pai stats` and `pai history --all`. */
import { join } from "node:path";
import { type GroupTotals, type RunSummary, summarizeRun } from "../core/run-summary.ts";
import { openReceipts, readEnded, readUndone } from "../store/receipts.ts";
import { entriesOf } from "../system/lookups.ts";

export interface IndexedRun extends RunSummary {
  readonly folder: string;
  readonly undone: boolean;
}

/** The runs of one project's state folder: by their receipts, and by notes where these were deleted. */
function readFolder(stateDir: string, folder: string): readonly IndexedRun[] {
  const state = join(stateDir, folder);
  const receipts = openReceipts(join(state, "runs"));
  const kept = receipts.ids().map((id) => ({ id, ...receipts.ends(id) }));
  const undone = readUndone(state);
  // Of several with one id a receipt counts, else the first note.
  const byId = new Map([...[...readEnded(state)].reverse(), ...kept].map((run) => [run.id, run]));
  return [...byId.values()].map(({ id, started, finished }) => ({
    ...summarizeRun(id, started, finished),
    folder,
    undone: undone.get(id) === true,
  }));
}

export function readRuns(stateDir: string): readonly IndexedRun[] {
  const folders = entriesOf(stateDir).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) => readFolder(stateDir, name)).sort((a, b) => (a.id < b.id ? 1 : -1));
}

export type Grouping = keyof typeof keyOf;
const keyOf = {
  day: ({ at }: IndexedRun) => at.slice(0, 10),
  model: ({ model }: IndexedRun) => model,
  mode: ({ mode }: IndexedRun) => mode,
  folder: ({ root }: IndexedRun) => root,
  user: ({ who = "" }: IndexedRun & { readonly who?: string }) => who,
  all: () => "all",
} as const;

function totalsOf(key: string, runs: readonly IndexedRun[]): GroupTotals {
  const sum = (of: (run: IndexedRun) => number | boolean | null) => runs.reduce((all, run) => all + Number(of(run)), 0);
  return {
    key,
    runs: runs.length,
    solved: sum(({ code }) => code === 0),
    verified: sum(({ status }) => status === "verified"),
    calls: sum(({ calls }) => calls),
    kept: sum(({ atMost, calls }) => atMost === 0 || calls <= atMost),
    tokens: sum(({ input, output }) => input + output),
    cached: sum(({ cached }) => cached),
    cost: sum(({ cost }) => cost),
    unpriced: sum(({ cost }) => cost === null),
    ms: sum(({ ms }) => ms),
    refused: sum(({ refused }) => refused),
    amended: sum(({ amended }) => amended),
    changed: sum(({ files }) => files > 0),
    undone: sum(({ undone }) => undone),
  };
}

/** Sums of ended runs, since a time (ISO 8601) or all; days and folders sorted by name, others by number of runs. */
export function sumRuns(runs: readonly IndexedRun[], by: Grouping, since: string | null): readonly GroupTotals[] {
  const ended = runs.filter(({ status, at }) => status !== null && at >= (since ?? ""));
  const groups = [...Map.groupBy(ended, keyOf[by])].map(([key, group]) => totalsOf(key, group));
  const isByName = by === "day" || by === "folder";
  return groups.sort((a, b) => (isByName ? 0 : b.runs - a.runs) || (a.key < b.key ? -1 : 1));
}
