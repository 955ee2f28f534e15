/** Ids of runs and sessions for completion, from file names alone, without settings or journal. */

import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { openPlaces } from "../../store/places.ts";
import { openReceipts } from "../../store/receipts.ts";
import { sessionIds } from "../../store/sessions.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { stateFolderOf } from "../../workspace/journal/state-folder.ts";
import type { Context } from "../command.ts";
import type { IdKind } from "./id-kinds.ts";

const maxIds = 50;
const maxTask = 60;

const shorten = (task: string) => (task.length > maxTask ? `${task.slice(0, maxTask - 1).toWellFormed()}…` : task);

/** Lines of id, tab and task, newest first; for sessions only the id. Empty where nothing is kept. */
export function listIds({ cwd, env }: Pick<Context, "cwd" | "env">, kind: IdKind): readonly string[] {
  const { stateDir } = openPlaces(env);
  if (stateDir === null) return [];
  const folder = stateFolderOf(realpathSync(cwd), stateDir);
  if (kind === "sessions") return [...sessionIds(join(folder, "sessions"))].sort().reverse().slice(0, maxIds);
  const receipts = openReceipts(join(folder, "runs"));
  const isKept = (id: string) => kind === "runs" || existsSync(join(folder, "journal", id));
  return receipts
    .ids()
    .filter(isKept)
    .slice(0, maxIds)
    .map((id) => `${id}\t${shorten(visibleLine(receipts.ends(id).started?.task.text ?? ""))}`);
}
