/** Applies a batch under the journal's protection; if anything fails, all of it is undone. */
import { PaiError, toPaiError } from "../../core/error.ts";
import { finish, type Steps } from "../../core/steps.ts";
import type { Root } from "../confine.ts";
import { type Batch, chooseBulk, performSteps } from "../disk-batch.ts";
import { showName } from "../parse-path.ts";
import type { Disk } from "../system/disk.ts";
import type { Journal } from "./journal.ts";
import { putBack } from "./put-back.ts";
import { takeBack } from "./take-back.ts";

/** Must be called under the lock. `journal` null: only a living process can undo the batch. */
export const commitBatch = (root: Root, disk: Disk, journal: Journal | null, batch: Batch): void =>
  finish(commitSteps(root, disk, journal, batch, chooseBulk(root, disk, batch)));

/** Like `commitBatch`, in steps; `bulk` as in `performSteps`. */
export function* commitSteps(
  root: Root,
  disk: Disk,
  journal: Journal | null,
  batch: Batch,
  bulk: Disk | null = null,
): Steps<void> {
  journal?.intend(batch, "plan");
  try {
    yield* performSteps(root, disk, batch, bulk);
    journal?.applied();
  } catch (thrown) {
    const failure = toPaiError(thrown);
    const copies: string[] = [];
    try {
      copies.push(...putBack(root, disk, batch.changes, batch.temps));
      takeBack(root, disk, journal, batch);
    } catch (second) {
      throw new PaiError(failure.code, `${failure.message}; taking it back failed too: ${toPaiError(second).message}`, {
        hint: journal ? "the next start of pai here takes it back" : "look at the files by hand",
        cause: thrown,
      });
    }
    if (copies.length === 0) throw failure;
    throw new PaiError(failure.code, failure.message, {
      hint: `what was saved meanwhile is kept as ${copies.map(showName).join(", ")}`,
      cause: thrown,
    });
  }
}
