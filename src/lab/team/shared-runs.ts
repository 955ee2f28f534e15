/** The run index that a team shares: rows are sent through the outbox, sums and lists are read back. */
import { digest } from "../../core/digest.ts";
import { toPaiError } from "../../core/error.ts";
import type { Json } from "../../core/model.ts";
import {
  columnNames,
  type GroupTotals,
  type RunSummary,
  readTeamRun,
  readTotals,
  type TeamRun,
} from "../../core/run-summary.ts";
import type { Letter, Outbox } from "./outbox.ts";
import { pushSessions } from "./shared-sessions.ts";
import { storeJson, type TeamStore } from "./team-store.ts";

/** Ways to group runs: an expression on `pai.runs` for each. */
const groupings = {
  day: "left(at, 10)",
  model: "model",
  mode: "mode",
  folder: "root",
  user: "who",
  all: "'all'",
} as const;
export type TeamGrouping = keyof typeof groupings;

const columns = ["key", "host", ...columnNames];
const listed = columns.map((name) => `"${name}"`).join(", ");

/** Number of letters in one statement. */
const batchSize = 200;

/** The key of a run in the team, since two machines may create the same id in one millisecond. */
export const keyOf = (host: string, root: string, id: string): string => digest(`${host}\0${root}\0${id}`).slice(0, 32);

/**
 * Queues an ended run to be sent. `reserved`: its calls have been counted already; otherwise they count for the day
 * now. Throws a system error.
 */
export function mailRun(outbox: Outbox, host: string, run: RunSummary, reserved = false): void {
  const key = keyOf(host, run.root, run.id);
  outbox.put("run", key, { ...run, key, host, reserved });
}

/** Queues an undo or redo to be sent. */
export function mailUndone(
  outbox: Outbox,
  host: string,
  run: { readonly root: string; readonly id: string },
  undone: boolean,
) {
  const key = keyOf(host, run.root, run.id);
  outbox.put("undone", key, { key, undone });
}

const insert = `insert into pai.runs (${listed}, reserved)
  select ${listed}, coalesce(reserved, false) from jsonb_populate_recordset(null::pai.runs, $1::text::jsonb)
  on conflict (key) do nothing`;
const mark = `update pai.runs set undone = new.undone
  from jsonb_to_recordset($1::text::jsonb) as new(key text, undone boolean) where runs.key = new.key`;

const settle = `select pai.settle(claim, day, calls, tokens, cost, final) from jsonb_to_recordset($1::text::jsonb)
  as letters(claim uuid, day date, calls float8, tokens float8, cost float8, final boolean)`;

const statements = [
  ["run", insert],
  ["undone", mark],
  ["spend", settle],
  ["spent", settle],
] as const;

/**
 * Sends letters with one statement; if the database refuses it, sends them one by one and puts the refused ones aside.
 */
async function sendBatch(
  store: TeamStore,
  outbox: Outbox,
  statement: string,
  letters: readonly Letter[],
): Promise<void> {
  const rows: readonly Json[] = letters.map(({ json }) => json);
  try {
    await store.query(statement, [storeJson(rows)]);
    outbox.remove(letters);
  } catch (thrown) {
    if (toPaiError(thrown).code !== "failed") throw thrown;
    const [only, ...others] = letters;
    if (others.length > 0) for (const letter of letters) await sendBatch(store, outbox, statement, [letter]);
    else if (only !== undefined) outbox.putAside(only);
  }
}

/**
 * Sends all waiting letters; one that is sent twice counts once. Waits `withinMs` while another process sends. Throws
 * like `query`; the rest stays queued.
 */
export async function catchUp(store: TeamStore, outbox: Outbox, withinMs = 10_000): Promise<void> {
  if (outbox.waiting() === 0) return;
  await outbox.alone(withinMs, async () => {
    for (const [kind, statement] of statements) {
      for (let letters = outbox.list(kind, batchSize); letters.length > 0; letters = outbox.list(kind, batchSize))
        await sendBatch(store, outbox, statement, letters);
    }
    await pushSessions(store, outbox);
  });
}

/** The team's runs, newest first; `limit` null: all of them. */
export async function readTeamRuns(store: TeamStore, limit: number | null): Promise<readonly TeamRun[]> {
  const rows = await store.query(`select who, undone, ${listed} from pai.runs order by id desc, key limit $1::int`, [
    limit,
  ]);
  return rows.map(readTeamRun);
}

const sums =
  `count(*) as runs, count(*) filter (where code = 0) as solved, count(*) filter (where status = 'verified') as verified,
  sum(calls) as calls, count(*) filter (where "atMost" = 0 or calls <= "atMost") as kept, sum(input + output) as tokens, sum(cached) as cached,
  coalesce(sum(cost), 0) as cost, count(*) filter (where cost is null) as unpriced, coalesce(sum(ms), 0) as ms,
  sum(refused) as refused, sum(amended) as amended, count(*) filter (where files > 0) as changed,
  count(*) filter (where undone) as undone`.replace(/(count\(\*\)(?: filter \([^)]*\))?) as/g, "($1)::float8 as");

/**
 * Sums of the team's ended runs, since a time (ISO 8601) or all; days and folders sorted by name, others by number of
 * runs.
 */
export async function readTeamTotals(
  store: TeamStore,
  by: TeamGrouping,
  since: string | null,
): Promise<readonly GroupTotals[]> {
  const order = by === "day" || by === "folder" ? "key" : "runs desc, key";
  const rows = await store.query(
    `select ${groupings[by]} as key, ${sums} from pai.runs where status is not null and at >= $1
      group by 1 order by ${order}`,
    [since ?? ""],
  );
  return rows.map(readTotals);
}
