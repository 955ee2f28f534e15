/** One look at a workspace in which a command works: what is there, and the content of what is small. */

import { type Blob, sameBlob } from "../../core/change.ts";
import type { PathRules } from "../../core/closed-names.ts";
import { orNull } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { Steps } from "../../core/steps.ts";
import { sameObject } from "../atomic-write.ts";
import type { ReadFile, Root } from "../confine.ts";
import { type Choose, walkAll } from "../scan.ts";
import { refusedStat, type Stat } from "../system/stat.ts";
import { isBelow, reopenFolder } from "./folder-modes.ts";
import { type EffectKind, effectKindOf, isClosedKind, isOrder } from "./kind.ts";

export interface Mark {
  readonly kind: EffectKind;
  readonly top: RelPath;
}

export interface Seen extends Mark {
  readonly stat: Stat;
  /** null: not kept. */
  readonly blob: Blob | null;
}

export interface Look {
  readonly seen: ReadonlyMap<RelPath, Seen>;
  /** Beyond the limits: only the name is known. */
  readonly named: ReadonlyMap<RelPath, Mark>;
  readonly spared: ReadonlySet<RelPath>;
  readonly shut: ReadonlySet<RelPath>;
  /** Folders that got their mode back. */
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

/** `second` null: before a command. */
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
      if (known === undefined && (isFull(mark.kind) || earlier?.named.has(path) === true)) {
        named.set(path, mark);
        return;
      }
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

export function isSame(old: Seen, now: Seen): boolean {
  if (old === now) return true;
  if (old.stat.kind === "folder" && now.stat.kind === "folder") return true;
  if (isUntouched(old.stat, now.stat)) return true;
  return old.blob !== null && now.blob !== null && sameBlob(old.blob, now.blob);
}

/** As a clause; null: it can be put back, or there is nothing to say but that no copy was kept. */
export function whyUnknown(old: Seen | null, now: Seen | null): string | null {
  if (old?.stat === refusedStat) return "could not be looked at before, so its change cannot be taken back";
  if (now?.stat === refusedStat) return "can no longer be looked at, so its change cannot be taken back";
  const isLost = old !== null && old.blob === null && isClosedKind(old.kind);
  return isLost ? "changed and no copy of it was kept, so it cannot be put back" : null;
}
