/** The effects of a command on a copy, as the upper layer of the overlay holds them. */
import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { Blob, Change } from "../../core/change.ts";
import { closedNameIn, isToolName, type PathRules } from "../../core/closed-names.ts";
import { orNull, PaiError } from "../../core/error.ts";
import { joinPath, nameOf, parentOf, type RelPath } from "../../core/path.ts";
import type { Steps } from "../../core/steps.ts";
import { namesIn } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { holdsIgnoreRules, type IgnoreReader, type IgnoreRules, openIgnore } from "../ignore.ts";
import { showName } from "../parse-path.ts";
import { inside } from "../scan.ts";
import { systemCalls } from "../system/system-calls.ts";
import { type EffectKind, effectKindOf } from "./kind.ts";
import { type Candidates, type EffectCandidate, type Mark, readBlob } from "./look.ts";

export interface LayerParts {
  readonly root: Root;
  readonly rules: PathRules;
  readonly upper: string;
  readonly staged: readonly Change[];
  /** Made by the run before this command. */
  readonly earlier: readonly Change[];
  /** When the command began, by the clock of the file system. */
  readonly begunNs: bigint;
  readonly git: boolean;
}

/** Beyond these nothing is taken over. `kept`: bytes of open files, which stay in memory. */
const layerLimits = { entries: 100_000, bytes: 2 * 2 ** 30, kept: 256 * 2 ** 20 };
type LayerLimits = Readonly<typeof layerLimits>;
/** The kernel's 4,096 bytes include the layer's own folder. */
const longestPath = 3000;
/** Of ignored files: beyond these no copy is kept. */
const ignoredLimits = { bytes: 16 * 2 ** 20, fileBytes: 4 * 2 ** 20 } as const;

interface Level extends Mark {
  readonly folder: RelPath;
  readonly isIgnored: boolean;
  readonly ignored: Ignored | null;
  /** The layer hides the workspace's content of this folder. */
  readonly isOpaque: boolean;
}

interface Found {
  readonly path: RelPath;
  readonly at: string;
  readonly stat: Stats;
  readonly mark: Mark;
  readonly isIgnored: boolean;
}

/** The mark of an overlay for a deleted path. */
export const isDeletion = (stat: Stats): boolean => stat.isCharacterDevice() && stat.rdev === 0;

/** Whether it hides the workspace's content at its path. */
export function isOpaqueFolder(path: string): boolean {
  const value = systemCalls()?.readAttribute(path, "user.overlay.opaque") ?? null;
  return value !== null && /^[xy]$/.test(Buffer.from(value).toString("latin1"));
}

/** Throws io_failed beyond a limit, and conflict when somebody else changed an open file meanwhile. */
export function* readLayer(parts: LayerParts, limits: LayerLimits = layerLimits): Steps<Candidates> {
  const reader = openReader(parts, limits);
  const top = "" as RelPath;
  const ignored = openIgnored(parts.root, parts.earlier);
  const waiting: Level[] = [{ folder: top, kind: "open", top, isIgnored: false, ignored, isOpaque: false }];
  for (let level = waiting.pop(); level !== undefined; level = waiting.pop()) yield* reader.read(level, waiting);
  return reader.end();
}

