/** Opens the folder of a command that is not a task, and tells what there is to know of it. */
import type { Context } from "../command.ts";
import { openLog } from "../open-log.ts";
import { type Base, composeBase } from "./base.ts";
import { type ComposedWorkspace, composeWorkspace } from "./compose.ts";

export interface Here extends ComposedWorkspace {
  readonly base: Base;
}

/** Throws what reading the settings and opening the folder throw. */
export async function openHere(context: Context): Promise<Here> {
  const base = composeBase(context);
  const { notify } = openLog(context);
  for (const text of base.warnings) notify({ level: "warning", code: "settings", text });
  return { ...(await composeWorkspace(context, base, notify)), base };
}
