/** Which changed paths are ignored. An ignore rule that the run itself wrote must not hide a change from the judge. */
import type { Blob, Change } from "../../core/change.ts";
import type { RelPath } from "../../core/path.ts";
import { holdsIgnoreRules, type IgnoreReader, type IgnoreRules, openIgnore } from "../ignore.ts";

/** The ignore rules of a folder, now and before the run. */
export interface Ignored {
  /** Whether a child is ignored. Rules that the run wrote apply only to new paths (`isNew`). */
  ignores(name: string, isFolder: boolean, isNew: () => boolean): boolean;
  inside(name: string, holds: readonly string[]): Ignored;
}

/** `earlier`: what the run changed before this command. */
export function openIgnored(root: IgnoreReader, earlier: readonly Change[]): Ignored {
  const written = new Map<RelPath, Blob | null>();
  for (const { path, before } of earlier) if (holdsIgnoreRules(path) && !written.has(path)) written.set(path, before);
  const top = "" as RelPath;
  return withBefore(openIgnore(root, top), written.size === 0 ? null : openIgnore(readBefore(root, written), top));
}

/** Reads `written` files with their content from before the run. */
function readBefore(root: IgnoreReader, written: ReadonlyMap<RelPath, Blob | null>): IgnoreReader {
  return {
    userIgnore: root.userIgnore,
    readBytes(path, limit) {
      const old = written.get(path);
      if (old === undefined) return root.readBytes(path, limit);
      return old?.kind === "file" && old.bytes.length <= limit ? { bytes: old.bytes } : null;
    },
  };
}

/** `before` null: the run has not changed any ignore rules. */
function withBefore(now: IgnoreRules, before: IgnoreRules | null): Ignored {
  return {
    ignores: (name, isFolder, isNew) =>
      now.ignores(name, isFolder) && (before === null || before.ignores(name, isFolder) || isNew()),
    inside: (name, holds) => withBefore(now.inside(name, holds), before?.inside(name, holds) ?? null),
  };
}
