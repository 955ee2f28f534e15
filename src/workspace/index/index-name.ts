/** The name of an index file, what is damage to it, and its removal with the journal that SQLite keeps beside it. */
import { rmSync } from "node:fs";
import { PaiError } from "../../core/error.ts";

/** A new layout gets a new name, so that an older pai keeps its own file. */
export const indexName = "index-3.sqlite";

export function removeIndex(path: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
}

const codeOf = (thrown: unknown): string => (thrown instanceof Error && "code" in thrown ? String(thrown.code) : "");

/** Whether another process is using the index just now. */
export const isBusy = (thrown: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(thrown));

/** Whether a failure is of the index itself: not of the disk, of memory or of the system, and not because it is in use. */
export const isDamage = (thrown: unknown): boolean =>
  !(thrown instanceof PaiError || isBusy(thrown)) &&
  !/^(SQLITE_(FULL|IOERR|CANTOPEN|NOMEM)|E[A-Z0-9]+$)/.test(codeOf(thrown));
