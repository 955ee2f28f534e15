/** Who a file belongs to, and whether it still does once pai has changed it. */

import { constants, lstatSync, type Stats } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Change } from "../core/change.ts";
import { orNull } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { Touch } from "../core/ports.ts";
import { mayUse } from "../system/lookups.ts";
import { showName } from "./parse-path.ts";
import { mountPoints } from "./sandbox/mounts.ts";
import type { Traits } from "./traits.ts";

export type Maker = ReturnType<typeof makerNow>;

export const makerNow = () => ({
  uid: process.geteuid?.() ?? 0,
  /** Those whose files the user may make. */
  groups: [process.getegid?.() ?? 0, ...(process.getgroups?.() ?? [])],
});

/** undefined also where a link on the way leads nowhere: the policy says so later. */
const statOrNone = (path: string): Stats | undefined =>
  orNull(() => lstatSync(path, { throwIfNoEntry: false })) ?? undefined;

/** A new file in a folder with the set-group-ID bit gets the folder's group. */
function inheritsGroup(at: string, gid: number): boolean {
  const folder = statOrNone(dirname(at));
  return folder !== undefined && (folder.mode & 0o2000) !== 0 && folder.gid === gid;
}

type Loss = "owner" | "group";

const nameOwner = (loss: Loss, { uid, gid }: Pick<Stats, "uid" | "gid">): string =>
  loss === "owner" ? `another user (uid ${uid})` : `a group that you are not in (gid ${gid})`;

/** What a new file would lose. Root keeps everything. */
function lossOf(at: string, stat: Stats | undefined, { uid, groups }: Maker): Loss | null {
  if (uid === 0 || stat?.isFile() !== true) return null;
  if (stat.uid !== uid) return "owner";
  return groups.includes(stat.gid) || inheritsGroup(at, stat.gid) ? null : "group";
}

/** Only its owner may change the mode; its other names would get the new content as well. */
const staysInPlace = (at: string, { nlink }: Stats, loss: Loss, touch: Touch): boolean =>
  nlink === 1 && (touch === "bytes" || (touch === "mode" && loss === "group")) && mayUse(at, constants.W_OK);

/** Files that are written where they are: mounted by themselves, or a new file would lose their owner or group. */
export function openInPlace(root: string, maker = makerNow()): (path: RelPath, touch: Touch) => boolean {
  const points = mountPoints();
  return (path, touch) => {
    const at = resolve(root, path);
    if (points.has(at)) return true;
    const stat = maker.uid === 0 ? undefined : statOrNone(at);
    const loss = lossOf(at, stat, maker);
    return stat !== undefined && loss !== null && staysInPlace(at, stat, loss, touch);
  };
}

/** In words, whose the file is that a change would take from them; null: it stays theirs. */
export function lostOwner(root: string, path: RelPath, touch: Touch, maker = makerNow()): string | null {
  const at = resolve(root, path);
  const stat = statOrNone(at);
  const loss = lossOf(at, stat, maker);
  if (stat === undefined || loss === null || openInPlace(root, maker)(path, touch)) return null;
  return nameOwner(loss, stat);
}

/** A sentence for each file that a batch has taken from its owner. */
export function ownersLost(
  root: string,
  { changes, traits }: { readonly changes: readonly Change[]; readonly traits: ReadonlyMap<RelPath, Traits> },
): readonly string[] {
  return changes.flatMap(({ path, after }) => {
    const [owner, stat] = [traits.get(path), statOrNone(resolve(root, path))];
    if (after?.kind !== "file" || owner === undefined || stat === undefined) return [];
    const loss = stat.uid !== owner.uid ? "owner" : stat.gid !== owner.gid ? "group" : null;
    if (loss === null) return [];
    return [`${showName(path)} belonged to ${nameOwner(loss, owner)} and belongs to you now: only root gives it back`];
  });
}
