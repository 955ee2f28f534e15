/** Reads the upper layer of an overlay: which changes a command made, and which of the changed paths are ignored. */
import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { Blob, Change } from "../../core/change.ts";
import { sameBlob } from "../../core/change.ts";
import { PaiError } from "../../core/error.ts";
import { classOf, closedNameIn, isToolName, isTransient, type PathRules } from "../../core/names.ts";
import { joinPath, nameOf, type RelPath } from "../../core/path.ts";
import type { Steps } from "../../core/steps.ts";
import type { Root } from "../confine.ts";
import { pace } from "../pace.ts";
import { showName } from "../parse-path.ts";
import { inside } from "../scan.ts";
import { type Ignored, openIgnored } from "./ignored.ts";
import { statOrNull } from "./kept.ts";
import { isDeletion, isOpaqueFolder, namesIn } from "./layer.ts";
import { type LayerLimits, layerLimits, openCount } from "./layer-limits.ts";
import { type IgnoredWork, readIgnored } from "./read-ignored.ts";

export interface LayerContent {
  /** Of ignored paths it holds only steering files and unexpected removals. */
  readonly changes: readonly Change[];
  readonly ignored: IgnoredWork;
  /** Changed paths that the policy denies. */
  readonly denied: readonly RelPath[];
  readonly notes: readonly string[];
}

export interface LayerParts {
  readonly root: Root;
  readonly rules: PathRules;
  readonly upper: string;
  /** The changes that were put into the layer before the command ran. */
  readonly staged: readonly Change[];
  /** The changes of the run before this command. */
  readonly earlier: readonly Change[];
  /** When the command began, by the clock of the file system. */
  readonly begunNs: bigint;
  /** Paths that earlier commands of the run added and that did not exist before. */
  readonly brought: ReadonlySet<RelPath>;
  /** Whether `.git` may be written. */
  readonly git: boolean;
  readonly signal: AbortSignal;
}

/**
 * `open`: every difference is a change; `ignored`: only steering files and hidden repositories are; `foreign`: entries
 * are only counted, since their content is others' work.
 */
type Reach = "open" | "ignored" | "foreign";

interface Level {
  readonly folder: RelPath;
  readonly reach: Reach;
  /** null: the folder is new, so no ignore rules of the project apply in it. */
  readonly ignored: Ignored | null;
  /** The layer hides the workspace's content of this folder. */
  readonly isOpaque: boolean;
}

/** One name of the layer. */
interface Found {
  readonly path: RelPath;
  readonly at: string;
  readonly stat: Stats;
  readonly isGone: boolean;
}

/** Fetched or generated folders, which are not looked into: packages contain steering files of their own authors. */
const foreignNames = /^(?:node_modules|bower_components|vendor|target|site-packages|\.tox|\.nox)$/;

/**
 * Throws io_failed when a limit is exceeded, conflict when somebody else changed a file meanwhile, and the signal's
 * reason.
 */
export async function readLayer(parts: LayerParts, limits: LayerLimits = layerLimits): Promise<LayerContent> {
  const reader = openReader(parts, limits);
  return pace(readAll(parts, reader), parts.signal);
}

function* readAll(parts: LayerParts, reader: ReturnType<typeof openReader>): Steps<LayerContent> {
  const ignored = openIgnored(parts.root, parts.earlier);
  const waiting: Level[] = [{ folder: "" as RelPath, reach: "open", ignored, isOpaque: false }];
  for (let level = waiting.pop(); level !== undefined; level = waiting.pop()) {
    yield* reader.read(level, waiting);
  }
  const { topmost, ...content } = reader.end();
  const made = new Set(parts.brought);
  for (const { path, before } of parts.earlier) if (before === null) made.add(path);
  const work = yield* readIgnored({ ...parts, brought: made }, topmost);
  // The removal of a path that existed before the run is judged and shown like any other.
  const removed = work.kept.filter(
    ({ path, after }) => after === null && !made.has(path) && !isTransient(nameOf(path)),
  );
  const kept = work.kept.filter((change) => !removed.includes(change));
  return { ...content, changes: [...content.changes, ...removed], ignored: { ...work, kept } };
}

/** How a path is read; null: the policy denies it. */
function reachOf(
  { reach, folder, ignored }: Level,
  name: string,
  isFolder: boolean,
  { root, rules, git }: Pick<LayerParts, "root" | "rules" | "git">,
): Reach | null {
  if (reach === "foreign") return "foreign";
  const kind = closedNameIn(folder, name, rules, isFolder);
  if (kind === "repository") return git ? "foreign" : null;
  if (reach === "open" && kind !== null) return null;
  const isNew = () => statOrNull(root, joinPath(folder, name)) === null;
  if (reach === "open" && ignored?.ignores(name, isFolder, isNew) !== true) return "open";
  return foreignNames.test(name) || isToolName(name, isFolder) ? "foreign" : "ignored";
}

