/** The name of an index file, and its removal together with the files that SQLite keeps beside it. */
import { rmSync } from "node:fs";

/** A new layout gets a new name, so that an older pai keeps its own file. */
export const indexName = "index-3.sqlite";

export function removeIndex(path: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
}
