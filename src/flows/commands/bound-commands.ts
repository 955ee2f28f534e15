/** A yes to a command holds for the files that it runs as they were then. */

import { approvalWording, sandboxWording } from "../../core/approval-wording.ts";
import { type Blob, sameBlob } from "../../core/change.ts";
import { filesOfCommand } from "../../core/command/command-files.ts";
import { orNull, PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { Rights } from "../../core/plan/scope.ts";
import type { View } from "../../core/ports.ts";
import { breathe } from "../../core/steps.ts";
import type { Run } from "../run.ts";

/** Notes the current content of the files that a plan's commands would run, before anybody is asked about the plan. */
export async function bindCommands(run: Run, commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    for (const [path, file] of await readFiles(run, run.overlay, filesOfCommand(command))) {
      run.reading.bases.add(path);
      run.shell.bound.set(path, file);
    }
  }
}

/** The first file that a command uses and that somebody else has changed since it was approved; null: there is none. */
export async function changedFileOf(run: Run, command: string): Promise<RelPath | null> {
  const found = await readFiles(run, run.overlay, filesOfCommand(command));
  const isBound = (path: RelPath, bound = run.shell.bound.get(path)) =>
    bound !== undefined && sameBlob(bound, found.get(path) ?? null);
  for (const path of [...parsePaths(run, filesOfCommand(command)), ...found.keys()])
    if (!isBound(path) && (await run.overlay.isChanged(path))) return path;
  return null;
}

/** Throws conflict when somebody else has changed a file that a command of the plan uses since it was approved. */
export async function requireBound(run: Run, command: string): Promise<void> {
  const path = await changedFileOf(run, command);
  if (path === null) return;
  const text = `${path} was changed by someone else since a command that uses it was planned, so this was not run`;
  throw new PaiError("conflict", text, { target: command, hint: "run the task again on the new content" });
}

/** A command, and how the plan spells it. */
interface Commanded {
  readonly command: string;
  readonly promised: string;
}

/** Asks a person anew about a command whose files somebody else has changed since it was approved. Throws declined after a no. */
export async function askAnew(run: Run, rights: Rights, { command, promised }: Commanded): Promise<void> {
  const claim = { kind: "command", command: promised } as const;
  const refused = rights.refusalOf(claim);
  if (refused !== null) throw refused;
  const path = await changedFileOf(run, command);
  if (path === null) return;
  const text = approvalWording.command(command, await describeSandbox(run));
  const ask = async (note: string) => {
    const why = note === "" ? approvalWording.changedMeanwhile([path]) : note;
    return (await run.decide({ kind: "command", text: why + text })).accept;
  };
  if (!(await askBound(run, command, ask))) {
    const declined = new PaiError("declined", `the user declined to run ${promised}`);
    rights.refuse(claim, declined);
    throw declined;
  }
  await bindCommands(run, [command]);
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

/** A name in a command, resolved as a shell in the root would: relative to the root, without `..`. */
export function relativeTo(root: string, name: string): string {
  const parts: string[] = [];
  for (const part of name.replace(`${root}/`, "").split("/")) {
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/");
}

/** The names that are paths of the workspace and may be read. */
export const parsePaths = ({ workspace }: Run, names: readonly string[]): readonly RelPath[] =>
  names.flatMap((name) => orNull(() => workspace.path(relativeTo(workspace.root, name), "read")) ?? []);

const targetOf = (path: RelPath, blob: Blob): readonly string[] => {
  if (blob.kind !== "link") return [];
  return [blob.target.startsWith("/") ? blob.target : `${path}/../${blob.target}`];
};

/** The files of these names, and the links that lead to them. `limit`: the bytes of the next file at most. */
export async function* eachFile(run: Run, view: View, names: readonly string[], limit?: () => number) {
  const paths = new Set(parsePaths(run, names));
  for (const path of paths) {
    await breathe(run.signal);
    const blob = await view.read(path, limit?.()).catch(() => null);
    if (blob === null || blob.kind === "folder") continue;
    yield { path, blob };
    for (const next of parsePaths(run, targetOf(path, blob))) paths.add(next);
  }
}

/** The files of these names, and the links that lead to them. */
async function readFiles(run: Run, view: View, names: readonly string[]): Promise<ReadonlyMap<RelPath, Blob>> {
  const files = new Map<RelPath, Blob>();
  for await (const { path, blob } of eachFile(run, view, names)) files.set(path, blob);
  return files;
}
