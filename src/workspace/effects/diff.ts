/** Turns what a command may have changed into its effects. Pure. */
import type { Blob } from "../../core/change.ts";
import type { Carried, Effect, Effects, Refused } from "../../core/effects.ts";
import { foldersAbove, type RelPath } from "../../core/path.ts";
import { type Candidates, type EffectCandidate, isUnchanged } from "./candidates.ts";
import { isClosedKind, isLoss, runsUnasked } from "./kind.ts";

/** More changes below one ignored path are not listed: the path is carried as a whole. */
const maxListed = 300;

type Collected = Carried & { readonly lost: RelPath[] };

/** `made`: paths that the run made before this command. */
export function diff({ candidates, notes }: Candidates, made: ReadonlySet<RelPath>): Effects {
  const changes: Effect[] = [];
  const refused: Refused[] = [];
  const carried = new Map<RelPath, Collected>();
  const foldOf = foldAll(candidates);
  /** Whether the run loses what was there before it. */
  const isLost = ({ path, before, after }: EffectCandidate) => before !== null && after === null && isLoss(path, made);
  const carry = (each: EffectCandidate, whole: RelPath, isIgnored: boolean): void => {
    const known: Collected = carried.get(whole) ?? { path: whole, isIgnored, lost: [] };
    carried.set(whole, known);
    if (isLost(each)) known.lost.push(each.path);
  };

  const refuse = ({ path, before, after }: EffectCandidate): void => {
    if (!isFolder(after ?? before)) refused.push({ path, why: null, runsUnasked: runsUnasked(path) });
  };

  for (const each of candidates) {
    const { path, kind, top, before, after } = each;
    const fold = kind === "carried" ? (foldOf(each) ?? top) : foldOf(each);
    if (isUnchanged(each)) continue;
    if (isClosedKind(kind)) refuse(each);
    else if (fold !== null) carry(each, fold, true);
    else if (before === undefined || after === undefined) carry(each, path, kind === "ignored");
    // The removal of what the run did not make is shown and judged like any other.
    else changes.push({ path, before, after, from: null, isIgnored: kind === "ignored" && !isLost(each) });
  }
  return { changes, carried: [...carried.values()], refused, notes };
}

/** The path that stands for a candidate, as there are too many below it or it is a cache; null: it stands for itself. */
function foldAll(candidates: readonly EffectCandidate[]): (each: EffectCandidate) => RelPath | null {
  const cacheOf = foldCaches(candidates);
  const crowded = findCrowded(candidates);
  return ({ path, kind, top }) => cacheOf(path) ?? (kind === "ignored" && crowded.has(top) ? top : null);
}

const isFolder = (blob: Blob | null | undefined): boolean => blob?.kind === "folder";

/**
 * The uppermost new folder at or above a path that holds only what is carried, as a cache with ignore rules of its own
 * does; null: there is none.
 */
function foldCaches(candidates: readonly EffectCandidate[]): (path: RelPath) => RelPath | null {
  const made = new Set<RelPath>();
  const solid = new Set<RelPath>();
  const filled = new Set<RelPath>();
  for (const { path, kind, before, after } of candidates) {
    if (kind === "open" && before === null && isFolder(after)) made.add(path);
    else if (kind === "open" || kind === "carried") {
      for (const folder of foldersAbove(path)) (kind === "open" ? solid : filled).add(folder);
    }
  }
  const folded = new Set([...made].filter((path) => filled.has(path) && !solid.has(path)));
  return (path) =>
    folded.size === 0 ? null : ([path, ...foldersAbove(path)].findLast((each) => folded.has(each)) ?? null);
}

/** Ignored paths with too many changes in them to be listed. */
function findCrowded(candidates: readonly EffectCandidate[]): ReadonlySet<RelPath> {
  const counts = new Map<RelPath, number>();
  for (const each of candidates) {
    if (each.kind === "ignored" && !isUnchanged(each)) counts.set(each.top, (counts.get(each.top) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([top, count]) => (count > maxListed ? [top] : [])));
}
