/** Looks at a workspace in which a command works, what differs between two of them, and which effects that has. */

import { type Blob, type Carried, type Effect, type Effects, type Refused, sameBlob } from "../../core/change.ts";
import type { PathRules } from "../../core/closed-names.ts";
import { orNull } from "../../core/error.ts";
import { foldersAbove, type RelPath } from "../../core/path.ts";
import type { Steps } from "../../core/steps.ts";
import { sameObject } from "../atomic-write.ts";
import type { ReadFile, Root } from "../confine.ts";
import { showName } from "../parse-path.ts";
import { type Choose, walkAll } from "../scan.ts";
import { refusedStat, type Stat } from "../system/stat.ts";
import { compareAccess, isBelow, reopenFolder } from "./folder-modes.ts";
import { type EffectKind, effectKindOf, isClosedKind, isLoss, isOrder, runsUnasked } from "./kind.ts";

export interface Mark {
  readonly kind: EffectKind;
  readonly top: RelPath;
}

export interface Seen extends Mark {
  readonly stat: Stat;
  readonly blob: Blob | null;
}

export interface Look {
  readonly seen: ReadonlyMap<RelPath, Seen>;
  /** Beyond the limits: only the name is known. */
  readonly named: ReadonlyMap<RelPath, Mark>;
  readonly spared: ReadonlySet<RelPath>;
  readonly shut: ReadonlySet<RelPath>;
  readonly reopened: readonly RelPath[];
  readonly root: Stat | null;
}

export interface LookParts {
  readonly root: Root;
  readonly rules: PathRules;
  /** Of secrets and of what tools build only what is new counts. */
  readonly isWalled: boolean;
  readonly git: boolean;
  /** Small ignored files are kept, not only compared. */
  readonly keepsIgnored: boolean;
  /** Ignored paths that the run has changed, which are kept in any case. */
  readonly own: ReadonlySet<RelPath>;
  /** After an earlier command of the run: spares reading what is the same. */
  readonly known: Look | null;
}

/** `paths`: looked at one by one. The others are of what is kept. */
export interface Limits {
  readonly paths: number;
  readonly files: number;
  readonly bytes: number;
  readonly fileBytes: number;
}

export interface SecondLook {
  /** Before the command. What was kept then is read again in any case. */
  readonly earlier: Look;
  /** Folders that are closed now get their earlier mode back. */
  readonly reopens: boolean;
  /** After this signal only what could be put back is looked at. */
  readonly hurry: AbortSignal;
}

const mib = 1024 * 1024;
const closedLimits: Limits = { paths: 50_000, files: 2000, bytes: 16 * mib, fileBytes: mib };
/** Closed paths share theirs. */
const limitsOf: Readonly<Record<"open" | "ignored" | "carried", Limits>> = {
  open: { paths: 120_000, files: 20_000, bytes: 64 * mib, fileBytes: mib },
  ignored: { paths: 20_000, files: 2000, bytes: 16 * mib, fileBytes: 4 * mib },
  carried: { paths: 20_000, files: 0, bytes: 0, fileBytes: 0 },
};
/** Bytes of files that were kept before and have grown. */
const grown = { file: 64 * mib, all: 256 * mib };

export function* takeLook(
  parts: LookParts,
  second: SecondLook | null = null,
  given: Limits | null = null,
): Steps<Look> {
  const { root } = parts;
  const taker = openTaker(parts, second, given);
  const top = "" as RelPath;
  const found = root.statOrNull(top);
  if (second?.reopens && found !== null) taker.reopen(top, second.earlier.root, found);
  for (const each of walkAll(root, { kind: "open", top } as Mark, taker.choose, taker.omit)) {
    yield;
    if (each !== null) taker.take(each.entry.path, each.mark, each.look, each.read);
  }
  return taker.end(root.statOrNull(top));
}

