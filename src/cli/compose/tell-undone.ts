/** Tells the statistics, here and in the team's store, that a run was undone or brought back. */
import { noteUndone } from "../../store/run-notes.ts";
import { openLog } from "../open-log.ts";
import type { Base } from "./base.ts";

/** The workspace of the run; without a state folder nothing is kept of it. */
interface Place {
  readonly root: string;
  readonly stateFolder: string | null;
}

/** A store that cannot be reached costs only a notice. */
export async function tellUndone(base: Base, { root, stateFolder }: Place, id: string, kind: "undo" | "redo") {
  if (stateFolder === null) return;
  noteUndone(stateFolder, id, kind);
  if (base.settings.storeUrl === null) return;
  const { shareUndone } = await import("./team.ts");
  const notice = await shareUndone(base, { root, id }, kind === "undo");
  if (notice !== null) openLog(base.context).notify(notice);
}
