/** Opens the working folder for a command that is not a task, and reports its notices. */
import type { Context } from "../command.ts";
import { openLog } from "../open-log.ts";
import { composeBase } from "./base.ts";
import { composeWorkspace } from "./compose-task.ts";

export type Here = Awaited<ReturnType<typeof openHere>>;

export async function openHere(context: Context) {
  const base = composeBase(context);
  const { notify } = openLog(context);
  for (const text of base.warnings) notify({ level: "warning", code: "settings", text });
  return { ...(await composeWorkspace(base, notify)), base };
}