function openReader({ root, rules, upper, staged, begunNs, git }: LayerParts, limits: LayerLimits) {
  const candidates: EffectCandidate[] = [];
  const notes: string[] = [];
  const seen = new Set<RelPath>();
  const onTop = new Map(staged.map(({ path, after }) => [path, after]));
  const count = openCount(limits);
  let ignoredBytes: number = ignoredLimits.bytes;

  /** Bytes of a file that are kept. Throws when open files have too many. */
  const roomFor = (kind: EffectKind, size: number): number => {
    if (kind === "open") count({ kept: size });
    else if (kind !== "ignored" || size > Math.min(ignoredBytes, ignoredLimits.fileBytes)) return -1;
    else ignoredBytes -= size;
    return size;
  };
  const before = (path: RelPath, kind: EffectKind): Blob | null | undefined => {
    const top = onTop.get(path);
    if (top !== undefined) return top;
    const stat = root.statOrNull(path);
    if (stat === null) return null;
    const isChanged = stat.ctimeNs > begunNs && stat.kind !== "folder";
    if (isChanged && kind === "open") throw changedMeanwhile(path);
    const room = isChanged || stat.kind !== "file" ? -1 : roomFor(kind, stat.size);
    return readBlob(stat, room, (limit) => root.readBytes(path, limit)) ?? undefined;
  };
  const after = (at: string, stat: Stats, kind: EffectKind): Blob | undefined => {
    if (stat.isDirectory()) return { kind: "folder", mode: stat.mode & 0o777 };
    if (stat.isSymbolicLink()) return { kind: "link", target: readlinkSync(at) };
    if (!stat.isFile() || roomFor(kind, stat.size) < 0) return undefined;
    return { kind: "file", bytes: readFileSync(at), mode: stat.mode & 0o777 };
  };
  /** Of closed and carried paths the topmost one stands for all. */
  const add = (path: RelPath, { kind, top }: Mark, now: () => Blob | null | undefined): void => {
    if (kind === "open" || kind === "ignored")
      candidates.push({ path, kind, top, before: before(path, kind), after: now() });
    else if (path === top) {
      const was = root.statOrNull(path) === null ? null : undefined;
      candidates.push({ path, kind, top, before: was, after: now() === null ? null : undefined });
    }
  };
  const nothing = () => null;
  const markAt = (path: RelPath, isFolder: boolean, isIgnored: boolean, above: Mark): Mark => {
    const found = isRepository(path, above) ? "repository" : effectKindOf(path, isFolder, isIgnored, above.kind, rules);
    const kind = found === "repository" && git ? "carried" : found;
    return { kind, top: kind === above.kind && kind !== "open" ? above.top : path };
  };

  /** Build output may hide a repository, whose settings run code. */
  const isRepository = (path: RelPath, { kind, top }: Mark): boolean =>
    kind === "carried" &&
    closedNameIn(parentOf(path), nameOf(path), rules, true) === "repository" &&
    !isToolName(nameOf(top), true);

  /** If a folder is open, so is all in it, ignored or not. */
  function* removeBelow(folder: RelPath, mark: Mark): Steps<void> {
    if (mark.kind === "open") {
      for (const path of inside(root, folder)) if (!onTop.has(path)) add(path, { kind: "open", top: path }, nothing);
    } else if (mark.kind === "ignored") {
      for (const name of namesBelow(root, folder)) yield* removeIn(folder, name, mark);
    }
  }
  function* removeIn(folder: RelPath, name: string, above: Mark): Steps<void> {
    const path = joinPath(folder, name);
    const isFolder = root.statOrNull(path)?.kind === "folder";
    yield* remove(path, above.kind === "open" ? { kind: "open", top: path } : markAt(path, isFolder, true, above));
  }
  function* remove(path: RelPath, mark: Mark): Steps<void> {
    yield;
    const stat = root.statOrNull(path);
    if (stat === null && !onTop.has(path)) return;
    if (stat?.kind === "folder") yield* removeBelow(path, mark);
    add(path, mark, nothing);
  }
  const isStagedFolder = (path: RelPath) =>
    [...onTop].some(([each, now]) => now !== null && each.startsWith(`${path}/`));

  const enter = (level: Level, name: string, found: Found): Level => {
    const { path, at, stat, mark, isIgnored } = found;
    const lower = level.isOpaque ? null : root.statOrNull(path);
    const isMerged = lower?.kind === "folder" && !isOpaqueFolder(at);
    const isMade = lower?.kind !== "folder" && !isStagedFolder(path);
    if (isMade || (mark.kind !== "open" && mark.kind !== "ignored")) add(path, mark, () => after(at, stat, mark.kind));
    const ignored = isIgnored ? null : (level.ignored?.inside(name, isMerged ? namesBelow(root, path) : []) ?? null);
    return { ...mark, folder: path, isIgnored, ignored, isOpaque: !isMerged };
  };
  function* readFile({ path, at, stat, mark }: Found): Steps<void> {
    if (!stat.isFile() && !stat.isSymbolicLink()) {
      if (mark.kind === "open") notes.push(`${showName(path)} is a pipe, socket or device, and was left out`);
      return;
    }
    if (root.statOrNull(path)?.kind === "folder") yield* removeBelow(path, mark);
    add(path, mark, () => after(at, stat, mark.kind));
  }
  const look = (level: Level, name: string): Found => {
    const path = joinPath(level.folder, name);
    const at = join(upper, path);
    const left = lstatSync(at);
    const stat = keepReadable(at, left);
    const isFolder = stat.isDirectory() || (isDeletion(stat) && root.statOrNull(path)?.kind === "folder");
    const isNew = () => root.statOrNull(path) === null;
    const isIgnored = level.isIgnored || level.ignored?.ignores(name, isFolder, isNew) === true;
    const mark = markAt(path, isFolder, isIgnored, level);
    if (stat !== left && mark.kind === "open")
      notes.push(`${showName(path)} was closed to its own user, and stays open`);
    return { path, at, stat, mark, isIgnored };
  };
  function* readEntry(level: Level, name: string, waiting: Level[]): Steps<void> {
    const found = look(level, name);
    const { path, stat, mark } = found;
    seen.add(path);
    if (path.length > longestPath) throw tooMuch(`paths of more than ${longestPath} characters`);
    count({ entries: 1, bytes: stat.isFile() ? stat.size : 0 });
    if (stat.isDirectory()) waiting.push(enter(level, name, found));
    else if (isDeletion(stat)) yield* remove(path, mark);
    else yield* readFile(found);
  }

  return {
    *read(level: Level, waiting: Level[]): Steps<void> {
      const names = readNames(join(upper, level.folder), (name) => {
        if (level.kind !== "open") return;
        notes.push(`${showName(joinPath(level.folder, name))} has a name that is not UTF-8, and was left out`);
      });
      const isHiding = level.isOpaque && (level.kind === "open" || level.kind === "ignored");
      const there = new Set(names);
      for (const name of isHiding ? namesBelow(root, level.folder) : [])
        if (!there.has(name)) yield* removeIn(level.folder, name, level);
      for (const name of names) {
        yield;
        yield* readEntry(level, name, waiting);
      }
    },
    end(): Candidates {
      // A staged new file that the command removed leaves no trace in the layer.
      const isThere = (path: RelPath) => lstatSync(join(upper, path), { throwIfNoEntry: false }) !== undefined;
      for (const [path, now] of onTop)
        if (now !== null && !seen.has(path) && !isThere(path)) add(path, { kind: "open", top: path }, nothing);
      return { candidates, notes };
    },
  };
}

