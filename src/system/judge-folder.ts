/** Judges whether a folder's content can be trusted: whether anybody but the user could have put something into it. */
import { lstatSync, realpathSync, type Stats } from "node:fs";
import { dirname } from "node:path";

const groupWrites = 0o020;
const othersWrite = 0o002;
const sticky = 0o1000;

/** A group that is the user's alone: where each has one, it bears the same number as the user. */
const isPrivateGroup = ({ uid, gid, mode }: Stats) => (mode & othersWrite) === 0 && uid === gid;

/** Whether others can write to what has this mode. */
const canOthersWrite = (stat: Stats): boolean =>
  (stat.mode & othersWrite) !== 0 || ((stat.mode & groupWrites) !== 0 && !isPrivateGroup(stat));

/**
 * Why a folder's content cannot be trusted, as a clause after its path that names the path at fault; null: only the
 * user could have put it there. The folder must be the user's own and closed to the writing of others; each folder above it
 * too, or the system's, or one like /tmp where nobody can move what is another's. What is not there yet is judged by what is
 * above it.
 */
export function distrustFolder(folder: string): string | null {
  const uid = process.geteuid?.();
  if (uid === undefined) return null;
  const own = lstatSync(folder, { throwIfNoEntry: false });
  return (own === undefined ? null : distrust(folder, own, uid)) ?? distrustAbove(existingAbove(folder), uid);
}

function distrust(path: string, stat: Stats, uid: number): string | null {
  if (stat.uid !== uid) return `${path} belongs to somebody else`;
  return canOthersWrite(stat) ? `${path} can be written by others (chmod go-w ${path})` : null;
}

function distrustAbove(folder: string, uid: number): string | null {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  const isShared = (stat.mode & sticky) !== 0 && (stat.uid === 0 || stat.uid === uid);
  const why = isShared ? null : distrust(folder, stat, stat.uid === 0 ? 0 : uid);
  return why ?? (folder === dirname(folder) ? null : distrustAbove(dirname(folder), uid));
}

/** The nearest folder above that is there, by its real path. */
function existingAbove(folder: string): string {
  for (let at = dirname(folder); ; at = dirname(at)) {
    try {
      return realpathSync(at);
    } catch {
      if (at === dirname(at)) return at;
    }
  }
}
