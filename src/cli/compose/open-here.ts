/** Opens the folder of a command that is no task, and tells what there is to know of it. */
import { visibleLine } from "../../ui/sanitize.ts";
import type { Context } from "../command.ts";
import { type Base, composeBase } from "./base.ts";
import { type ComposedWorkspace, composeWorkspace } from "./compose.ts";

export interface Here extends ComposedWorkspace {
  readonly base: Base;
}

/** Throws what reading the settings and opening the folder throw. */
export async function openHere(context: Context): Promise<Here> {
  const base = composeBase(context);
  const opened = await composeWorkspace(context, base);
  const notices = context.flags.quiet === true ? [] : [...base.warnings, ...opened.notices];
  for (const notice of notices) context.err(`${visibleLine(notice)}\n`);
  return { ...opened, base };
}