function openTaker(parts: LookParts, second: SecondLook | null, given: Limits | null) {
  const { root, rules, isWalled, git, keepsIgnored, own } = parts;
  const earlier = second?.earlier ?? null;
  const seen = new Map<RelPath, Seen>();
  const named = new Map<RelPath, Mark>();
  const spared = new Set<RelPath>();
  const shut = new Set<RelPath>();
  const reopened: RelPath[] = [];
  const used = new Map<Limits, { paths: number; files: number; bytes: number }>();
  let grownBytes = 0;

  const limits = (kind: EffectKind): Limits => given ?? (isClosedKind(kind) ? closedLimits : limitsOf[kind]);
  const usedOf = (kind: EffectKind) => {
    const limit = limits(kind);
    const known = used.get(limit) ?? { paths: 0, files: 0, bytes: 0 };
    used.set(limit, known);
    return known;
  };
  const isFull = (kind: EffectKind) => usedOf(kind).paths >= limits(kind).paths;

  /** A path keeps its kind: changed ignore rules neither make a file look new nor hide it. */
  const markOf = (path: RelPath, isFolder: boolean, isIgnored: boolean, above: Mark): Mark => {
    const known = earlier?.seen.get(path);
    if (known !== undefined) return known;
    const last = parts.known?.seen.get(path);
    const wasIgnored = last === undefined ? isIgnored : last.kind !== "open";
    const kind = effectKindOf(path, isFolder, wasIgnored, above.kind, rules);
    if (kind === "ignored" && !keepsIgnored) return { kind: own.has(path) ? kind : "carried", top: path };
    return kind === above.kind && kind !== "open" ? above : { kind, top: path };
  };
  /** Of a repository what configures it counts; of a new one everything, so that it can be removed. */
  const counts = (path: RelPath, isFolder: boolean, { kind, top }: Mark): boolean => {
    if (kind !== "repository") return kind !== "own";
    if (git) return false;
    const isNew = earlier !== null && !earlier.seen.has(top);
    return path === top || isNew || isOrder(path.slice(top.length + 1), isFolder);
  };
  /** What the first look saw of a folder, the second must see again. */
  const isSpared = (path: RelPath, kind: EffectKind): boolean => {
    if (kind !== "carried" && kind !== "ignored") return false;
    if (kind === "carried" && second?.hurry.aborted === true) return true;
    if (earlier?.seen.has(path)) return earlier.spared.has(path);
    return isFull(kind) || (kind === "carried" && isWalled);
  };
  const choose: Choose<Mark> = ({ path, kind }, above, isIgnored) => {
    const isFolder = kind === "folder";
    if (rules.own?.has(path) === true) return null;
    const mark = markOf(path, isFolder, isIgnored, above);
    if (!counts(path, isFolder, mark)) return null;
    const enters = !isFolder || !isSpared(path, mark.kind);
    if (!enters) spared.add(path);
    return { mark, enters };
  };

  const reopen = (folder: RelPath, was: Stat | null | undefined, now: Stat): boolean => {
    if (!reopenFolder(root, folder, was, now)) return false;
    reopened.push(folder);
    return true;
  };
  const lookAt = (path: RelPath, look: () => Stat | null): Stat | null => {
    const now = look();
    if (now?.kind !== "folder" || !second?.reopens || !reopen(path, earlier?.seen.get(path)?.stat, now)) return now;
    return look();
  };

  const isKept = ({ kind }: Mark, path: RelPath): boolean => {
    if (kind === "carried") return own.has(path);
    return !(isWalled && isClosedKind(kind) && kind !== "repository" && earlier === null);
  };
  const roomFor = (path: RelPath, mark: Mark): number => {
    if (!isKept(mark, path)) return -1;
    const { files, bytes, fileBytes } = limits(mark.kind);
    const { files: filesUsed, bytes: bytesUsed } = usedOf(mark.kind);
    const room = filesUsed < files ? Math.min(fileBytes, bytes - bytesUsed) : -1;
    // What was kept before the command needs its new content too, to be put back safely.
    const isKnown = earlier?.seen.get(path)?.blob?.kind === "file";
    return isKnown ? Math.max(room, Math.min(grown.file, grown.all - grownBytes)) : room;
  };
  const seenAt = (path: RelPath, mark: Mark, stat: Stat, read: (limit: number) => ReadFile | null): Seen => {
    const known = earlier?.seen.get(path);
    if (known !== undefined && isUntouched(known.stat, stat)) return known;
    const last = earlier === null ? parts.known?.seen.get(path) : undefined;
    const isKnown = last !== undefined && last.blob !== null && isUntouched(last.stat, stat);
    if (isKnown && isKept(mark, path)) return { ...last, ...mark };
    return { ...mark, stat, blob: readBlob(stat, roomFor(path, mark), read) };
  };
  const note = (path: RelPath, each: Seen): void => {
    seen.set(path, each);
    const count = usedOf(each.kind);
    count.paths += 1;
    if (each.blob?.kind !== "file") return;
    const size = each.blob.bytes.length;
    if (size > limits(each.kind).fileBytes) grownBytes += size;
    else {
      count.files += 1;
      count.bytes += size;
    }
  };

  return {
    reopen,
    choose,
    omit(path: RelPath, why: "unreadable" | "unnameable") {
      if (why === "unreadable") shut.add(path);
    },
    take(path: RelPath, mark: Mark, look: () => Stat | null, read: (limit: number) => ReadFile | null): void {
      const known = earlier?.seen.get(path);
      const isNamed = known === undefined && (isFull(mark.kind) || earlier?.named.has(path) === true);
      if (isNamed) return void named.set(path, mark);
      // What could not be seen before must not look new.
      const isUnseen = (looked: Look) => isBelow(looked.shut, path) || isBelow(looked.spared, path);
      if (earlier !== null && known === undefined && isUnseen(earlier)) return;
      const stat = lookAt(path, look);
      if (stat !== null) note(path, seenAt(path, mark, stat, read));
    },
    end: (top: Stat | null): Look => ({ seen, named, spared, shut, reopened, root: top }),
  };
}

