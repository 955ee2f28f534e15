/** Lets several processes write one SQLite database in turn. */
import type { Database } from "bun:sqlite";

const pauseMs = 5;

/** Writers wait for each other for `busyMs`. Throws errors of SQLite. */
export function useWal(db: Database, busyMs: number): void {
  db.run(`pragma busy_timeout = ${busyMs}`);
  const until = performance.now() + busyMs;
  for (;;) {
    try {
      return void db.run("pragma journal_mode = wal");
    } catch (thrown) {
      // While another process changes the mode of a new file, SQLite fails at once, whatever its timeout is.
      if ((thrown as { readonly code?: string }).code !== "SQLITE_BUSY" || performance.now() > until) throw thrown;
      Bun.sleepSync(pauseMs);
    }
  }
}