function openReader({ root, rules, upper, staged, begunNs, git }: LayerParts, limits: LayerLimits) {
  const changes: Change[] = [];
  const ignored: RelPath[] = [];
  const denied: RelPath[] = [];
  const notes: string[] = [];
  const seen = new Set<RelPath>();
  const onTop = new Map(staged.map(({ path, after }) => [path, after]));
  const count = openCount(limits);

  const before = (path: RelPath): Blob | null => {
    const top = onTop.get(path);
    if (top !== undefined) return top;
    const stat = statOrNull(root, path);
    if (stat === null) return null;
    if (stat.ctimeNs > begunNs && stat.kind !== "folder") throw changedMeanwhile(path);
    if (stat.kind === "folder") return { kind: "folder", mode: stat.mode };
    if (stat.kind === "link") return { kind: "link", target: stat.target ?? "" };
    const file = root.readBytes(path, limits.kept);
    if (file === null) return null;
    count.keep(file.bytes.length);
    return { kind: "file", bytes: file.bytes, mode: file.stat.mode };
  };
  const note = (path: RelPath, after: Blob | null): void => {
    const old = before(path);
    if (!sameBlob(old, after)) changes.push({ path, before: old, after, from: null });
  };
  /** Whether the folder was made only to hold staged files. */
  const isStagedFolder = (path: RelPath) =>
    [...onTop].some(([each, after]) => after !== null && each.startsWith(`${path}/`));
  const removeBelow = (folder: RelPath): void => {
    for (const each of inside(root, folder)) if (!onTop.has(each)) note(each, null);
  };
  const remove = (path: RelPath): void => {
    const stat = statOrNull(root, path);
    if (stat === null && !onTop.has(path)) return;
    if (stat?.kind === "folder") removeBelow(path);
    note(path, null);
  };
  /** A steering file is a change like any other, wherever it is: the rules of a project must not hide it. */
  const isSteering = (path: RelPath) => classOf(path, rules) === "asked";
  const enter = (level: Level, name: string, path: RelPath, stat: Stats): Level => {
    const lower = level.isOpaque ? null : statOrNull(root, path);
    const isMerged = lower?.kind === "folder" && !isOpaqueFolder(join(upper, path));
    if (lower?.kind !== "folder" && !isStagedFolder(path)) note(path, { kind: "folder", mode: stat.mode & 0o777 });
    return {
      folder: path,
      reach: "open",
      ignored: isMerged ? (level.ignored?.inside(name, namesIn(root, path)) ?? null) : null,
      isOpaque: !isMerged,
    };
  };
  const noteContent = (path: RelPath, at: string, stat: Stats): void => {
    if (statOrNull(root, path)?.kind === "folder") removeBelow(path);
    if (stat.isSymbolicLink()) note(path, { kind: "link", target: readlinkSync(at) });
    else if (stat.isFile()) {
      count.keep(stat.size);
      note(path, { kind: "file", bytes: readFileSync(at), mode: stat.mode & 0o777 });
    } else notes.push(`${showName(path)} is a pipe, socket or device, and was left out`);
  };
  const readOpen = (level: Level, name: string, { path, at, stat, isGone }: Found): readonly Level[] => {
    if (stat.isDirectory()) return [enter(level, name, path, stat)];
    if (isGone) remove(path);
    else noteContent(path, at, stat);
    return [];
  };
  const readIgnored = (reach: Reach, { path, at, stat, isGone }: Found): readonly Level[] => {
    if (stat.isDirectory()) return [{ folder: path, reach, ignored: null, isOpaque: false }];
    if (reach === "ignored" && !isGone && isSteering(path)) noteContent(path, at, stat);
    return [];
  };
  const readEntry = (level: Level, name: string): readonly Level[] => {
    const path = joinPath(level.folder, name);
    const at = join(upper, path);
    const left = lstatSync(at);
    const stat = keepReadable(at, left);
    const isGone = isDeletion(stat);
    const found = { path, at, stat, isGone };
    seen.add(path);
    count.add(path, stat.isFile() ? stat.size : 0);
    const isFolder = stat.isDirectory() || (isGone && statOrNull(root, path)?.kind === "folder");
    const reach = reachOf(level, name, isFolder, { root, rules, git });
    if (reach === "open") {
      if (stat !== left) notes.push(`${showName(path)} was closed to its own user, and stays open`);
      return readOpen(level, name, found);
    }
    if (reach === null) denied.push(path);
    else if (level.reach === "open") ignored.push(path);
    return reach === null ? [] : readIgnored(reach, found);
  };

  return {
    *read(level: Level, waiting: Level[]): Steps<void> {
      const names = readNames(join(upper, level.folder), (name) => {
        if (level.reach !== "open") return;
        notes.push(`${showName(joinPath(level.folder, name))} has a name that is not UTF-8, and was left out`);
      });
      if (level.isOpaque) {
        const there = new Set(names);
        for (const name of namesIn(root, level.folder)) if (!there.has(name)) remove(joinPath(level.folder, name));
      }
      for (const name of names) {
        yield;
        waiting.push(...readEntry(level, name));
      }
    },
    end() {
      // A staged new file that the command removed leaves no trace in the layer.
      const isThere = (path: RelPath) => lstatSync(join(upper, path), { throwIfNoEntry: false }) !== undefined;
      for (const [path, after] of onTop) if (after !== null && !seen.has(path) && !isThere(path)) note(path, null);
      return { changes, topmost: ignored, denied, notes };
    },
  };
}

/** Sorted. Names that are not UTF-8 are passed to `refuse`: no path can hold them. */
function readNames(folder: string, refuse: (name: string) => void): readonly string[] {
  const names: string[] = [];
  for (const raw of readdirSync(folder, { encoding: "buffer" })) {
    const name = raw.toString();
    if (Buffer.from(name).equals(raw)) names.push(name);
    else refuse(name);
  }
  return names.sort();
}

/**
 * Gives the owner access to a path that the command made inaccessible: pai could neither fill nor remove such a folder.
 */
function keepReadable(path: string, stat: Stats): Stats {
  const needed = stat.isDirectory() ? 0o700 : stat.isFile() ? 0o400 : 0;
  if ((stat.mode & needed) === needed) return stat;
  chmodSync(path, (stat.mode & 0o777) | needed);
  return lstatSync(path);
}

const changedMeanwhile = (path: RelPath): PaiError =>
  new PaiError("conflict", `${showName(path)} was changed by someone else while a command worked on it`, {
    hint: "nothing of it was overwritten; run the task again on the new content",
  });
