/** Runs a command in the workspace as part of a run: what it changes is then the run's. */
import type { CommandOptions, CommandResult } from "../core/ports.ts";
import type { Run } from "./run.ts";

/** What of its changes cannot be taken back is told as notices. Throws the signal's reason when that ended the command. */
export async function runInWorkspace(
  run: Run,
  command: string,
  options: Omit<CommandOptions, "signal">,
): Promise<CommandResult> {
  const transaction = await run.transaction();
  const result = await transaction.run(command, { ...options, signal: run.signal });
  run.signal.throwIfAborted();
  run.overlay.learn(result.changes);
  for (const note of result.notes) {
    run.emit({ type: "notice", level: "info", code: "command_left", text: `${command}: ${note}` });
  }
  return result;
}
