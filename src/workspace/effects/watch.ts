/** Keeps the content of small files before a command, to undo a command that is cut off together with pai. */

import type { Blob, Change } from "../../core/change.ts";
import type { PathRules } from "../../core/names.ts";
import type { RelPath } from "../../core/path.ts";
import { holds, stateAt } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import type { Journal, State } from "../journal/journal.ts";
import { changesOf, type Episode } from "../journal/journal-run.ts";
import { walkNow } from "../scan.ts";

/** The content by path; `blob` null: unknown. */
export type Files = ReadonlyMap<RelPath, { readonly blob: Blob | null }>;

export interface Watch {
  /** Records these files before a command; writes only content that is new since the last command. */
  begin(files: Files): void;
}

type SmallFiles = ReadonlyMap<RelPath, Blob>;

const limits = { files: 2000, bytes: 8 * 1024 * 1024, fileBytes: 256 * 1024 } as const;

/** For the commands of one run. */
export function openWatch(journal: Journal): Watch {
  let known: SmallFiles = new Map();
  return {
    begin(files) {
      const small = chooseSmall(files);
      const gone = [...known.keys()].filter((path) => !small.has(path));
      const fresh = [...small].filter(([path, blob]) => known.get(path) !== blob);
      const states: [RelPath, Blob | null][] = [...fresh, ...gone.map((path): [RelPath, null] => [path, null])];
      const changes = states.map(([path, blob]) => ({ path, before: blob, after: blob, from: null }));
      const others: RelPath[] = [];
      for (const [path, { blob }] of files) if (blob?.kind !== "folder" && !small.has(path)) others.push(path);
      journal.watch(changes, others);
      known = small;
    },
  };
}

/**
 * How the watched files differ from their content before the interrupted command; somebody else may have changed them
 * too.
 */
export function changedSince(root: Root, state: State, id: string, { watches, watching }: Episode): readonly Change[] {
  if (!watching) return [];
  const before = new Map(changesOf(state, id, watches).map((change) => [change.path, change.before]));
  return [...before].flatMap(([path, blob]) => {
    if (blob === null) return [];
    const now = stateAt(root, path);
    return now.blob === undefined || holds(now, blob) ? [] : [{ path, before: blob, after: now.blob, from: null }];
  });
}

/** Watched paths that this user may no longer look at. */
export function unseenSince(root: Root, { watches, watching }: Episode): readonly RelPath[] {
  if (!watching) return [];
  const paths = new Set(watches.flatMap(({ changes }) => changes.map(({ path }) => path as RelPath)));
  return [...paths].filter((path) => {
    const { blob, stat } = stateAt(root, path);
    return blob === undefined && stat === null;
  });
}

/** Paths, without folders, that appeared since that command began; somebody else may have made them. */
export function newSince(root: Root, rules: PathRules, { watches, others, watching, batches }: Episode): string[] {
  if (!watching) return [];
  const known = new Set<string>(others);
  for (const { changes } of [...watches, ...batches]) for (const { path } of changes) known.add(path);
  const standing = [...walkNow(root, "" as RelPath, rules)].filter(({ kind }) => kind !== "folder");
  return standing.map(({ path }): string => path).filter((path) => !known.has(path));
}

function chooseSmall(files: Files): SmallFiles {
  const chosen = new Map<RelPath, Blob>();
  let bytes = 0;
  for (const [path, { blob }] of files) {
    if (blob?.kind !== "file" || blob.bytes.length > limits.fileBytes) continue;
    bytes += blob.bytes.length;
    if (chosen.size === limits.files || bytes > limits.bytes) break;
    chosen.set(path, blob);
  }
  return chosen;
}
