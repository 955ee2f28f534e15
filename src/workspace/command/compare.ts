/** Finds what a command changed: compares the workspace before and after it, by identity first, then by bytes. */
import type { PathRules } from "../../core/names.ts";
import { parentOf, type RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { compareCodePoints } from "../name-order.ts";
import { showName } from "../parse-path.ts";
import { type Found, walkLooks } from "../scan.ts";
import type { Stat } from "../system/stat.ts";
import { isClosedName } from "./closed-files.ts";
import { compareAccess, isBelow, reopenFolder } from "./folder-modes.ts";
import { foldIgnored } from "./ignored-folders.ts";
import { type Comparison, openComparison, readBlob, statOrNull } from "./kept.ts";
import { openSeen, type Seen } from "./seen.ts";

/** The workspace's content at one moment, without ignored and denied files. */
export interface Snapshot {
  readonly seen: ReadonlyMap<RelPath, Seen>;
  /** Ignored or denied paths; only their existence is known. null: there are too many. */
  readonly hidden: ReadonlySet<RelPath> | null;
  /** Those of `hidden` to look into; if they are too many, only those whose name makes them closed. */
  readonly watched: ReadonlySet<RelPath>;
  /** Whether there were more files than the limit for kept content. */
  readonly partial: boolean;
  /** The last path that was looked at individually; null: all were. */
  readonly last: RelPath | null;
  /** State of folders whose paths come after `last`; it changes when an entry is added or removed. */
  readonly stamps: ReadonlyMap<RelPath, string>;
  /** Folders that could not be entered. */
  readonly shut: ReadonlySet<RelPath>;
  /** Folders that got their mode back before they were looked into. */
  readonly reopened: readonly RelPath[];
}

export interface KeepLimits {
  readonly files: number;
  readonly totalBytes: number;
  readonly fileBytes: number;
  /** Bytes of a file that was kept before and has grown; all such files together may have four times as many. */
  readonly changedBytes: number;
  /** Number of paths that are looked at individually. */
  readonly paths: number;
}

export interface SnapshotOptions {
  readonly limits?: KeepLimits;
  /** Aborts the look, which then throws its reason. */
  readonly signal?: AbortSignal | undefined;
  /** After this signal only files that can be restored are looked at. */
  readonly hurry?: AbortSignal | undefined;
  /** Gives folders their earlier mode back that can no longer be looked into. */
  readonly reopens?: boolean;
}

const keepLimits: KeepLimits = {
  files: 20_000,
  totalBytes: 64 * 1024 * 1024,
  fileBytes: 1024 * 1024,
  changedBytes: 64 * 1024 * 1024,
  paths: 120_000,
};
const maxNotes = 20;
const pauseMs = 20;

/** Looks at the whole workspace; reuses the content in `earlier` for unchanged files. */
export async function takeSnapshot(
  root: Root,
  rules: PathRules,
  earlier: Snapshot | null,
  { limits = keepLimits, signal, hurry, reopens = false }: SnapshotOptions = {},
): Promise<Snapshot> {
  const taker = openTaker(root, rules, earlier, { limits, reopens });
  signal?.throwIfAborted();
  let pause = performance.now();
  for (const found of walkLooks(root, rules, taker.hide, settleBy(earlier), taker.omit)) {
    if (performance.now() - pause > pauseMs) {
      await Bun.sleep(0);
      signal?.throwIfAborted();
      pause = performance.now();
    }
    if (found !== null && taker.take(found) === "behind" && hurry?.aborted) return taker.endEarly();
  }
  return taker.end();
}

/**
 * Of a path that was there before, the earlier look decides: ignore rules that changed since neither make a file look
 * new nor hide it.
 */
const settleBy =
  (earlier: Snapshot | null) =>
  (path: RelPath, isIgnored: boolean): boolean =>
    isIgnored ? earlier?.seen.has(path) !== true : earlier?.hidden?.has(path) === true;

function openTaker(
  root: Root,
  rules: PathRules,
  earlier: Snapshot | null,
  { limits, reopens }: { readonly limits: KeepLimits; readonly reopens: boolean },
) {
  const seen = openSeen(earlier);
  const hidden = new Set<RelPath>();
  const closedBehind = new Set<RelPath>();
  const stamps = new Map<RelPath, string>();
  const shut = new Set<RelPath>();
  const reopened: RelPath[] = [];
  let last: RelPath | null = null;
  let bytes = 0;
  let changed = 0;
  let isBehind = false;

  /** The stat of a folder, once it can be looked into again. */
  const reopen = (folder: RelPath, was: Stat | null | undefined, look: () => Stat | null): Stat | null => {
    const now = look();
    if (!reopens || now === null || !reopenFolder(root, folder, was, now)) return now;
    reopened.push(folder);
    return look();
  };
  const lookAt = ({ path, kind }: Found["entry"], look: () => Stat | null): Stat | null => {
    // What could not be seen before must not look new.
    if (earlier !== null && isBelow(earlier.shut, path)) return null;
    return kind === "folder" ? reopen(path, earlier?.seen.get(path)?.stat, look) : look();
  };

  const stamp = (folder: RelPath) => {
    if (stamps.has(folder)) return;
    const stat = statOrNull(root, folder);
    stamps.set(folder, stat === null ? "" : `${stat.ino} ${stat.mtimeNs}`);
  };
  /** The second snapshot ends at the same path as the first, whatever was added or removed before that path. */
  const isOver = (path: RelPath): boolean =>
    earlier === null ? seen.count() >= limits.paths : earlier.last !== null && compareWalk(path, earlier.last) > 0;

  const end = (): Snapshot => ({
    seen: seen.end(),
    hidden: hidden.size > limits.paths ? null : hidden,
    watched:
      hidden.size > limits.paths
        ? new Set([...[...hidden].filter((path) => isClosedName(path, rules)), ...closedBehind])
        : hidden,
    partial: seen.count() > limits.files,
    last: earlier === null ? (isBehind ? last : null) : earlier.last,
    stamps,
    shut,
    reopened,
  });

  const kept = (path: RelPath) => {
    last = path;
    return "kept" as const;
  };

  return {
    hide(path: RelPath) {
      if (hidden.size <= limits.paths) hidden.add(path);
      else if (closedBehind.size < limits.paths && isClosedName(path, rules)) closedBehind.add(path);
    },
    omit(path: RelPath, why: "unreadable" | "unnameable") {
      if (why === "unreadable") shut.add(path);
    },
    /** `behind`: the path comes after the last one that is looked at individually. */
    take({ entry, look, read }: Found): "behind" | "kept" | "gone" {
      const { path } = entry;
      isBehind ||= isOver(path);
      if (isBehind) {
        stamp(parentOf(path));
        return "behind";
      }
      const stat = lookAt(entry, look);
      if (stat === null) return "gone";
      const room = seen.count() < limits.files ? Math.min(limits.fileBytes, limits.totalBytes - bytes) : -1;
      // A file that was kept before the command needs its new content too, to be restored safely.
      const isKnown = earlier?.seen.get(path)?.blob?.kind === "file";
      const maxBytes = isKnown
        ? Math.max(room, Math.min(limits.changedBytes, 4 * limits.changedBytes - changed))
        : room;
      const { blob } = seen.add(path, stat, () => readBlob(stat, maxBytes, read));
      if (blob?.kind !== "file") return kept(path);
      if (blob.bytes.length > room) changed += blob.bytes.length;
      else bytes += blob.bytes.length;
      return kept(path);
    },
    end,
    /** Paths that were not reached count as unchanged. */
    endEarly(): Snapshot {
      const ended = end();
      const { hidden: theirs = null, watched = ended.watched, stamps: before = stamps } = earlier ?? {};
      return { ...ended, hidden: theirs, watched, stamps: before };
    },
  };
}

/** The order of a walk: a folder before its content, siblings by code point. */
function compareWalk(a: RelPath, b: RelPath): number {
  const [one, other] = [a.split("/"), b.split("/")];
  for (const [at, part] of one.entries()) {
    const against = other[at];
    if (against === undefined) return 1;
    if (part !== against) return compareCodePoints(part, against);
  }
  return one.length - other.length;
}

export interface SnapshotComparison extends Comparison {
  /** Ignored or denied paths that were added or removed. */
  readonly stays: readonly RelPath[];
  readonly went: readonly RelPath[];
  /** Earlier modes of folders whose mode differs. */
  readonly modes: ReadonlyMap<RelPath, number>;
}

/**
 * Changes from one snapshot to the next; notes describe those whose content was not kept. `isKnown`: paths that are
 * compared elsewhere.
 */
export function compareSnapshots(
  before: Snapshot,
  after: Snapshot,
  isKnown: (path: RelPath) => boolean = () => false,
): SnapshotComparison {
  const { changes: all, traits, notes, unkept, compare } = openComparison("cannot be taken back");
  if (before.seen !== after.seen) {
    for (const [path, old] of before.seen) {
      const now = after.seen.get(path) ?? null;
      if (!isKnown(path) && (now !== null || !isBelow(after.shut, path))) compare(path, old, now);
    }
    for (const [path, now] of after.seen) if (!before.seen.has(path) && !isKnown(path)) compare(path, null, now);
  }
  const { came: single, went } = compareHidden(before, after, isKnown);
  const { changes, came } = foldIgnored(all, single);
  const access = compareAccess(before, after);
  unkept.push(...access.lost.map((path) => ({ path, isGone: false, isIgnored: false })));
  notes.push(
    ...access.notes,
    ...came.map((path) => `${showName(path)} is new and ignored, so it stays`),
    ...went.map((path) => `${showName(path)} was ignored and is gone, and cannot be brought back`),
    ...compareStamps(before, after),
  );
  const { modes } = access;
  return { changes, traits, notes: withinLimit(notes, before, after), unkept, stays: [...came, ...went], went, modes };
}

/** Hidden paths that are new; none if there are too many to know. */
export const findNewHidden = (before: Snapshot, after: Snapshot): ReadonlySet<RelPath> =>
  new Set(compareHidden(before, after, () => false).came);

function compareHidden(before: Snapshot, after: Snapshot, isKnown: (path: RelPath) => boolean) {
  const only = ({ hidden: one }: Snapshot, { hidden: other, shut }: Snapshot) => {
    const isMissing = (path: RelPath) => other?.has(path) === false && !isBelow(shut, path);
    return one === null || other === null ? [] : [...one].filter((path) => isMissing(path) && !isKnown(path));
  };
  return { came: only(after, before), went: only(before, after) };
}

function compareStamps(before: Snapshot, after: Snapshot): readonly string[] {
  const folders = new Set([...before.stamps.keys(), ...after.stamps.keys()]);
  return [...folders]
    .sort(compareWalk)
    .filter((folder) => before.stamps.get(folder) !== after.stamps.get(folder))
    .map((folder) => `files came or went in ${showName(folder) || "the root"}, which cannot be taken back`);
}

function withinLimit(notes: readonly string[], before: Snapshot, after: Snapshot): string[] {
  const shown =
    notes.length > maxNotes ? [...notes.slice(0, maxNotes), `and ${notes.length - maxNotes} more`] : [...notes];
  if (before.last !== null) {
    const why = `there are more than ${before.seen.size} files here: of the others only folders were compared, so a change inside one of them is not seen`;
    return [...shown, why];
  }
  const why = "there are too many files here to keep all: some changes of commands cannot be taken back";
  return before.partial || after.partial ? [...shown, why] : shown;
}
