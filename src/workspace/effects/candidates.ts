/** What may be an effect of a command: paths that differ between two looks, each with what was and what is there. */
import { type Blob, sameBlob } from "../../core/change.ts";
import type { RelPath } from "../../core/path.ts";
import type { Steps } from "../../core/steps.ts";
import type { Root } from "../confine.ts";
import { showName } from "../parse-path.ts";
import type { Stat } from "../system/stat.ts";
import { compareAccess, isBelow, statOrNull } from "./folder-modes.ts";
import type { EffectKind } from "./kind.ts";
import { isSame, type Look, type Seen, whyUnknown } from "./look.ts";

/** A path that a command may have changed. null: nothing was, or is, there; undefined: something, but no copy of it. */
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
  /** What else cannot be told or undone, one line each. */
  readonly notes: readonly string[];
}

/** What differs in place, with what else it takes to undo it. */
export interface Differences extends Candidates {
  /** The stat of each candidate before and after. */
  readonly stats: ReadonlyMap<RelPath, { readonly was: Stat | null; readonly is: Stat | null }>;
  /** Earlier modes of folders whose mode differs. */
  readonly modes: ReadonlyMap<RelPath, number>;
}

const maxNotes = 20;

/**
 * Compares two looks in steps: by identity first, then by bytes. `isWalled`: no command reached the secrets that were
 * there before.
 */
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
  const said = [...withinLimit(notes), ...access.notes, ...limitsOf(before)];
  return { candidates, stats, modes: access.modes, notes: said };
}

const contentOf = (side: Seen | null): Blob | null | undefined => (side === null ? null : (side.blob ?? undefined));

/** Whether a path that the second look did not see is there all the same, or may be. */
const isStillThere = (root: Root, { shut }: Look, path: RelPath): boolean =>
  isBelow(shut, path) || statOrNull(root, path) !== null;

/** What was seen at a path before and after; both null for one that does not differ, so that the caller can pause. */
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
    const isNew = !before.seen.has(path) && !before.partial.has(now.kind);
    yield { path, old: null, now: isNew ? now : null };
  }
}

/** Paths beyond the limits that came or went; null for one that did neither, so that the caller can pause. */
function* differingNames(root: Root, before: Look, after: Look): Generator<EffectCandidate | null> {
  for (const [path, { kind, top }] of before.named) {
    const isKnown = after.named.has(path) || after.seen.has(path) || isStillThere(root, after, path);
    yield isKnown ? null : { path, kind, top, before: undefined, after: null };
  }
  for (const [path, { kind, top }] of after.named) {
    const isKnown = before.named.has(path) || before.partial.has(kind);
    yield isKnown ? null : { path, kind, top, before: null, after: undefined };
  }
}

const withinLimit = (notes: readonly string[]): readonly string[] =>
  notes.length <= maxNotes ? notes : [...notes.slice(0, maxNotes), `and ${notes.length - maxNotes} more`];

function limitsOf({ seen, named }: Look): readonly string[] {
  if (![...named.values()].some(({ kind }) => kind === "open")) return [];
  return [`there are more than ${seen.size} files here: a change inside one of the others is not seen`];
}

/** Whether both are known and the same. */
export const isUnchanged = ({ before, after }: EffectCandidate): boolean =>
  before !== undefined && after !== undefined && sameBlob(before, after);
