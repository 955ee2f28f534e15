/** What somebody else wrote into a file while the run worked on it: merged where it touches other lines. */

import { type Blob, type Change, sameBlob } from "../../core/change.ts";
import { textOfBlob } from "../../core/diff.ts";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { type PlanClaim, pathsOfClaim } from "../../core/plan/scope.ts";
import { mergeBlobs, renderDisputes } from "../../core/three-way.ts";
import type { Run } from "../run.ts";

/** A command's approval was for the files as they were, so those are left to `refuseConflict`. */
const mayMergeHere = ({ workspace, shell }: Run, path: RelPath): boolean =>
  workspace.mayMerge?.(path) === true && !shell.bound.has(path);

function tellMerged({ changing, emit }: Run, path: RelPath, what: string): void {
  changing.merged.add(path);
  emit({
    type: "notice",
    level: "info",
    code: "merged",
    text: `${path} was changed by someone else meanwhile: ${what}`,
  });
}

/** Shows both sides of the lines in question to the person, and throws conflict. */
function refuseTouched(run: Run, change: Change, now: Change["before"]): never {
  const { path, before, after } = change;
  const [base, ours, theirs] = [before, after, now].map((blob) => run.veiled.hide(path, blob));
  const merge = mergeBlobs(base ?? null, ours ?? null, theirs ?? null);
  if (merge.kind === "disputed" && mayMergeHere(run, path)) {
    const text = renderDisputes(path, merge.disputes, { ours: "what pai would write", theirs: "what is there now" });
    run.emit({ type: "notice", level: "warning", code: "both_sides", text });
  }
  throw new PaiError("conflict", `${path} was changed by someone else while pai worked on it`, {
    hint: "it was not overwritten; run the task again on the new content",
  });
}

/**
 * Merges staged changes of files with what somebody else has made of them since. Returns the merged paths. Throws
 * conflict where both touch the same lines or neighbours, and for what is not merged by lines.
 */
export async function mergeStaged(run: Run): Promise<readonly RelPath[]> {
  const { overlay } = run;
  const hidden = new Set(overlay.kept().map(({ path }) => path));
  const merged: RelPath[] = [];
  for (const change of overlay.staged()) {
    const { path, before, after, from } = change;
    if (before?.kind !== "file" || after?.kind !== "file" || from !== null || hidden.has(path)) continue;
    const now = await overlay.readNow(path);
    if (sameBlob(before, now)) continue;
    const merge = mergeBlobs(before, after, now);
    if (merge.kind !== "merged" || !mayMergeHere(run, path)) return refuseTouched(run, change, now);
    overlay.restage({ ...change, before: now, after: merge.blob });
    tellMerged(run, path, "merged, since it touches other lines");
    merged.push(path);
  }
  return merged;
}

const isText = (blob: Blob | null): boolean => blob?.kind === "file" && textOfBlob(blob) !== null;

/**
 * Looks at the paths that a plan promised to change. A text that somebody else has changed since is what the work starts
 * from. Throws conflict for anything else that has changed.
 */
export async function acceptMeanwhile(run: Run, claims: readonly PlanClaim[]): Promise<void> {
  const { overlay } = run;
  /** With whether the model has not been shown it as it is now. */
  const edited = new Map<RelPath, boolean>();
  for (const claim of claims) {
    if (claim.kind !== "content" || !mayMergeHere(run, claim.path) || !(await overlay.isChanged(claim.path))) continue;
    const [start, now] = [await overlay.readStart(claim.path), await overlay.readNow(claim.path)];
    if (isText(start) && isText(now)) edited.set(claim.path, !sameBlob(start, now));
  }
  await overlay.refuseConflict(claims.flatMap(pathsOfClaim).filter((path) => !edited.has(path)));
  for (const [path, isNews] of edited) if (isNews) tellMerged(run, path, "the work goes on from what it holds now");
}
