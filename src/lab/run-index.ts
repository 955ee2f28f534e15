/** A table of all runs in all folders, made from their receipts, for `pai stats` and `pai history --all`. */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { join } from "node:path";
import { columnNames, type GroupTotals, type RunSummary, summarizeRun } from "../core/run-summary.ts";
import { openReceipts } from "../store/receipts.ts";
import { readEnded, readUndone } from "../store/run-notes.ts";
import { entriesOf } from "../system/lookups.ts";

const columns = ["folder", ...columnNames] as const;

const schema = `create table runs (${columns.join(", ")}, undone integer not null default 0,
  primary key (folder, id)) without rowid`;

export interface IndexedRun extends RunSummary {
  /** Name of the project's state folder. */
  readonly folder: string;
  readonly undone: boolean;
}

/** Ways to group runs: an expression for each. */
export const groupings = {
  day: "substr(at, 1, 10)",
  model: "model",
  mode: "mode",
  folder: "root",
  all: "'all'",
} as const;
export type Grouping = keyof typeof groupings;

const sums = `count(*) as runs,
  coalesce(sum(code = 0), 0) as solved, sum(status = 'verified') as verified, sum(calls) as calls,
  sum(atMost = 0 or calls <= atMost) as kept, sum(input + output) as tokens, sum(cached) as cached, coalesce(sum(cost), 0) as cost,
  sum(cost is null) as unpriced, coalesce(sum(ms), 0) as ms, sum(refused) as refused, sum(amended) as amended,
  sum(files > 0) as changed, sum(undone) as undone`;

export interface RunIndex {
  /** Newest first, at most `limit`. */
  runs(limit: number): readonly IndexedRun[];
  /** Sums of ended runs, since a time (ISO 8601) or all; days and folders sorted by name, others by number of runs. */
  totals(by: Grouping, since: string | null): readonly GroupTotals[];
  close(): void;
}

/** Makes the table in memory. */
export function openRunIndex(stateDir: string): RunIndex {
  const db = new Database(":memory:");
  db.run(schema);
  db.transaction(() => {
    for (const entry of entriesOf(stateDir)) if (entry.isDirectory()) addFolder(db, stateDir, entry.name);
  })();
  return {
    runs: (limit) =>
      db
        .query<RunSummary & { folder: string; undone: number }, [number]>("select * from runs order by id desc limit ?")
        .all(limit)
        .map((row) => ({ ...row, undone: row.undone === 1 })),
    totals: (by, since) => readTotals(db, by, since),
    close: () => db.close(),
  };
}

function readTotals(db: Database, by: Grouping, since: string | null): readonly GroupTotals[] {
  const order = by === "day" || by === "folder" ? "key" : "runs desc, key";
  return db
    .query<GroupTotals, [string]>(
      `select ${groupings[by]} as key, ${sums} from runs where status is not null and at >= ?
        group by 1 order by ${order}`,
    )
    .all(since ?? "");
}

/** Adds the runs of one project's state folder: by their receipts, and by notes where these were deleted. */
function addFolder(db: Database, stateDir: string, folder: string): void {
  const state = join(stateDir, folder);
  const receipts = openReceipts(join(state, "runs"));
  const values = columns.map(() => "?").join(", ");
  const insert = db.query(`insert or ignore into runs (${columns.join(", ")}) values (${values})`);
  const kept = receipts.ids().map((id) => ({ id, ...receipts.ends(id) }));
  for (const { id, started, finished } of [...kept, ...readEnded(state)]) {
    const row = { ...summarizeRun(id, started, finished), folder };
    insert.run(...columns.map((name): SQLQueryBindings => row[name]));
  }
  const mark = db.query<unknown, [number, string, string]>("update runs set undone = ? where folder = ? and id = ?");
  for (const [id, isUndone] of readUndone(state)) mark.run(isUndone ? 1 : 0, folder, id);
}