export const isUntouched = (old: Stat, now: Stat): boolean => sameObject(old, now) && old.mode === now.mode;

/** Of a file only up to `room` bytes. null: not kept. */
export function readBlob(stat: Stat, room: number, read: (limit: number) => ReadFile | null): Blob | null {
  if (stat.kind === "folder") return { kind: "folder", mode: stat.mode };
  if (stat.kind === "link") return { kind: "link", target: stat.target ?? "" };
  if (stat.kind === "special" || stat.size > room) return null;
  // null: it is gone, unreadable, or has grown meanwhile; a change of it is reported.
  const file = orNull(() => read(room));
  return file && { kind: "file", bytes: file.bytes, mode: file.stat.mode };
}

function isSame(old: Seen, now: Seen): boolean {
  if (old === now) return true;
  if (old.stat.kind === "folder" && now.stat.kind === "folder") return true;
  if (isUntouched(old.stat, now.stat)) return true;
  return old.blob !== null && now.blob !== null && sameBlob(old.blob, now.blob);
}

/** As a clause; null: it can be put back, or there is nothing to say but that no copy was kept. */
function whyUnknown(old: Seen | null, now: Seen | null): string | null {
  if (old?.stat === refusedStat) return "could not be looked at before, so its change cannot be taken back";
  if (now?.stat === refusedStat) return "can no longer be looked at, so its change cannot be taken back";
  const isLost = old !== null && old.blob === null && isClosedKind(old.kind);
  return isLost ? "changed and no copy of it was kept, so it cannot be put back" : null;
}

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

export interface Differences extends Candidates {
  /** The stat of each candidate before and after. */
  readonly stats: ReadonlyMap<RelPath, { readonly was: Stat | null; readonly is: Stat | null }>;
}

