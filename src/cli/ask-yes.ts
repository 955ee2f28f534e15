/** Asks a person for approval outside a run. */
import { PaiError } from "../core/error.ts";
import type { Context } from "./command.ts";
import { isInteractive, openPrompter } from "./compose/view.ts";

/** Whether -y gave the approval; else a person is asked. Throws approval_needed if nobody can be; `line` gives it. */
export function isApproved(
  context: Context,
  { needs, line }: { readonly needs: string; readonly line: string },
): boolean {
  if (context.flags.yes === true) return true;
  if (!isInteractive(context)) throw new PaiError("approval_needed", needs, { hint: line });
  return false;
}

export async function askYes(context: Context, text: string, declined = "nothing was changed"): Promise<void> {
  const prompter = await openPrompter(context, context.signal)();
  if ((await prompter.ask({ kind: "changes", text })) !== "yes") throw new PaiError("declined", declined);
}
