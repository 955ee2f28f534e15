/** What may be changed, and what the run has changed: written where changes are judged, allowed, applied and kept. */
import type { Change } from "../../core/change.ts";
import type { ErrorCode } from "../../core/error.ts";
import type { GuardLimits } from "../../core/guard/guard.ts";
import type { RelPath } from "../../core/path.ts";

export interface ChangeOptions {
  readonly guard: GuardLimits;
  /** Groups of globs; a path must match one glob of every group. */
  readonly only: readonly (readonly string[])[];
  readonly allowDelete: boolean;
  /** Allowed beforehand: paths and globs of what is asked about; full paths of closed files and of files that may get secrets. */
  readonly allow: readonly string[];
  readonly strict: boolean;
  readonly dryRun: boolean;
  readonly keep: boolean;
  /** Ask before every batch of changes, or before each change of it, also of an approved plan. */
  readonly review: "batch" | "change" | false;
}

/** What somebody else did to a file of the run: changed other lines, lines of the run, all of these, or the file is gone. */
export type Became = "beside" | "within" | "undone" | "removed";

/** Why a change is not made. */
export interface Refusal {
  readonly code: ErrorCode;
  /** For the model: why, and what it can do instead. */
  readonly text: string;
  /** The person wants the change made again in another way: a model that can be asked for it was not refused. */
  readonly isAnew?: true;
}

export interface Changing extends ChangeOptions {
  /** Changes of a dry run; otherwise the transaction has them. */
  staged: readonly Change[];
  batches: number;
  /** What the person said to the changes that they were shown last, and these; null: nothing that is still to be done. */
  wish: { readonly words: string; readonly diff: string } | null;
  /** All that the person said to changes that were then made anew. */
  corrections: readonly string[];
  /** What the person said no to, without what they agreed to later. `isWish`: they said what they want; any later yes settles it. */
  declined: readonly { readonly paths: readonly string[]; readonly diff: string; readonly isWish?: true }[];
  /** Whether the person may answer with words: a model can be asked to make the changes of this batch in another way. */
  takesWords: boolean;
  /** Files into which the user allowed to write secrets of other files. */
  readonly secrets: Set<RelPath>;
  /** What the person allowed to change of what is asked about or closed. */
  readonly allowed: Set<RelPath>;
  /** What the person said to files that belong to them once they are changed. */
  readonly owners: Map<RelPath, boolean>;
  /** Files that somebody else has changed, too, while the run worked on them. */
  readonly merged: Map<RelPath, { readonly isTold: boolean; readonly how: Became }>;
  /** How many changes the run had when the model was last told what checks had changed. */
  toldAt: number;
  /** Ignored files that commands changed and that a rollback of the run restores. */
  readonly ignored: Set<RelPath>;
  /** Ignored paths that commands changed and that no rollback restores. */
  readonly stays: Set<RelPath>;
}

export function createChanging(options: ChangeOptions): Changing {
  const { guard, only, allowDelete, allow, strict, dryRun, keep, review } = options;
  return {
    ...{ guard, only, allowDelete, allow, strict, dryRun, keep, review },
    staged: [],
    batches: 0,
    wish: null,
    takesWords: true,
    corrections: [],
    declined: [],
    secrets: new Set(),
    allowed: new Set(),
    owners: new Map(),
    merged: new Map(),
    toldAt: 0,
    ignored: new Set(),
    stays: new Set(),
  };
}
