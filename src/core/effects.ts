/** What a command did to the workspace, as one value: found on its copy, or where it worked in place. */
import type { Change } from "./change.ts";
import type { RelPath } from "./path.ts";

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