/** By identity first, then by bytes. `isWalled`: no command reached the secrets that were there before. */
export function* compareLooks(root: Root, before: Look, after: Look, isWalled: boolean): Steps<Differences> {
  const candidates: EffectCandidate[] = [];
  const notes: string[] = [];
  const stats = new Map<RelPath, { readonly was: Stat | null; readonly is: Stat | null }>();
  /** `mark`: that of the first look, if it saw the path. */
  const note = (path: RelPath, { kind, top }: Mark, old: Seen | null, now: Seen | null): void => {
    candidates.push({ path, kind, top, before: contentOf(old), after: contentOf(now) });
    stats.set(path, { was: old?.stat ?? null, is: now?.stat ?? null });
    const why = whyUnknown(old, now);
    if (why !== null && kind !== "carried") notes.push(`${showName(path)} ${why}`);
  };
  for (const [path, old] of before.seen) {
    yield;
    const now = after.seen.get(path) ?? null;
    if (isWalled && old.kind === "secret") continue;
    if (now === null ? !isStillThere(root, after, path) : !isSame(old, now)) note(path, old, old, now);
  }
  for (const [path, now] of after.seen) {
    yield;
    if (!before.seen.has(path)) note(path, now, null, now);
  }
  candidates.push(...(yield* differingNames(root, before, after)));
  const access = compareAccess(before, after);
  for (const path of access.lost)
    candidates.push({ path, kind: "open", top: path, before: undefined, after: undefined });
  return { candidates, stats, notes: [...notesOfLimits(before), ...access.notes, ...notes] };
}

const contentOf = (side: Seen | null): Blob | null | undefined => (side === null ? null : (side.blob ?? undefined));

/** It is there, or may be, although the second look did not see it. */
const isStillThere = (root: Root, { shut }: Look, path: RelPath): boolean =>
  isBelow(shut, path) || root.statOrNull(path) !== null;

function* differingNames(root: Root, before: Look, after: Look): Steps<readonly EffectCandidate[]> {
  const differing: EffectCandidate[] = [];
  for (const [path, { kind, top }] of before.named) {
    yield;
    const isKnown = after.named.has(path) || after.seen.has(path) || isStillThere(root, after, path);
    if (!isKnown) differing.push({ path, kind, top, before: undefined, after: null });
  }
  for (const [path, { kind, top }] of after.named) {
    yield;
    if (!before.named.has(path)) differing.push({ path, kind, top, before: null, after: undefined });
  }
  return differing;
}

function notesOfLimits({ seen, named }: Look): readonly string[] {
  if (![...named.values()].some(({ kind }) => kind === "open")) return [];
  return [`there are more than ${seen.size} files here: a change inside one of the others is not seen`];
}

const isUnchanged = ({ before, after }: EffectCandidate): boolean =>
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
  const cacheOf = foldCaches(candidates);
  const crowded = findCrowded(candidates);
  /** What stands for a candidate: a cache, what is carried, or a path with too many below it; null: itself. */
  const foldOf = ({ path, kind, top }: EffectCandidate): RelPath | null =>
    cacheOf(path) ?? (kind === "carried" || (kind === "ignored" && crowded.has(top)) ? top : null);
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
    const { path, kind, before, after } = each;
    const fold = foldOf(each);
    if (isUnchanged(each)) continue;
    if (isClosedKind(kind)) refuse(each);
    else if (fold !== null) carry(each, fold, true);
    else if (before === undefined || after === undefined) carry(each, path, kind === "ignored");
    // The removal of what the run did not make is shown and judged like any other.
    else changes.push({ path, before, after, from: null, isIgnored: kind === "ignored" && !isLost(each) });
  }
  return { changes, carried: [...carried.values()], refused, notes: withinLimit(notes) };
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
  for (const each of candidates)
    if (each.kind === "ignored" && !isUnchanged(each)) counts.set(each.top, (counts.get(each.top) ?? 0) + 1);
  return new Set([...counts].flatMap(([top, count]) => (count > maxListed ? [top] : [])));
}
