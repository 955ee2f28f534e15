/** Changes by commands to files that are closed to actions. They stay in memory; no journal may hold them. */
import type { Change } from "../../core/change.ts";
import type { RelPath } from "../../core/path.ts";
import type { ClosedChanges, RollbackReport } from "../../core/ports.ts";
import type { Root } from "../confine.ts";
import type { Lock } from "../journal/lock.ts";
import { takeBack } from "../journal/take-back.ts";
import type { Disk } from "../system/disk.ts";
import type { Stat } from "../system/stat.ts";
import type { Traits } from "../traits.ts";
import type { ClosedComparison } from "./compare-closed.ts";
import { removeUnread } from "./remove-unread.ts";

export interface ClosedRecord {
  /** In the order in which they happened. */
  readonly changes: readonly Change[];
  /** Adds the changes of one command. */
  note(found: ClosedComparison): ClosedChanges;
  /** Must be called under the lock. `paths` null: puts all of them back. */
  putBack(paths: ReadonlySet<RelPath> | null): RollbackReport;
}

export function openClosedRecord(root: Root, disk: Disk, lock: Lock): ClosedRecord {
  const changes: Change[] = [];
  const unread = new Map<RelPath, Stat>();
  const traits = new Map<RelPath, Traits>();

  function putBack(paths: ReadonlySet<RelPath> | null): RollbackReport {
    const isMeant = (path: RelPath) => paths === null || isAtOrAbove(path, paths);
    removeUnread(
      root,
      disk,
      [...unread].filter(([path]) => isMeant(path)),
    );
    return takeBack(root, disk, null, { changes: changes.filter(({ path }) => isMeant(path)), traits });
  }

  return {
    changes,
    putBack,
    note(found) {
      changes.push(...found.changes);
      for (const [path, stat] of found.unread) unread.set(path, stat);
      for (const [path, theirs] of found.traits) if (!traits.has(path)) traits.set(path, theirs);
      const listed = new Set(found.judged.map(({ path }) => path));
      const others = [...found.unread.keys()].filter((path) => !listed.has(path));
      return {
        changes: found.judged,
        unread: others,
        putBack: (paths) => lock(() => putBack(paths).left, { must: true }),
      };
    },
  };
}

/** A new folder is removed together with the files that were made in it. */
const isAtOrAbove = (path: RelPath, paths: ReadonlySet<RelPath>): boolean =>
  paths.has(path) || [...paths].some((each) => each.startsWith(`${path}/`));
