/** What a team shares: rows of runs, and sessions that go on at another machine, line by line; both go through the outbox. */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { digest } from "../../core/digest.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import { isFields, type Json } from "../../core/model.ts";
import { columnNames, type RunSummary, readTeamRun, type TeamRun } from "../../core/run-summary.ts";
import { readSession } from "../../core/session/session.ts";
import { openLines } from "../../store/safe-file.ts";
import { entryAt } from "../../system/lookups.ts";
import type { Letter, Outbox } from "./outbox.ts";
import { storeJson, type TeamStore } from "./team-store.ts";

const listed = ["key", "host", ...columnNames].map((name) => `"${name}"`).join(", ");

const batchSize = 200;

/** The key of a run in the team, since two machines may create the same id in one millisecond. */
export const keyOf = (host: string, root: string, id: string): string => digest(`${host}\0${root}\0${id}`).slice(0, 32);

/** Queues an ended run. `reserved`: its calls were counted already; else they count now. Throws a system error. */
export function mailRun(outbox: Outbox, host: string, run: RunSummary, reserved = false): void {
  const key = keyOf(host, run.root, run.id);
  outbox.put("run", key, { ...run, key, host, reserved });
}

export function mailUndone(outbox: Outbox, host: string, run: Pick<RunSummary, "root" | "id">, undone: boolean) {
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
async function sendBatch(store: TeamStore, outbox: Outbox, statement: string, letters: readonly Letter[]) {
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

const idShape = /^\d{8}-\d{6}-[0-9a-f]{8}$/;
const maxBytes = 64 * 1024 * 1024;
/** Lines in one statement; one line holds a message, or the result of a call. */
const linesAtOnce = 20;

/** The name of the folder identifies a project across machines, as paths differ. */
const projectOf = (root: string): string => basename(root);

/** Queues a session to be sent, as long as it is at that time. Throws a system error. */
export function mailSession(outbox: Outbox, host: string, { folder, id, root }: SessionPlace): void {
  outbox.put("session", digest(id).slice(0, 32), { folder, id, project: projectOf(root), host });
}

export interface SessionPlace {
  readonly folder: string;
  readonly id: string;
  readonly root: string;
}

function linesOf(folder: string, id: string): readonly string[] {
  const file = join(folder, `${id}.jsonl`);
  const stat = entryAt(file);
  if (stat === undefined || !stat.isFile() || stat.size > maxBytes) return [];
  return readFileSync(file, "utf8").split("\n").slice(0, -1);
}

/** How many lines the team has, and whether the session has forked: the last line that both should have differs. */
async function compare(store: TeamStore, id: string, own: readonly string[]) {
  const [row] = await store.query<{ n: number; last: string | null }>(
    `with known as (select count(*)::int as n from pai.session_lines where who = session_user and id = $1)
      select known.n, (select line from pai.session_lines l
        where l.who = session_user and l.id = $1 and l.n = least(known.n, $2::int)) as last from known`,
    [id, own.length],
  );
  const stored = row?.n ?? 0;
  const common = Math.min(stored, own.length);
  return { stored, isForked: common > 0 && row?.last !== own[common - 1] };
}

interface SessionLetter extends Omit<SessionPlace, "root"> {
  readonly project: string;
  readonly host: string;
}

async function pushSession(store: TeamStore, { folder, id, project, host }: SessionLetter): Promise<void> {
  const lines = linesOf(folder, id);
  if (lines.length === 0) return;
  const { stored, isForked } = await compare(store, id, lines);
  if (isForked || stored > lines.length) return;
  for (let at = stored; at < lines.length; at += linesAtOnce) {
    const batch = lines.slice(at, at + linesAtOnce);
    await store.query(
      `insert into pai.session_lines (id, n, line)
        select $1, $2::int + place::int, line from jsonb_array_elements_text($3::text::jsonb) with ordinality as t(line, place)
        on conflict do nothing`,
      [id, at, JSON.stringify(batch.map((line) => line.toWellFormed().replaceAll("\0", "")))],
    );
  }
  const { turns } = readSession(id, lines.join("\n")).session;
  const preview = [...(turns[0]?.request ?? "")].slice(0, 80).join("").replaceAll("\0", "");
  await store.query(
    `insert into pai.sessions as s (id, project, host, turns, preview) values ($1, $2, $3, $4::int, $5)
      on conflict (who, id) do update set project = excluded.project, host = excluded.host, turns = excluded.turns,
        preview = excluded.preview, changed = now()`,
    [id, project, host, turns.length, preview.toWellFormed()],
  );
}

const isLetter = (json: unknown): json is SessionLetter =>
  isFields(json as never) &&
  ["folder", "id", "project", "host"].every((name) => typeof (json as Record<string, unknown>)[name] === "string") &&
  idShape.test((json as SessionLetter).id);

export async function pushSessions(store: TeamStore, outbox: Outbox): Promise<void> {
  for (const letter of outbox.list("session", 100)) {
    if (isLetter(letter.json)) await pushSession(store, letter.json);
    outbox.remove([letter]);
  }
}

/** The user's sessions of this project, or those whose id begins with `wanted`; newest first. */
export async function listTeamSessions(
  store: TeamStore,
  { root, wanted }: { readonly root: string; readonly wanted: string | null },
) {
  type Row = { id: string; host: string; project: string; changed: number; turns: number; preview: string };
  const rows = await store.query<Row>(
    `select id, host, project, turns, preview, extract(epoch from changed)::float8 * 1000 as changed from pai.sessions
      where who = session_user and case when $1::text is null then project = $2 else left(id, length($1)) = $1 end
      order by sessions.changed desc limit 100`,
    [wanted, projectOf(root)],
  );
  return rows.filter(({ id }) => idShape.test(id));
}

/**
 * Adds the team's new lines to a session's file. `forked`: the session was continued here and elsewhere, so the file
 * stays unchanged. Throws usage for an ambiguous id, config_invalid for a session over 64 MiB.
 */
export async function fetchSession(
  store: TeamStore,
  folder: string,
  asked: { readonly root: string; readonly wanted: string | null },
): Promise<{ readonly id: string; readonly host: string; readonly how: "fetched" | "known" | "forked" } | null> {
  const [found, second] = await listTeamSessions(store, asked);
  if (found === undefined) return null;
  const { id, host } = found;
  if (asked.wanted !== null && second !== undefined)
    throw new PaiError("usage", `${asked.wanted} names several sessions: ${id}, ${second.id} …`);
  const own = linesOf(folder, id);
  const { stored, isForked } = await compare(store, id, own);
  if (isForked) return { id, host, how: "forked" };
  if (stored <= own.length) return { id, host, how: "known" };
  const [size] = await store.query<{ bytes: number }>(
    "select sum(octet_length(line))::float8 as bytes from pai.session_lines where who = session_user and id = $1",
    [id],
  );
  if ((size?.bytes ?? 0) > maxBytes) throw new PaiError("config_invalid", `session ${id} is larger than 64 MiB`);
  const rows = await store.query<{ line: string }>(
    "select line from pai.session_lines where who = session_user and id = $1 and n > $2::int order by n",
    [id, own.length],
  );
  const text = rows.map(({ line }) => `${line.replaceAll(/[\r\n]/g, " ")}\n`).join("");
  const adding = openLines(join(folder, `${id}.jsonl`), false, (thrown) => {
    throw thrown;
  });
  adding.write(text);
  adding.close();
  return { id, host, how: "fetched" };
}
