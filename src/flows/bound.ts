/** Binds a yes to a command to the files it runs, as they were when it was asked for (S91). */
import { type Blob, sameBlob } from "../core/change.ts";
import { filesOfCommand } from "../core/command-files.ts";
import type { RelPath } from "../core/path.ts";
import type { View } from "../core/ports.ts";
import type { Run } from "./run.ts";

function pathsOf(view: View, command: string): readonly RelPath[] {
  return filesOfCommand(command).flatMap((name) => {
    try {
      return [view.path(name, "read")];
    } catch {
      return [];
    }
  });
}

/** The files of the workspace that a command may run. */
async function readFiles(view: View, command: string): Promise<ReadonlyMap<RelPath, Blob>> {
  const files = new Map<RelPath, Blob>();
  for (const path of pathsOf(view, command)) {
    const blob = await view.read(path).catch(() => null);
    if (blob?.kind === "file") files.set(path, blob);
  }
  return files;
}

/** Remembers what the commands of a plan would run, before anybody is asked about it. */
export async function bindCommands(run: Run, commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    for (const path of (await readFiles(run.overlay, command)).keys()) run.record.bases.add(path);
  }
}

/** Throws conflict when somebody else has changed what a command of the plan runs. */
export async function requireBound(run: Run, command: string): Promise<void> {
  await run.overlay.refuseConflict(pathsOf(run.overlay, command));
}

/** Asks until what the command runs is still what it was when the question was put. False: no. */
export async function askBound(
  { ports: { workspace } }: Run,
  command: string,
  ask: (note: string) => Promise<boolean>,
): Promise<boolean> {
  let note = "";
  for (;;) {
    const before = await readFiles(workspace, command);
    if (!(await ask(note))) return false;
    const after = await readFiles(workspace, command);
    const paths = new Set([...before.keys(), ...after.keys()]);
    const changed = [...paths].filter((path) => !sameBlob(before.get(path) ?? null, after.get(path) ?? null));
    if (changed.length === 0) return true;
    note = `${changed.join(", ")} was changed while you were asked\n`;
  }
}