function openCount(limits: LayerLimits) {
  const used = { entries: 0, bytes: 0, kept: 0 };
  return (more: Partial<LayerLimits>): void => {
    used.entries += more.entries ?? 0;
    used.bytes += more.bytes ?? 0;
    used.kept += more.kept ?? 0;
    if (used.entries > limits.entries) throw tooMuch(`more than ${limits.entries} files`);
    if (used.bytes > limits.bytes) throw tooMuch(`more than ${limits.bytes / 2 ** 30} GiB`);
    if (used.kept > limits.kept) throw tooMuch(`more than ${limits.kept / 2 ** 20} MiB of files that are not ignored`);
  };
}

const namesBelow = (root: Root, folder: RelPath): readonly string[] => orNull(() => namesIn(root, folder)) ?? [];

/** Sorted. `refuse` gets those that are not UTF-8: no path can hold them. */
function readNames(folder: string, refuse: (name: string) => void): readonly string[] {
  const names: string[] = [];
  for (const raw of readdirSync(folder, { encoding: "buffer" })) {
    const name = raw.toString();
    if (Buffer.from(name).equals(raw)) names.push(name);
    else refuse(name);
  }
  return names.sort();
}

/** pai could neither fill nor remove a folder that the command closed to its owner. */
function keepReadable(path: string, stat: Stats): Stats {
  const needed = stat.isDirectory() ? 0o700 : stat.isFile() ? 0o400 : 0;
  if ((stat.mode & needed) === needed) return stat;
  chmodSync(path, (stat.mode & 0o777) | needed);
  return lstatSync(path);
}

const nothingKept = "nothing that the command changed was kept";

const tooMuch = (what: string): PaiError =>
  new PaiError("io_failed", `the command changed ${what}: ${nothingKept}, and it is not run again`, {
    hint: "let it write to an ignored folder in smaller parts, or run it yourself",
  });

const changedMeanwhile = (path: RelPath): PaiError => {
  const why = "was changed by someone else while a command worked on it";
  const hint = "nothing of it was overwritten; run the task again on the new content";
  return new PaiError("conflict", `${showName(path)} ${why}: ${nothingKept}`, { target: path, hint });
};

/** As they are now and were before the run. */
export interface Ignored {
  /** Rules that the run wrote apply only to new paths: it could hide a change with them. */
  ignores(name: string, isFolder: boolean, isNew: () => boolean): boolean;
  inside(name: string, holds: readonly string[]): Ignored;
}

function openIgnored(root: IgnoreReader, earlier: readonly Change[]): Ignored {
  const written = new Map<RelPath, Blob | null>();
  for (const { path, before } of earlier) if (holdsIgnoreRules(path) && !written.has(path)) written.set(path, before);
  const top = "" as RelPath;
  return withBefore(openIgnore(root, top), written.size === 0 ? null : openIgnore(readBefore(root, written), top));
}

function readBefore(root: IgnoreReader, written: ReadonlyMap<RelPath, Blob | null>): IgnoreReader {
  return {
    readBytes(path, limit) {
      const old = written.get(path);
      if (old === undefined) return root.readBytes(path, limit);
      return old?.kind === "file" && old.bytes.length <= limit ? { bytes: old.bytes } : null;
    },
  };
}

/** `before` null: the run has not changed any ignore rules. */
function withBefore(now: IgnoreRules, before: IgnoreRules | null): Ignored {
  return {
    ignores: (name, isFolder, isNew) =>
      now.ignores(name, isFolder) && (before === null || before.ignores(name, isFolder) || isNew()),
    inside: (name, holds) => withBefore(now.inside(name, holds), before?.inside(name, holds) ?? null),
  };
}
