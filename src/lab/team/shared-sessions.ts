/** Sessions that continue on another machine: sends their files line by line, and fetches them to resume. */

import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { digest } from "../../core/digest.ts";
import { PaiError } from "../../core/error.ts";
import { isFields } from "../../core/model.ts";
import { readSession } from "../../core/session/session.ts";
import { openLines } from "../../store/safe-file.ts";
import { entryAt } from "../../system/entry-at.ts";
import type { Outbox } from "./outbox.ts";
import type { TeamStore } from "./team-store.ts";

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

interface Letter extends Omit<SessionPlace, "root"> {
  readonly project: string;
  readonly host: string;
}

async function pushSession(store: TeamStore, { folder, id, project, host }: Letter): Promise<void> {
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

const isLetter = (json: unknown): json is Letter =>
  isFields(json as never) &&
  ["folder", "id", "project", "host"].every((name) => typeof (json as Record<string, unknown>)[name] === "string") &&
  idShape.test((json as Letter).id);

export async function pushSessions(store: TeamStore, outbox: Outbox): Promise<void> {
  for (const letter of outbox.list("session", 100)) {
    if (isLetter(letter.json)) await pushSession(store, letter.json);
    outbox.remove([letter]);
  }
}

export interface TeamSession {
  readonly id: string;
  readonly host: string;
  readonly project: string;
  readonly changed: number;
  readonly turns: number;
  readonly preview: string;
}

/** The user's sessions of this project, or those whose id begins with `wanted`; newest first. */
export async function listTeamSessions(
  store: TeamStore,
  { root, wanted }: { readonly root: string; readonly wanted: string | null },
): Promise<readonly TeamSession[]> {
  const rows = await store.query<TeamSession>(
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
  const file = join(folder, `${id}.jsonl`);
  const adding = openLines(file, false, (thrown) => {
    throw thrown;
  });
  adding.write(text);
  adding.close();
  return { id, host, how: "fetched" };
}
