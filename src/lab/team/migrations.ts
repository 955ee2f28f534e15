/** Migrations of the team's database, oldest first: each runs once, and none is ever changed. */
import runs from "./migrations/1-runs.sql" with { type: "text" };
import days from "./migrations/2-days.sql" with { type: "text" };
import keyRests from "./migrations/3-key-rests.sql" with { type: "text" };
import sessions from "./migrations/4-sessions.sql" with { type: "text" };
import evalQueue from "./migrations/5-eval-queue.sql" with { type: "text" };
import held from "./migrations/6-held.sql" with { type: "text" };

export const migrations: readonly string[] = [runs, days, keyRests, sessions, evalQueue, held];

/** Runs before the first migration. */
export const foundation = `
  create schema if not exists pai;
  create table if not exists pai.migrations (
    version integer primary key, at timestamptz not null default now(), pai text not null
  );
  grant usage on schema pai to public;
  grant select on pai.migrations to public;
`;

/** Advisory lock: machines that open a new database at the same time take turns. */
export const migrationLock = 7_061_690_001;
