/** What one machine spends each day, in a small database, so that parallel processes never overspend together. */
import { Database } from "bun:sqlite";
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import {
  leftFor,
  maxSpent,
  outputWithin,
  type SpendCaps,
  type Spent,
  type Want,
} from "../../core/spending/allowance.ts";

/** Which calls a day's total counts: all of this machine, or those made while the team's database was unreachable. */
export type DayScope = "machine" | "away";

export type DayLedger = ReturnType<typeof openDayLedger>;

const schema = `
  create table if not exists spent (day text not null, scope text not null, calls real not null, tokens real not null,
    cost real not null, primary key (day, scope)) without rowid;
  create table if not exists claims (id text primary key, day text not null, scope text not null, calls real not null,
    tokens real not null, cost real not null) without rowid;
`;

const daysKept = 62;

function open(file: string): Database {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600));
  const db = new Database(file);
  db.run("pragma busy_timeout = 10000");
  db.run(schema);
  return db;
}

export function openDayLedger(file: string) {
  let opened: Database | null = null;
  const add = (db: Database, day: string, scope: string, { calls, tokens, cost }: Spent) =>
    db
      .query(
        `insert into spent values (?, ?, ?, ?, ?) on conflict do update
          set calls = calls + excluded.calls, tokens = tokens + excluded.tokens, cost = cost + excluded.cost`,
      )
      .run(day, scope, calls, tokens, cost);
  const within = <T>(work: (db: Database) => T): T => {
    opened ??= open(file);
    const db = opened;
    return db.transaction(() => work(db)).immediate();
  };
  return {
    /** Reserves a call for this day (UTC, 2026-11-22). Throws system errors and those of SQLite. */
    reserve: (claim: string, day: string, scope: DayScope, caps: SpendCaps, want: Want) =>
      within((db) => {
        const spent = db
          .query<Spent, [string, string]>("select calls, tokens, cost from spent where day = ? and scope = ?")
          .get(day, scope) ?? { calls: 0, tokens: 0, cost: 0 };
        const left = leftFor(want, caps, spent);
        if (typeof left === "string") return { what: left, used: spent[left] };
        const share = maxSpent(want, outputWithin(want, left));
        db.query("insert into claims values (?, ?, ?, ?, ?, ?)").run(claim, day, scope, 1, share.tokens, share.cost);
        add(db, day, scope, share);
        db.query("delete from claims where day < date(?, ?)").run(day, `-${daysKept} days`);
        return share;
      }),
    /** Replaces a reservation by what was spent; ignores a claim that is settled or unknown. */
    settle: (claim: string, spent: Spent) =>
      within((db) => {
        const known = db
          .query<Spent & { day: string; scope: string }, [string]>("delete from claims where id = ? returning *")
          .get(claim);
        if (known === null) return;
        const { day, scope, calls, tokens, cost } = known;
        const more = { calls: spent.calls - calls, tokens: spent.tokens - tokens, cost: spent.cost - cost };
        add(db, day, scope, more);
      }),
    close() {
      opened?.close();
      opened = null;
    },
  };
}
