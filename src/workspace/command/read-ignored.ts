/** What a command did in ignored paths of its layer: small files become changes, the rest is brought over as it is. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { Blob, Change } from "../../core/change.ts";
import { sameBlob } from "../../core/change.ts";
import type { RelPath } from "../../core/path.ts";
import type { Steps } from "../../core/steps.ts";
import type { Root } from "../confine.ts";
import { joinPath, nameOf, parentOf } from "../parse-path.ts";
import { isHidden, judgePath, type PathRules } from "../path-policy.ts";
import { isBuiltFolder, isCache, isPassing } from "./built-names.ts";
import { blobOf } from "./kept.ts";
import { isDeletion, isOpaqueFolder, lookAt, namesIn } from "./layer.ts";

export interface IgnoredWork {
  /** Small files that it made, changed or removed: kept for the way back. */
  readonly kept: readonly Change[];
  /** Brought over as they are: what tools make, and what is too much to be kept. */
  readonly carried: readonly RelPath[];
  /** What was there before, and is gone for good when these paths are brought over; each is, or is below, a carried one. */
  readonly lost: readonly RelPath[];
  /** Files whose times are those of the layer. */
  readonly timed: readonly RelPath[];
}

export interface IgnoredLimits {
  readonly files: number;
  readonly bytes: number;
  readonly fileBytes: number;
}

export interface IgnoredParts {
  readonly root: Root;
  readonly rules: PathRules;
  readonly upper: string;
  /** When the command began, by the clock of the file system. */
  readonly begunNs: bigint;
  /** Paths that the run itself has made. */
  readonly brought: ReadonlySet<RelPath>;
}

/** Of one command. More is brought over, and said. */
export const ignoredLimits: IgnoredLimits = { files: 300, bytes: 16 * 2 ** 20, fileBytes: 4 * 2 ** 20 };

/** Thrown in here alone: there is too much below a path to be kept. */
const tooMuch = Symbol("too much");

interface Room {
  files: number;
  bytes: number;
  readonly fileBytes: number;
}

/** Reads topmost ignored paths of a layer one after another; each `yield` is a place for a pause. */
export function* readIgnored(
  parts: IgnoredParts,
  topmost: readonly RelPath[],
  limits: IgnoredLimits = ignoredLimits,
): Steps<IgnoredWork> {
  const all: IgnoredWork[] = [];
  const room: Room = { ...limits };
  for (const path of topmost) {
    const reader = openReader(parts, { ...room });
    try {
      yield* reader.read(path);
      all.push(reader.end());
      Object.assign(room, reader.room);
    } catch (thrown) {
      if (thrown !== tooMuch) throw thrown;
      const lost: RelPath[] = [];
      yield* noteRemoved(parts, path, lost);
      all.push({ kept: [], carried: [path], lost, timed: [] });
    }
  }
  return {
    kept: all.flatMap(({ kept }) => kept),
    carried: all.flatMap(({ carried }) => carried),
    lost: all.flatMap(({ lost }) => lost),
    timed: all.flatMap(({ timed }) => timed),
  };
}

