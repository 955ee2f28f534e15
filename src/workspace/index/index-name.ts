/** The name of an index's file, and its removal together with the files that SQLite keeps beside it. */
import { rmSync } from "node:fs";

/** Another layout is another file: an older pai goes on with its own. */
export const indexName = "index-2.sqlite";

export function removeIndex(path: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
}
