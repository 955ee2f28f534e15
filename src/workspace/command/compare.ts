/** Finds what a command changed: compares the workspace before and after it, by identity first, then by bytes. */
import type { Blob } from "../../core/change.ts";
import { parentOf, type RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { compareCodePoints } from "../name-order.ts";
import { showName } from "../parse-path.ts";
import type { PathRules } from "../path-policy.ts";
import { type Found, walkLooks } from "../scan.ts";
import type { Stat } from "../system/stat.ts";
import { isClosedName } from "./closed-files.ts";
import { foldIgnored } from "./ignored-folders.ts";
import { type Comparison, isUntouched, type Kept, openComparison, readBlob, statOrNull } from "./kept.ts";

interface Seen extends Kept {
  readonly path: RelPath;
}

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
  { limits = keepLimits, signal, hurry }: SnapshotOptions = {},
): Promise<Snapshot> {
  const taker = openTaker(root, rules, earlier, limits);
  signal?.throwIfAborted();
  let pause = performance.now();
  for (const found of walkLooks(root, rules, taker.hide, settleBy(earlier))) {
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

function openTaker(root: Root, rules: PathRules, earlier: Snapshot | null, limits: KeepLimits) {
  const seen = openSeen(earlier);
  const hidden = new Set<RelPath>();
  const closedBehind = new Set<RelPath>();
  const stamps = new Map<RelPath, string>();
  let last: RelPath | null = null;
  let bytes = 0;
  let changed = 0;
  let isBehind = false;

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
    /** `behind`: the path comes after the last one that is looked at individually. */
    take({ entry: { path }, look, read }: Found): "behind" | "kept" | "gone" {
      isBehind ||= isOver(path);
      if (isBehind) {
        stamp(parentOf(path));
        return "behind";
      }
      const stat = look();
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

/** What was seen, in the order of the walk. Shares equal content with `earlier` to save memory. */
function openSeen(earlier: Snapshot | null) {
  let own: Map<RelPath, Seen> | null = earlier === null ? new Map() : null;
  const theirs = earlier?.seen.values();
  let shared = 0;
  const diverge = (): Map<RelPath, Seen> => {
    if (own !== null) return own;
    own = new Map();
    for (const [path, each] of earlier?.seen ?? []) {
      if (own.size === shared) break;
      own.set(path, each);
    }
    return own;
  };
  return {
    count: () => own?.size ?? shared,
    add(path: RelPath, stat: Stat, read: () => Blob | null): Seen {
      const next = own === null ? theirs?.next().value : undefined;
      if (next?.path === path && isUntouched(next.stat, stat)) {
        shared++;
        return next;
      }
      const known = earlier?.seen.get(path);
      const each = known !== undefined && isUntouched(known.stat, stat) ? known : { path, stat, blob: read() };
      diverge().set(path, each);
      return each;
    },
    end: (): ReadonlyMap<RelPath, Seen> => (own === null && earlier?.seen.size === shared ? earlier.seen : diverge()),
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
    for (const [path, old] of before.seen) if (!isKnown(path)) compare(path, old, after.seen.get(path) ?? null);
    for (const [path, now] of after.seen) if (!before.seen.has(path) && !isKnown(path)) compare(path, null, now);
  }
  const { came: single, went } = compareHidden(before, after, isKnown);
  const { changes, came } = foldIgnored(all, single);
  notes.push(
    ...came.map((path) => `${showName(path)} is new and ignored, so it stays`),
    ...went.map((path) => `${showName(path)} was ignored and is gone, and cannot be brought back`),
    ...compareStamps(before, after),
  );
  return { changes, traits, notes: withinLimit(notes, before, after), unkept, stays: [...came, ...went], went };
}

/** Hidden paths that are new; none if there are too many to know. */
export const findNewHidden = (before: Snapshot, after: Snapshot): ReadonlySet<RelPath> =>
  new Set(compareHidden(before, after, () => false).came);

function compareHidden(before: Snapshot, after: Snapshot, isKnown: (path: RelPath) => boolean) {
  const only = (one: Snapshot["hidden"], other: Snapshot["hidden"]) =>
    one === null || other === null ? [] : [...one].filter((path) => !other.has(path) && !isKnown(path));
  return { came: only(after.hidden, before.hidden), went: only(before.hidden, after.hidden) };
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
