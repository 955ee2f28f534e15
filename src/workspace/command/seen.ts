/** What a walk of the workspace saw; shares with an earlier walk what is the same. */
import type { Blob } from "../../core/change.ts";
import type { RelPath } from "../../core/path.ts";
import type { Stat } from "../system/stat.ts";
import { isUntouched, type Kept } from "./kept.ts";

export interface Seen extends Kept {
  readonly path: RelPath;
}

/** What was seen, in the order of the walk. Shares equal content with `earlier` to save memory. */
export function openSeen(earlier: { readonly seen: ReadonlyMap<RelPath, Seen> } | null) {
  let own: Map<RelPath, Seen> | null = earlier === null ? new Map() : null;
  const theirs = earlier?.seen.values();
  let shared = 0;
  const diverge = (): Map<RelPath, Seen> => {
    if (own !== null) return own;
    own = new Map();
    for (const [path, each] of earlier?.seen ?? []) {
      if (own.size === shared) break;
      own.set(path, each);
    }
    return own;
  };
  return {
    count: () => own?.size ?? shared,
    add(path: RelPath, stat: Stat, read: () => Blob | null): Seen {
      const next = own === null ? theirs?.next().value : undefined;
      if (next?.path === path && isUntouched(next.stat, stat)) {
        shared++;
        return next;
      }
      const known = earlier?.seen.get(path);
      const each = known !== undefined && isUntouched(known.stat, stat) ? known : { path, stat, blob: read() };
      diverge().set(path, each);
      return each;
    },
    end: (): ReadonlyMap<RelPath, Seen> => (own === null && earlier?.seen.size === shared ? earlier.seen : diverge()),
  };
}
