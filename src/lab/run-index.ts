/** A table of all runs in all folders, built from their receipts, for `pai stats` and `pai history --all`. */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { columnNames, type GroupTotals, type RunSummary, summarizeRun } from "../core/run-summary.ts";
import { openReceipts } from "../store/receipts.ts";
import { readEnded, readUndone } from "../store/run-notes.ts";
import { useWal } from "../store/wal.ts";
import { entryAt } from "../system/entry-at.ts";

/** A new layout gets a new file name, so that an older pai keeps its own file. */
const layout = 2;

const columns = ["folder", ...columnNames, "bytes"] as const;

const schema = `
  create table if not exists runs (${columns.join(", ")}, undone integer not null default 0,
    primary key (folder, id)) without rowid;
  create index if not exists runs_at on runs (at);
  create index if not exists runs_id on runs (id);
  create table if not exists folders (folder text primary key, receipts real not null, undone real not null,
    ended real not null) without rowid;
`;

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

/** A folder changed less than this many milliseconds ago is read again, as two changes within a tick leave one time. */
const racyMs = 2000;

/**
 * Opens the table and updates it from the receipts. A missing or damaged one is rebuilt; if it cannot be written, it is
 * kept in memory. Never throws because of the file.
 */
export function openRunIndex(stateDir: string, now: Date): RunIndex {
  const file = join(stateDir, `run-index-${layout}.sqlite`);
  try {
    return ready(openFile(file), stateDir, now);
  } catch {
    try {
      for (const part of ["", "-wal", "-shm"]) rmSync(file + part, { force: true });
      return ready(openFile(file), stateDir, now);
    } catch {
      return ready(new Database(":memory:"), stateDir, now);
    }
  }
}

function openFile(file: string): Database {
  const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  const fd = openSync(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    if (!fstatSync(fd).isFile()) throw new Error("not a file");
  } finally {
    closeSync(fd);
  }
  const db = new Database(file);
  useWal(db, 3000);
  db.run("pragma synchronous = off");
  return db;
}

function ready(db: Database, stateDir: string, now: Date): RunIndex {
  try {
    db.run(schema);
    refresh(db, stateDir, now);
  } catch (error) {
    db.close();
    throw error;
  }
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

/**
 * Modification time of a path in milliseconds; 0: it is missing, or changed so recently that a further change could
 * leave the same time.
 */
function stampOf(path: string, now: Date): number {
  const stat = entryAt(path);
  if (stat === undefined || now.getTime() - stat.mtimeMs < racyMs) return 0;
  return stat.mtimeMs;
}

interface Stamps {
  readonly receipts: number;
  readonly undone: number;
  readonly ended: number;
}

function refresh(db: Database, stateDir: string, now: Date): void {
  const known = new Map(
    db
      .query<Stamps & { folder: string }, []>("select * from folders")
      .all()
      .map((row) => [row.folder, row] as const),
  );
  const entries = existsSync(stateDir) ? readdirSync(stateDir, { withFileTypes: true }) : [];
  db.transaction(() => {
    for (const entry of entries)
      if (entry.isDirectory()) refreshFolder({ db, stateDir, folder: entry.name }, known.get(entry.name), now);
  }).immediate();
}

/** One project's state folder. */
interface Project {
  readonly db: Database;
  readonly stateDir: string;
  readonly folder: string;
}

/** Reads what has changed in one project's state folder. */
function refreshFolder(project: Project, before: Stamps | undefined, now: Date): void {
  const { db, stateDir, folder } = project;
  const at = (name: string) => stampOf(join(stateDir, folder, name), now);
  const stamps: Stamps = { receipts: at("runs"), undone: at("undone.jsonl"), ended: at("ended.jsonl") };
  const isChanged = (name: keyof Stamps) => stamps[name] === 0 || stamps[name] !== before?.[name];
  const added = isChanged("ended") && addEnded(project);
  addReceipts(project, isChanged("receipts") ? null : unfinished(project));
  if (added || isChanged("undone")) markUndone(project);
  if (stamps.receipts === before?.receipts && stamps.undone === before.undone && stamps.ended === before.ended) return;
  const mark = db.query("insert or replace into folders values (?, ?, ?, ?)");
  mark.run(folder, stamps.receipts, stamps.undone, stamps.ended);
}

const unfinished = ({ db, folder }: Project): readonly string[] =>
  db
    .query<{ id: string }, [string]>("select id from runs where folder = ? and status is null")
    .all(folder)
    .map(({ id }) => id);

/** Adds rows, also in the place of existing ones of the same runs. */
function addRows({ db, folder }: Project, rows: Iterable<RunSummary & { bytes: number }>): void {
  const values = columns.map(() => "?").join(", ");
  const insert = db.query(`insert or replace into runs (${columns.join(", ")}) values (${values})`);
  for (const summary of rows) {
    const row = { ...summary, folder };
    insert.run(...columns.map((name): SQLQueryBindings => row[name]));
  }
}

/** Bytes that were read of each run's receipt; -1: the run has ended, and its row stays. */
function readSeen({ db, folder }: Project): ReadonlyMap<string, number> {
  const rows = db
    .query<{ id: string; bytes: number }, [number, string]>(
      "select id, iif(status is null, bytes, ?) as bytes from runs where folder = ?",
    )
    .all(ended, folder);
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
}

const ended = -1;

/** Reads receipts that are new, or unfinished and grown since; `only`: just these ids. */
function addReceipts(project: Project, only: readonly string[] | null): void {
  if (only?.length === 0) return;
  const runs = join(project.stateDir, project.folder, "runs");
  const receipts = openReceipts(runs);
  const seen = readSeen(project);
  const rows = function* () {
    for (const id of only ?? receipts.ids()) {
      const known = seen.get(id);
      if (known === ended) continue;
      const bytes = entryAt(join(runs, `${id}.jsonl`))?.size ?? 0;
      if (bytes === known) continue;
      const { started, finished } = receipts.ends(id);
      yield { ...summarizeRun(id, started, finished), bytes };
    }
  };
  addRows(project, rows());
}

/** Adds rows for receipts that have been deleted, also of runs that were under way when they were last seen. */
function addEnded(project: Project): boolean {
  const seen = readSeen(project);
  const fresh = [...readEnded(join(project.stateDir, project.folder))].filter(({ id }) => seen.get(id) !== ended);
  addRows(
    project,
    fresh.map(({ id, started, finished }) => ({ ...summarizeRun(id, started, finished), bytes: 0 })),
  );
  return fresh.length > 0;
}

function markUndone({ db, stateDir, folder }: Project): void {
  const set = db.query<unknown, [number, string, string]>("update runs set undone = ? where folder = ? and id = ?");
  for (const [id, isUndone] of readUndone(join(stateDir, folder))) set.run(isUndone ? 1 : 0, folder, id);
}
