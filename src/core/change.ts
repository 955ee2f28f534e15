/** Changes as values: what a path was, what it will be, and the arithmetic on sets of changes. */
import type { RelPath } from "./path.ts";
import { addedLines, mergeBlobs } from "./three-way.ts";

/** The content of a path. `null` instead of a Blob means that nothing exists there. Bytes must never be mutated. */
export type Blob =
  | { readonly kind: "file"; readonly bytes: Uint8Array; readonly mode: number }
  | { readonly kind: "folder"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string };

export type FileBlob = Extract<Blob, { kind: "file" }>;

export interface Change {
  readonly path: RelPath;
  readonly before: Blob | null;
  readonly after: Blob | null;
  /** Where the content came from, when a move made this path. */
  readonly from: RelPath | null;
  /** The mode is wanted as it is, whatever the umask says. */
  readonly exactMode?: true;
}

export type ChangeOp = "create" | "modify" | "delete" | "move" | "mkdir";

/** Whether kind and content are equal, for files also the permission bits. Two folders are always equal. */
export function sameBlob(a: Blob | null, b: Blob | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === "file" && b.kind === "file") return a.mode === b.mode && Buffer.compare(a.bytes, b.bytes) === 0;
  if (a.kind === "link" && b.kind === "link") return a.target === b.target;
  return a.kind === "folder" && b.kind === "folder";
}

export const losesFile = ({ before, after }: Change): boolean => before?.kind === "file" && after?.kind !== "file";

/** The path that moved content had before the first of these changes; null: it was not moved, or it was moved back. */
function firstOrigin({ path, from }: Change, byPath: ReadonlyMap<RelPath, Change>): RelPath | null {
  if (from === null) return null;
  const source = byPath.get(from);
  const origin = source?.before === null ? source.from : from;
  return origin === path ? null : origin;
}

/** Before the first of two changes of a path, with what somebody else wrote between them: undo gives that back, too. */
export function beforeBoth({ before, after }: Change, next: Change): Blob | null {
  if (after?.kind !== "file" || next.before?.kind !== "file") return before;
  if (after.bytes === next.before.bytes || Buffer.compare(after.bytes, next.before.bytes) === 0) return before;
  if (before === null) return addedLines(after, next.before);
  if (before.kind !== "file") return before;
  const merge = mergeBlobs(after, { ...before, mode: after.mode }, { ...next.before, mode: after.mode }, "theirs");
  return merge.kind === "merged" ? { ...before, bytes: merge.blob.bytes } : before;
}

/** Merges changes of the same path in order; what ends where it began disappears. */
export function squash(changes: readonly Change[]): Change[] {
  const byPath = new Map<RelPath, Change>();
  for (const change of changes) {
    const earlier = byPath.get(change.path);
    const from = firstOrigin(change, byPath) ?? earlier?.from ?? null;
    const before = earlier ? beforeBoth(earlier, change) : change.before;
    const isExact = change.exactMode ?? earlier?.exactMode;
    byPath.set(change.path, { ...change, before, from, ...(isExact && { exactMode: isExact }) });
  }
  return [...byPath.values()].filter((change) => !sameBlob(change.before, change.after));
}

export const invert = (changes: readonly Change[]): Change[] =>
  changes.map(({ path, before, after }) => ({ path, before: after, after: before, from: null })).reverse();

/** Tells plan and commands apart: `commandPaths` holds the paths of changes that commands alone made. */
export function openAuthors() {
  const byPlan = new Set<RelPath>();
  const commandPaths = new Set<RelPath>();
  const note = (by: "plan" | "command", changes: readonly Change[]): void => {
    for (const { path } of changes) {
      if (by === "plan") byPlan.add(path);
      if (byPlan.has(path)) commandPaths.delete(path);
      else commandPaths.add(path);
    }
  };
  return { commandPaths: commandPaths as ReadonlySet<RelPath>, note };
}

export function opOf(change: { before: unknown; after: { kind: string } | null; from: string | null }): ChangeOp {
  const { before, after, from } = change;
  if (after === null) return "delete";
  if (from !== null) return "move";
  if (before !== null) return "modify";
  return after.kind === "folder" ? "mkdir" : "create";
}

/** A new file where the same reply removed or moved one: it keeps the mode of that one, as a file that is written over does. */
export function keepMode(change: Change, earlier: Change | undefined): Change {
  const { before, after } = change;
  const old = earlier?.after === null ? earlier.before : null;
  if (before !== null || after?.kind !== "file" || old?.kind !== "file") return change;
  if (after.mode !== 0o666 && after.mode !== 0o777) return change;
  const runs = after.mode === 0o777 ? (old.mode & 0o444) >> 2 : 0;
  return { ...change, after: { ...after, mode: old.mode | runs } };
}

export interface Effect extends Change {
  /** Ignored, and small enough to be kept: nobody is asked about it, and its content is in no diff. */
  readonly isIgnored: boolean;
}

/** A changed path whose content is not kept, as tools build it or it is too large: no undo restores it. */
export interface Carried {
  readonly path: RelPath;
  readonly isIgnored: boolean;
  /** What is or lies below this path, was there before the run, and is gone for good. */
  readonly lost: readonly RelPath[];
}

export interface Refused {
  readonly path: RelPath;
  /** Why, as a clause, if it is not the path itself that is closed; null: it is. */
  readonly why: string | null;
  /** Code in the file runs without anybody starting it, as a git hook does. */
  readonly runsUnasked: boolean;
}

/** What a command did to the workspace: found on its copy, or where it worked in place. */
export interface Effects {
  /** Of a command on a copy they are proposed; of one in place they are on disk, and a rollback undoes them. */
  readonly changes: readonly Effect[];
  /** Files that other runs changed while a command worked in place; absent: none. */
  readonly others?: readonly RelPath[];
  readonly carried: readonly Carried[];
  /** Of a command in place they are on disk until they are dropped or the run is rolled back. */
  readonly refused: readonly Refused[];
  readonly notes: readonly string[];
}

export const noEffects: Effects = { changes: [], carried: [], refused: [], notes: [] };
