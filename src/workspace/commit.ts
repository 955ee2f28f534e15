/** Makes a batch true or makes it never have been: journalled, performed, and taken back when anything fails. */
import { PaiError, toPaiError } from "../core/error.ts";
import { type Batch, performBatch, sweepTemps } from "./batch.ts";
import type { Root } from "./confine.ts";
import type { Disk } from "./disk.ts";
import type { Journal } from "./journal.ts";
import { takeBack } from "./take-back.ts";

/** Must be called under the lock. `journal` null: nothing is kept, and only a living process can take back. */
export function commitBatch(root: Root, disk: Disk, journal: Journal | null, batch: Batch): void {
  journal?.intend(batch, "plan");
  try {
    performBatch(root, disk, batch);
    journal?.applied();
  } catch (thrown) {
    const failure = toPaiError(thrown);
    try {
      sweepTemps(root, disk, batch.temps);
      takeBack(root, disk, batch.changes, batch.owners, (back) => journal?.promiseTemps(back.temps));
    } catch (second) {
      throw new PaiError(failure.code, `${failure.message}; taking it back failed too: ${toPaiError(second).message}`, {
        hint: journal ? "The next start of pai here takes it back" : "Look at the files by hand",
        cause: thrown,
      });
    }
    throw failure;
  }
}
