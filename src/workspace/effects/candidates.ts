/** What may be an effect of a command, from two looks or a layer, and the effects that they are. */
import { type Blob, sameBlob } from "../../core/change.ts";
import type { Carried, Effect, Effects, Refused } from "../../core/effects.ts";
import { foldersAbove, type RelPath } from "../../core/path.ts";
import type { Steps } from "../../core/steps.ts";
import type { Root } from "../confine.ts";
import { showName } from "../parse-path.ts";
import type { Stat } from "../system/stat.ts";
import { compareAccess, isBelow } from "./folder-modes.ts";
import { type EffectKind, isClosedKind, isLoss, runsUnasked } from "./kind.ts";
import { isSame, type Look, type Seen, whyUnknown } from "./look.ts";

/** A path that a command may have changed. null: nothing there; undefined: something, but no copy of it. */
export interface EffectCandidate {
  readonly path: RelPath;
  readonly kind: EffectKind;
  /** The uppermost path of this kind at or above it. */
  readonly top: RelPath;
  readonly before: Blob | null | undefined;
  readonly after: Blob | null | undefined;
}

export interface Candidates {
  readonly candidates: readonly EffectCandidate[];
  /** What else cannot be told or undone. */
  readonly notes: readonly string[];
}

/** What differs in place. */
export interface Differences extends Candidates {
  /** The stat of each candidate before and after. */
  readonly stats: ReadonlyMap<RelPath, { readonly was: Stat | null; readonly is: Stat | null }>;
}

/** By identity first, then by bytes. `isWalled`: no command reached the secrets that were there before. */
export function* compareLooks(root: Root, before: Look, after: Look, isWalled: boolean): Steps<Differences> {
  const candidates: EffectCandidate[] = [];
  const notes: string[] = [];
  const stats = new Map<RelPath, { readonly was: Stat | null; readonly is: Stat | null }>();
  for (const { path, old, now } of differing(root, before, after, isWalled)) {
    yield;
    const each = now ?? old;
    if (each === null) continue;
    const { kind, top } = old ?? each;
    candidates.push({ path, kind, top, before: contentOf(old), after: contentOf(now) });
    stats.set(path, { was: old?.stat ?? null, is: now?.stat ?? null });
    const why = whyUnknown(old, now);
    if (why !== null && kind !== "carried") notes.push(`${showName(path)} ${why}`);
  }
  for (const each of differingNames(root, before, after)) {
    yield;
    if (each !== null) candidates.push(each);
  }
  const access = compareAccess(before, after);
  for (const path of access.lost) {
    candidates.push({ path, kind: "open", top: path, before: undefined, after: undefined });
  }
  return { candidates, stats, notes: [...limitsOf(before), ...access.notes, ...notes] };
}

const contentOf = (side: Seen | null): Blob | null | undefined => (side === null ? null : (side.blob ?? undefined));

/** It is there, or may be, although the second look did not see it. */
const isStillThere = (root: Root, { shut }: Look, path: RelPath): boolean =>
  isBelow(shut, path) || root.statOrNull(path) !== null;

/** Both null: it does not differ, and the caller can pause. */
interface Pair {
  readonly path: RelPath;
  readonly old: Seen | null;
  readonly now: Seen | null;
}

function* differing(root: Root, before: Look, after: Look, isWalled: boolean): Generator<Pair> {
  for (const [path, old] of before.seen) {
    const now = after.seen.get(path) ?? null;
    const isSpared = isWalled && old.kind === "secret";
    const isOther = !isSpared && (now === null ? !isStillThere(root, after, path) : !isSame(old, now));
    yield isOther ? { path, old, now } : { path, old: null, now: null };
  }
  for (const [path, now] of after.seen) {
    yield { path, old: null, now: before.seen.has(path) ? null : now };
  }
}

/** Paths beyond the limits that came or went; null as in a pair. */
function* differingNames(root: Root, before: Look, after: Look): Generator<EffectCandidate | null> {
  for (const [path, { kind, top }] of before.named) {
    const isKnown = after.named.has(path) || after.seen.has(path) || isStillThere(root, after, path);
    yield isKnown ? null : { path, kind, top, before: undefined, after: null };
  }
  for (const [path, { kind, top }] of after.named) {
    yield before.named.has(path) ? null : { path, kind, top, before: null, after: undefined };
  }
}

function limitsOf({ seen, named }: Look): readonly string[] {
  if (![...named.values()].some(({ kind }) => kind === "open")) return [];
  return [`there are more than ${seen.size} files here: a change inside one of the others is not seen`];
}

export const isUnchanged = ({ before, after }: EffectCandidate): boolean =>
  before !== undefined && after !== undefined && sameBlob(before, after);

const maxNotes = 20;
const withinLimit = (notes: readonly string[]): readonly string[] =>
  notes.length <= maxNotes ? notes : [...notes.slice(0, maxNotes), `and ${notes.length - maxNotes} more`];

/** Below one ignored path; with more it is carried as a whole. */
const maxListed = 300;

type Collected = Carried & { readonly lost: RelPath[] };

/** `made`: by the run, before this command. */
export function diff({ candidates, notes }: Candidates, made: ReadonlySet<RelPath>): Effects {
  const changes: Effect[] = [];
  const refused: Refused[] = [];
  const carried = new Map<RelPath, Collected>();
  const foldOf = foldAll(candidates);
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
  return { changes, carried: [...carried.values()], refused, notes: withinLimit(notes) };
}

/** What stands for a candidate: a cache, or a path with too many below it; null: itself. */
function foldAll(candidates: readonly EffectCandidate[]): (each: EffectCandidate) => RelPath | null {
  const cacheOf = foldCaches(candidates);
  const crowded = findCrowded(candidates);
  return ({ path, kind, top }) => cacheOf(path) ?? (kind === "ignored" && crowded.has(top) ? top : null);
}

const isFolder = (blob: Blob | null | undefined): boolean => blob?.kind === "folder";

/** The uppermost new folder at or above a path in which all is carried, like a cache with its own rules. */
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

function findCrowded(candidates: readonly EffectCandidate[]): ReadonlySet<RelPath> {
  const counts = new Map<RelPath, number>();
  for (const each of candidates) {
    if (each.kind === "ignored" && !isUnchanged(each)) counts.set(each.top, (counts.get(each.top) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([top, count]) => (count > maxListed ? [top] : [])));
}
