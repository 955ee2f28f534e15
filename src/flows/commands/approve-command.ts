/** Ties the approval of a command to the content of the files that it runs. */
import { approvalWording, sandboxWording } from "../../core/approval-wording.ts";
import { sameBlob } from "../../core/change.ts";
import { filesOfCommand } from "../../core/command/command-files.ts";
import { grantsRun } from "../../core/command/run-patterns.ts";
import { explainWall } from "../../core/command/sandbox.ts";
import type { RelPath } from "../../core/path.ts";
import type { CommandOptions, CommandResult } from "../../core/ports.ts";
import type { Run } from "../run.ts";
import { learnNamed, parsePaths, readFiles } from "./named-files.ts";

/** Whether a command of the model may run at all. */
export const mayRunCommand = (
  { changing, interactive, shell }: Pick<Run, "changing" | "interactive" | "shell">,
  command: string,
): boolean => !changing.dryRun && (interactive || grantsRun(shell.allowRun, command));

/** Notes the current content of the files that a plan's commands would run, before anybody is asked about the plan. */
export async function bindCommands(run: Run, commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    for (const path of (await readFiles(run, run.overlay, filesOfCommand(command))).keys()) run.reading.bases.add(path);
  }
}

/** Throws conflict when somebody else has changed a file that a command of the plan runs. */
export async function requireBound(run: Run, command: string): Promise<void> {
  const found = await readFiles(run, run.overlay, filesOfCommand(command));
  await run.overlay.refuseConflict([...parsePaths(run, filesOfCommand(command)), ...found.keys()]);
}

/**
 * Asks about a command, again whenever a file that it runs changed while the person was asked; `ask` gets a note that
 * says so, "" at first. True: the person approved the files as they are now.
 */
export async function askBound(run: Run, command: string, ask: (note: string) => Promise<boolean>): Promise<boolean> {
  const { workspace } = run;
  let changed: readonly RelPath[] = [];
  for (;;) {
    const before = await readFiles(run, workspace, filesOfCommand(command));
    if (!(await ask(approvalWording.changedMeanwhile(changed)))) return false;
    const after = await readFiles(run, workspace, filesOfCommand(command));
    const paths = new Set([...before.keys(), ...after.keys()]);
    changed = [...paths].filter((path) => !sameBlob(before.get(path) ?? null, after.get(path) ?? null));
    if (changed.length === 0) return true;
  }
}

/** The sandbox of commands, in the words for a question. */
export const describeSandbox = async ({ workspace }: Run): Promise<string> =>
  sandboxWording(workspace.root, await workspace.sandbox());

/** Records the sandbox level, and says once in a run how its commands are sandboxed. */
async function tellSandbox(run: Run, { held: { level } }: CommandResult): Promise<void> {
  run.shell.sandbox = level ?? "off";
  if (run.shell.sandboxTold) return;
  run.shell.sandboxTold = true;
  const { text, why, choice } = await run.workspace.sandbox();
  const isLess = why !== null && choice !== "off";
  run.emit({
    type: "notice",
    level: isLess ? "warning" : "info",
    code: "sandbox",
    text: `sandbox ${text}${isLess ? ` (${why})` : ""}`,
  });
}

/**
 * Runs a command and takes note of its changes. Notices name changes that cannot be undone. Throws the signal's reason
 * when the signal ended the command.
 */
export async function runInWorkspace(
  run: Run,
  command: string,
  {
    signal = run.signal,
    name = command,
    ...options
  }: Omit<CommandOptions, "signal"> & {
    readonly signal?: AbortSignal | undefined;
    /** What notices call it, if not by its text. */
    readonly name?: string;
  },
): Promise<CommandResult> {
  // Before it runs: the receipt keeps its output as it is hidden then.
  await learnNamed(run, command);
  const transaction = await run.transaction();
  const result = await transaction.run(command, { ...options, signal });
  const { effects, held } = result;
  if (!held.isCopy) {
    run.overlay.learn(effects.changes);
    run.overlay.release(effects.carried.map(({ path }) => path));
  }
  if (options.by === "user") for (const change of effects.changes) run.checking.byUser.add(change);
  if (signal.aborted && held.isCopy) await transaction.drop(effects, null);
  signal.throwIfAborted();
  await tellSandbox(run, result);
  for (const note of effects.notes) {
    run.emit({ type: "notice", level: "info", code: "command_left", text: `${name}: ${note}` });
  }
  const wall = explainWall(held.level, result.exit, result.output);
  if (wall !== null) run.emit({ type: "notice", level: "info", code: "sandbox_wall", text: `${name}: ${wall}` });
  return { ...result, output: run.veil.hideOutput(result.output) };
}
