/** Begins the receipt of each run of a workspace; its code loads while the model is being opened. */
import { join } from "node:path";
import type { Notice } from "../../core/ports.ts";
import { openReceipts } from "../../store/receipts.ts";
import { type Doors, type Recorder, recordRun, type Started } from "../../store/recorder.ts";

/** `stateFolder` is the workspace's own. A receipt that cannot be kept is said once; the run goes on without. */
export function keepReceipts(stateFolder: string, now: () => Date, notify: (notice: Notice) => void) {
  const receipts = openReceipts(join(stateFolder, "runs"));
  return (id: string, started: Started, doors: Omit<Doors, "now">): Recorder => {
    const page = receipts.begin(id, (text) => notify({ level: "warning", code: "receipt", text }));
    return recordRun(page, started, { ...doors, now }, () => receipts.prune(now()));
  };
}
