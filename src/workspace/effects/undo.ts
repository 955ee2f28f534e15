/** How what a command did in place is taken back, beyond the changes that the journal holds. */
import type { Change } from "../../core/change.ts";
import type { Effects } from "../../core/effects.ts";
import { foldersAbove, type RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import type { Disk } from "../system/disk.ts";
import type { Stat } from "../system/stat.ts";
import type { Traits } from "../traits.ts";
import type { Differences } from "./candidates.ts";
import { statOrNull } from "./folder-modes.ts";
import { isClosedKind } from "./kind.ts";
import { isUntouched } from "./look.ts";

export interface Undo {
  /** Changes that no journal may hold, as their paths are closed, or can hold, as their new content was not read. */
  readonly unjournaled: readonly Change[];
  /** Paths of these whose new content was not read, with what is there; their `after` is null. */
  readonly unread: ReadonlyMap<RelPath, Stat>;
  /** The owner of each changed path before the command. Attributes are left out: the command may have changed them. */
  readonly traits: ReadonlyMap<RelPath, Traits>;
  /** Earlier modes of folders whose mode it changed. */
  readonly modes: ReadonlyMap<RelPath, number>;
}

export const noUndo: Undo = { unjournaled: [], unread: new Map(), traits: new Map(), modes: new Map() };

export function undoOf({ candidates, stats, modes }: Differences, { changes, carried }: Effects): Undo {
  const unjournaled: Change[] = [];
  const unread = new Map<RelPath, Stat>();
  const traits = new Map<RelPath, Traits>();
  const journaled = new Set(changes.map(({ path }) => path));
  const cached = new Set(carried.flatMap(({ path, isIgnored }) => (isIgnored ? [path] : [])));
  for (const { path, kind, before, after } of candidates) {
    const { was = null, is = null } = stats.get(path) ?? {};
    if (was !== null) traits.set(path, { uid: was.uid, gid: was.gid, attributes: {} });
    const isKept = kind === "open" ? !cached.has(path) : isClosedKind(kind);
    if (journaled.has(path) || before === undefined || !isKept) continue;
    if (after === undefined && is !== null) unread.set(path, is);
    unjournaled.push({ path, before, after: after ?? null, from: null });
  }
  return { unjournaled, unread, traits, modes };
}

/** Removes unread content, so that what was there before can be put back. Leaves what somebody else has touched since. */
export function removeUnread(root: Root, disk: Disk, unread: Iterable<readonly [RelPath, Stat]>): void {
  for (const [path, stat] of unread) {
    const now = statOrNull(root, path);
    if (now === null || now.kind === "folder" || !isUntouched(stat, now)) continue;
    root.withParent(path, (at, name) => disk.removeFile(`${at}/${name}`));
  }
}

/** Which changes go back with these paths: also new folders that then hold nothing of the command's. null: all. */
export function chooseBack(changes: readonly Change[], paths: ReadonlySet<RelPath> | null): readonly Change[] {
  if (paths === null) return changes;
  const isMade = ({ before, after }: Change) => before === null && after?.kind === "folder";
  const [emptied, filled] = [new Set<RelPath>(), new Set<RelPath>()];
  for (const change of changes) {
    if (isMade(change) && !paths.has(change.path)) continue;
    for (const folder of foldersAbove(change.path)) (paths.has(change.path) ? emptied : filled).add(folder);
  }
  const goes = ({ path }: Change) => emptied.has(path) && !filled.has(path);
  return changes.filter((change) => paths.has(change.path) || (isMade(change) && goes(change)));
}
