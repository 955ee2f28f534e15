/** The run index that a team shares: rows are sent through the outbox, sums and lists are read back. */
import { digest } from "../../core/digest.ts";
import { toPaiError } from "../../core/error.ts";
import type { Json } from "../../core/model.ts";
import { columnNames, type RunSummary, readTeamRun, type TeamRun } from "../../core/run-summary.ts";
import type { Letter, Outbox } from "./outbox.ts";
import { pushSessions } from "./shared-sessions.ts";
import { storeJson, type TeamStore } from "./team-store.ts";

const columns = ["key", "host", ...columnNames];
const listed = columns.map((name) => `"${name}"`).join(", ");

const batchSize = 200;

/** The key of a run in the team, since two machines may create the same id in one millisecond. */
export const keyOf = (host: string, root: string, id: string): string => digest(`${host}\0${root}\0${id}`).slice(0, 32);

/** Queues an ended run. `reserved`: its calls were counted already; else they count now. Throws a system error. */
export function mailRun(outbox: Outbox, host: string, run: RunSummary, reserved = false): void {
  const key = keyOf(host, run.root, run.id);
  outbox.put("run", key, { ...run, key, host, reserved });
}

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

/** Sends letters with one statement; where the database refuses it, one by one, and puts the refused ones aside. */
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

/** Sends all waiting letters, each counts once. Waits `withinMs` while another process sends. Throws like `query`. */
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

/** The team's runs, newest first: at most `limit`, since a time (ISO 8601); null: all of them. */
export async function readTeamRuns(
  store: TeamStore,
  limit: number | null,
  since: string | null = null,
): Promise<readonly TeamRun[]> {
  const rows = await store.query(
    `select who, undone, ${listed} from pai.runs where at >= $2 order by id desc, key limit $1::int`,
    [limit, since ?? ""],
  );
  return rows.map(readTeamRun);
}
