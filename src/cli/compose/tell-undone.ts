/** Reports an undo or redo to the statistics, here and in the team's store. */

import { noteUndone } from "../../store/run-notes.ts";
import { openLab } from "../lab.ts";
import { openLog } from "../open-log.ts";
import type { Base } from "./base.ts";

/** Workspace of the run; null state folder: nothing is kept of it. */
interface Place {
  readonly root: string;
  readonly stateFolder: string | null;
}

/** An unreachable store only causes a notice. */
export async function tellUndone(base: Base, { root, stateFolder }: Place, id: string, kind: "undo" | "redo") {
  if (stateFolder === null) return;
  noteUndone(stateFolder, id, kind);
  if (base.settings.storeUrl === null) return;
  const { shareUndone } = await openLab();
  const notice = await shareUndone(base, { root, id }, kind === "undo");
  if (notice !== null) openLog(base.context).notify(notice);
}