/** One path that is too large is brought over by itself; too much in all, and the whole of the topmost path is. */
function openReader({ root, rules, upper, begunNs, brought }: IgnoredParts, room: Room) {
  const [kept, carried, lost, timed]: [Change[], RelPath[], RelPath[], RelPath[]] = [[], [], [], []];

  const take = (size: number) => {
    room.bytes -= size;
    if (room.bytes < 0) throw tooMuch;
  };
  /** undefined: it cannot be kept. */
  const before = (path: RelPath): Blob | null | undefined => {
    const stat = lookAt(root, path);
    if (stat === null) return null;
    if (stat.kind === "folder") return { kind: "folder", mode: stat.mode };
    if (stat.kind === "link") return { kind: "link", target: stat.target ?? "" };
    // What somebody else writes at the same time is not to be put back under their hands.
    if (stat.kind !== "file" || stat.size > room.fileBytes || stat.ctimeNs > begunNs) return undefined;
    take(stat.size);
    return blobOf(root, path, stat, room.fileBytes) ?? undefined;
  };
  const after = (at: string, stat: Stats): Blob | undefined => {
    if (stat.isSymbolicLink()) return { kind: "link", target: readlinkSync(at) };
    if (!stat.isFile() || stat.size > room.fileBytes) return undefined;
    take(stat.size);
    return { kind: "file", bytes: readFileSync(at), mode: stat.mode & 0o777 };
  };
  const note = (path: RelPath, old: Blob | null, now: Blob | null) => {
    if (now?.kind === "file") timed.push(path);
    if (sameBlob(old, now)) return;
    if (--room.files < 0) throw tooMuch;
    kept.push({ path, before: old, after: now, from: null });
  };
  const isFolder = (path: RelPath) => lookAt(root, path)?.kind === "folder";

  function* remove(path: RelPath): Steps<void> {
    yield;
    const stat = lookAt(root, path);
    if (stat === null) return;
    const isOther = isUnkept(path, stat.kind === "folder", rules);
    if (!isOther && stat.kind === "folder") yield* removeAll(path);
    const old = isOther ? undefined : before(path);
    if (old !== undefined) return note(path, old, null);
    carried.push(path);
    if (isLoss(path, brought)) lost.push(path);
  }
  function* removeAll(folder: RelPath, but: ReadonlySet<string> = new Set()): Steps<void> {
    for (const name of readNames(root, folder)) if (!but.has(name)) yield* remove(joinPath(folder, name));
  }
  function* readFolder(path: RelPath, at: string, mode: number): Steps<void> {
    const names = readdirSync(at).sort();
    // A name that is not UTF-8 can only be brought over with its folder.
    if (names.some((name) => name.includes("\ufffd"))) throw tooMuch;
    if (!isFolder(path)) {
      const old = before(path);
      if (old === undefined) throw tooMuch;
      note(path, old, { kind: "folder", mode: mode & 0o777 });
    } else if (isOpaqueFolder(at)) yield* removeAll(path, new Set(names));
    for (const name of names) yield* read(joinPath(path, name));
  }
  function* readContent(path: RelPath, at: string, stat: Stats): Steps<void> {
    if (isFolder(path)) yield* removeAll(path);
    const now = after(at, stat);
    const old = now === undefined ? undefined : before(path);
    if (now === undefined || old === undefined) carried.push(path);
    else note(path, old, now);
  }
  function* read(path: RelPath): Steps<void> {
    yield;
    const at = join(upper, path);
    const stat = lstatSync(at, { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (isDeletion(stat)) return yield* remove(path);
    if (isUnkept(path, stat.isDirectory(), rules) || isPassing(nameOf(path))) carried.push(path);
    else if (stat.isDirectory()) yield* readFolder(path, at, stat.mode);
    // A file that steers is among the changes that are judged.
    else if (judgePath(path, "write", rules).verdict === "allow") yield* readContent(path, at, stat);
  }
  return { read, room, end: (): IgnoredWork => ({ kept, carried, lost, timed }) };
}

/** What is gone from a path that is brought over as a whole. */
function* noteRemoved(parts: IgnoredParts, path: RelPath, lost: RelPath[]): Steps<void> {
  const { root, upper, brought } = parts;
  yield;
  const at = join(upper, path);
  const stat = lstatSync(at, { throwIfNoEntry: false });
  if (stat === undefined || isPassing(nameOf(path))) return;
  const isGone = isDeletion(stat);
  if (isGone && lookAt(root, path) !== null && isLoss(path, brought)) lost.push(path);
  if (isGone || !stat.isDirectory() || isBuiltFolder(nameOf(path))) return;
  const names = readdirSync(at);
  const below = isOpaqueFolder(at) ? readNames(root, path).filter((name) => !names.includes(name)) : [];
  lost.push(...below.map((name) => joinPath(path, name)).filter((each) => isLoss(each, brought)));
  for (const name of names) yield* noteRemoved(parts, joinPath(path, name), lost);
}

const partsOf = (path: RelPath) => path.split("/");

/** The policy forbids to keep it, or a tool can make it again. */
const isUnkept = (path: RelPath, isFolder: boolean, rules: PathRules): boolean =>
  isHidden(parentOf(path), nameOf(path), rules) ||
  partsOf(isFolder ? path : parentOf(path)).some((name) => isBuiltFolder(name));

/**
 * Nothing is lost with a file in a folder that a tool fills, or one that the run has made; the folder as a whole is a
 * loss.
 */
export function isLoss(path: RelPath, brought: ReadonlySet<RelPath>): boolean {
  if (isPassing(nameOf(path)) || isCache(nameOf(path))) return false;
  if (partsOf(parentOf(path)).some((name) => isBuiltFolder(name))) return false;
  for (let at = path; at !== ""; at = parentOf(at)) if (brought.has(at)) return false;
  return true;
}

/** Throws when one of them cannot be named. */
function readNames(root: Root, folder: RelPath): readonly string[] {
  const names = namesIn(root, folder);
  if (names.some((name) => name.includes("\ufffd"))) throw tooMuch;
  return names;
}
