/** Judges whether a folder's content can be trusted: whether anybody but the user could have written it. */
import { realpathSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { spellForShell } from "../core/command/quote.ts";
import { entryAt, nearestThere, textOfSystem } from "./lookups.ts";

const groupWrites = 0o020;
const othersWrite = 0o002;
const sticky = 0o1000;

/** Whether a group is the user's private one: its id then equals the user's. Strangers may be of any group. */
const isPrivateGroup = ({ uid, gid, mode }: Stats) => (mode & othersWrite) === 0 && uid === gid && uid !== strangerId();

const canOthersWrite = (stat: Stats): boolean =>
  (stat.mode & othersWrite) !== 0 || ((stat.mode & groupWrites) !== 0 && !isPrivateGroup(stat));

/**
 * Why what these names hold in a folder cannot be trusted, as a clause that names the path at fault; null: only the user
 * could have written it. They and the folder must belong to the user and not be writable by others. Each folder above it
 * must do so too, belong to the system, or be like /tmp, where nobody can move others' files. For a missing folder the
 * existing ones above it are judged; missing names are trusted.
 */
export function distrustParts(folder: string, names: readonly string[]): string | null {
  const uid = process.geteuid?.();
  if (uid === undefined) return null;
  for (const path of [folder, ...names.map((name) => join(folder, name))]) {
    const stat = entryAt(path);
    const why = stat === undefined ? null : distrust(path, stat, stat.uid === uid);
    if (why !== null) return why;
  }
  return distrustAbove(realpathSync(nearestThere(dirname(folder))), uid);
}

function distrust(path: string, stat: Stats, isTrusted: boolean): string | null {
  if (!isTrusted) return `${path} belongs to somebody else`;
  return canOthersWrite(stat) ? `${path} can be written by others (chmod go-w ${spellForShell(path)})` : null;
}

function distrustAbove(folder: string, uid: number): string | null {
  const stat = entryAt(folder);
  if (stat === undefined) return null;
  const isTrusted = stat.uid === uid || isOfSystem(stat);
  const isShared = (stat.mode & sticky) !== 0 && isTrusted;
  const why = isShared ? null : distrust(folder, stat, isTrusted);
  return why ?? (folder === dirname(folder) ? null : distrustAbove(dirname(folder), uid));
}

let found: number | null | undefined;

/**
 * The user id under which everybody is seen who has no name in this user namespace; null: all have one. Where the
 * machine's root has none (rootless containers, bubblewrap), the system's files are seen under this id.
 */
function strangerId(): number | null {
  if (found === undefined) found = findStrangerId();
  return found;
}

function findStrangerId(): number | null {
  const map = textOfSystem("/proc/self/uid_map").trim();
  const id = Number(textOfSystem("/proc/sys/kernel/overflowuid").trim() || Number.NaN);
  if (map === "" || Number.isNaN(id)) return null;
  const isNamed = map.split("\n").some((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return id >= first && id < first + count;
  });
  return isNamed ? null : id;
}

/** Whether a file belongs to the system: to root, or to somebody without a name here, who may well be root. */
export const isOfSystem = ({ uid }: Pick<Stats, "uid">): boolean => uid === 0 || uid === strangerId();
