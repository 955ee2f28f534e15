/** Reads the ignored paths that a command changed: small files become changes, the rest is carried over as it is. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { Blob, Change } from "../../core/change.ts";
import { sameBlob } from "../../core/change.ts";
import { classOf, closedNameIn, isBuiltFolder, isCache, isTransient, type PathRules } from "../../core/names.ts";
import { joinPath, nameOf, parentOf, type RelPath } from "../../core/path.ts";
import type { Steps } from "../../core/steps.ts";
import type { Root } from "../confine.ts";
import { blobOf, statOrNull } from "./kept.ts";
import { isDeletion, isOpaqueFolder, namesIn } from "./layer.ts";

export interface IgnoredWork {
  /** Small files that the command changed; kept so that they can be restored. */
  readonly kept: readonly Change[];
  /** Carried over without a copy: what tools generate, and what is too large to keep. */
  readonly carried: readonly RelPath[];
  /** Existing paths that are lost for good once `carried` is applied; each is, or lies below, a carried one. */
  readonly lost: readonly RelPath[];
  /** Files that get the times they have in the layer. */
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
  /** Paths that the run itself has created. */
  readonly brought: ReadonlySet<RelPath>;
}

/** Limits for one command. What exceeds them is carried over and reported. */
const ignoredLimits: IgnoredLimits = { files: 300, bytes: 16 * 2 ** 20, fileBytes: 4 * 2 ** 20 };

/** Thrown and caught in this file: there is too much below a path to keep. */
const tooMuch = Symbol("too much");

interface Room {
  files: number;
  bytes: number;
  readonly fileBytes: number;
}

/** Reads the topmost ignored paths of a layer in turn; yields between entries, so that others may run. */
export function* readIgnored(parts: IgnoredParts, topmost: readonly RelPath[]): Steps<IgnoredWork> {
  const all: IgnoredWork[] = [];
  const room: Room = { ...ignoredLimits };
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

/** A path that is too large is carried over by itself; if all together are too large, the whole topmost path is. */
function openReader({ root, rules, upper, begunNs, brought }: IgnoredParts, room: Room) {
  const [kept, carried, lost, timed]: [Change[], RelPath[], RelPath[], RelPath[]] = [[], [], [], []];

  const take = (size: number) => {
    room.bytes -= size;
    if (room.bytes < 0) throw tooMuch;
  };
  /** The content in the workspace; undefined: it cannot be kept. */
  const before = (path: RelPath): Blob | null | undefined => {
    const stat = statOrNull(root, path);
    if (stat === null) return null;
    if (stat.kind === "folder") return { kind: "folder", mode: stat.mode };
    if (stat.kind === "link") return { kind: "link", target: stat.target ?? "" };
    // A file that somebody else writes at the same time must not be restored over their work.
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
  const isFolder = (path: RelPath) => statOrNull(root, path)?.kind === "folder";

  function* remove(path: RelPath): Steps<void> {
    yield;
    const stat = statOrNull(root, path);
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
    // A name that is not UTF-8 can only be carried over with its folder.
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
    if (isUnkept(path, stat.isDirectory(), rules) || isTransient(nameOf(path))) carried.push(path);
    else if (stat.isDirectory()) yield* readFolder(path, at, stat.mode);
    // A steering file is already among the changes that are judged.
    else if (!["asked", "closed"].includes(classOf(path, rules))) yield* readContent(path, at, stat);
  }
  return { read, room, end: (): IgnoredWork => ({ kept, carried, lost, timed }) };
}

/** Notes what a path that is carried over as a whole removes. */
function* noteRemoved(parts: IgnoredParts, path: RelPath, lost: RelPath[]): Steps<void> {
  const { root, upper, brought } = parts;
  yield;
  const at = join(upper, path);
  const stat = lstatSync(at, { throwIfNoEntry: false });
  if (stat === undefined || isTransient(nameOf(path))) return;
  const isGone = isDeletion(stat);
  if (isGone && statOrNull(root, path) !== null && isLoss(path, brought)) lost.push(path);
  if (isGone || !stat.isDirectory() || isBuiltFolder(nameOf(path))) return;
  const names = readdirSync(at);
  const below = isOpaqueFolder(at) ? readNames(root, path).filter((name) => !names.includes(name)) : [];
  lost.push(...below.map((name) => joinPath(path, name)).filter((each) => isLoss(each, brought)));
  for (const name of names) yield* noteRemoved(parts, joinPath(path, name), lost);
}

const partsOf = (path: RelPath) => path.split("/");

/** Whether no copy may be kept (the policy forbids it) or none is needed (a tool can generate it again). */
const isUnkept = (path: RelPath, isFolder: boolean, rules: PathRules): boolean =>
  closedNameIn(parentOf(path), nameOf(path), rules, isFolder) !== null ||
  partsOf(isFolder ? path : parentOf(path)).some((name) => isBuiltFolder(name));

/**
 * Whether the removal of a path loses anything. A file in a generated folder, or in one that the run has made, is no
 * loss; the folder as a whole is.
 */
export function isLoss(path: RelPath, brought: ReadonlySet<RelPath>): boolean {
  if (isTransient(nameOf(path)) || isCache(nameOf(path))) return false;
  if (partsOf(parentOf(path)).some((name) => isBuiltFolder(name))) return false;
  for (let at = path; at !== ""; at = parentOf(at)) if (brought.has(at)) return false;
  return true;
}

/** Throws when a name is not UTF-8. */
function readNames(root: Root, folder: RelPath): readonly string[] {
  const names = namesIn(root, folder);
  if (names.some((name) => name.includes("\ufffd"))) throw tooMuch;
  return names;
}
