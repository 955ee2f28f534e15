/** Reads the upper layer of an overlay: what a command changed, as changes, and what of it is ignored. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { Blob, Change } from "../../core/change.ts";
import { sameBlob } from "../../core/change.ts";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { type IgnoreRules, openIgnore } from "../ignore.ts";
import { joinPath, showName } from "../parse-path.ts";
import { kindOfDenied, type PathRules } from "../policy.ts";
import { inside } from "../scan.ts";
import { systemCalls } from "../system/system-calls.ts";

export interface LayerContent {
  readonly changes: readonly Change[];
  /** Topmost ignored paths, to be brought over as they are. */
  readonly ignored: readonly RelPath[];
  /** Paths that nobody may change. */
  readonly denied: readonly RelPath[];
  readonly notes: readonly string[];
}

export interface LayerParts {
  readonly root: Root;
  readonly rules: PathRules;
  readonly upper: string;
  /** What was put into the layer before the command ran. */
  readonly staged: readonly Change[];
  /** When the command began, by the clock of the file system. */
  readonly begunNs: bigint;
  /** Whether `.git` may be written. */
  readonly git: boolean;
  readonly signal: AbortSignal;
}

/** More than this is not taken over. `kept`: bytes of files that are not ignored, as these stay in memory. */
export interface LayerLimits {
  readonly entries: number;
  readonly bytes: number;
  readonly kept: number;
}

const layerLimits: LayerLimits = { entries: 100_000, bytes: 2 * 2 ** 30, kept: 256 * 2 ** 20 };
const pauseMs = 20;

interface Level {
  readonly folder: RelPath;
  /** null: the folder is new, and no rules of the project hold in it. */
  readonly ignored: IgnoreRules | null;
  /** Nothing of the workspace shows through. */
  readonly isOpaque: boolean;
}

/**
 * Throws io_failed when there is more than pai takes over, conflict when somebody else changed a file meanwhile, and the
 * signal's reason.
 */
export async function readLayer(parts: LayerParts, limits: LayerLimits = layerLimits): Promise<LayerContent> {
  const reader = openReader(parts, limits);
  const waiting: Level[] = [{ folder: "" as RelPath, ignored: openIgnore(parts.root, "" as RelPath), isOpaque: false }];
  let pause = performance.now();
  for (let level = waiting.pop(); level !== undefined; level = waiting.pop()) {
    waiting.push(...reader.read(level));
    if (performance.now() - pause < pauseMs) continue;
    await Bun.sleep(0);
    parts.signal.throwIfAborted();
    pause = performance.now();
  }
  return reader.end();
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
    const stat = lookAt(root, path);
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
  /** Made for what was staged below it. */
  const isStagedFolder = (path: RelPath) =>
    [...onTop].some(([each, after]) => after !== null && each.startsWith(`${path}/`));
  const remove = (path: RelPath): void => {
    const stat = lookAt(root, path);
    if (stat === null && !onTop.has(path)) return;
    if (stat?.kind === "folder") for (const each of inside(root, path)) if (!onTop.has(each)) note(each, null);
    note(path, null);
  };
  /** True when the path is not for us to look into. */
  const isSettled = (level: Level, name: string, path: RelPath, isFolder: boolean): boolean => {
    const kind = kindOfDenied(level.folder, name, rules);
    const isTools = kind === "tool" && !/^\.(?:vscode|idea)$/i.test(name);
    if (kind !== null && !isTools && !(kind === "repository" && git)) denied.push(path);
    else if (kind !== null || level.ignored?.ignores(name, isFolder) === true) ignored.push(path);
    else return false;
    return true;
  };
  const enter = (level: Level, name: string, path: RelPath, stat: Stats): Level => {
    const lower = level.isOpaque ? null : lookAt(root, path);
    const isMerged = lower?.kind === "folder" && !isOpaqueFolder(join(upper, path));
    if (lower?.kind !== "folder" && !isStagedFolder(path)) note(path, { kind: "folder", mode: stat.mode & 0o777 });
    return {
      folder: path,
      ignored: isMerged ? (level.ignored?.inside(name, namesIn(root, path)) ?? null) : null,
      isOpaque: !isMerged,
    };
  };
  const noteContent = (path: RelPath, at: string, stat: Stats): void => {
    if (stat.isSymbolicLink()) note(path, { kind: "link", target: readlinkSync(at) });
    else if (stat.isFile()) {
      count.keep(stat.size);
      note(path, { kind: "file", bytes: readFileSync(at), mode: stat.mode & 0o777 });
    } else notes.push(`${showName(path)} is a pipe, socket or device, and was left out`);
  };
  const readEntry = (level: Level, name: string): readonly Level[] => {
    const path = joinPath(level.folder, name);
    const at = join(upper, path);
    const stat = lstatSync(at);
    const isDeletion = stat.isCharacterDevice() && stat.rdev === 0;
    seen.add(path);
    count.add(stat.isFile() ? stat.size : 0);
    const isFolder = stat.isDirectory() || (isDeletion && lookAt(root, path)?.kind === "folder");
    if (isSettled(level, name, path, isFolder)) {
      if (stat.isDirectory()) count.addTree(at);
      return [];
    }
    if (stat.isDirectory()) return [enter(level, name, path, stat)];
    if (isDeletion) remove(path);
    else noteContent(path, at, stat);
    return [];
  };

  return {
    read(level: Level): readonly Level[] {
      const names = readdirSync(join(upper, level.folder)).sort();
      if (level.isOpaque) {
        const there = new Set(names);
        for (const name of namesIn(root, level.folder)) if (!there.has(name)) remove(joinPath(level.folder, name));
      }
      return names.flatMap((name) => readEntry(level, name));
    },
    end(): LayerContent {
      // What was staged as new and has gone again leaves no trace in the layer.
      const isThere = (path: RelPath) => lstatSync(join(upper, path), { throwIfNoEntry: false }) !== undefined;
      for (const [path, after] of onTop) if (after !== null && !seen.has(path) && !isThere(path)) note(path, null);
      return { changes, ignored, denied, notes };
    },
  };
}

function openCount(limits: LayerLimits) {
  let entries = 0;
  let bytes = 0;
  let kept = 0;
  const check = (): void => {
    if (entries > limits.entries) throw tooMuch(`more than ${limits.entries} files`);
    if (bytes > limits.bytes) throw tooMuch(`more than ${limits.bytes / 2 ** 30} GiB`);
    if (kept > limits.kept) throw tooMuch(`more than ${limits.kept / 2 ** 20} MiB of files that are not ignored`);
  };
  const add = (size: number): void => {
    entries += 1;
    bytes += size;
    check();
  };
  const addTree = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      add(entry.isFile() ? lstatSync(path).size : 0);
      if (entry.isDirectory()) addTree(path);
    }
  };
  return {
    add,
    addTree,
    keep(size: number) {
      kept += size;
      check();
    },
  };
}

const tooMuch = (what: string): PaiError =>
  new PaiError("io_failed", `the command changed ${what}: nothing was carried over, and it is not run again`, {
    hint: "let it write to an ignored folder in smaller parts, or run it yourself",
  });

const changedMeanwhile = (path: RelPath): PaiError =>
  new PaiError("conflict", `${showName(path)} was changed by someone else while a command worked on it`, {
    hint: "nothing of it was overwritten; run the task again on the new content",
  });

function lookAt(root: Root, path: RelPath) {
  try {
    return root.stat(path);
  } catch {
    // A file or a link is on the way: nothing stands behind it.
    return null;
  }
}

function namesIn(root: Root, folder: RelPath): readonly string[] {
  try {
    return root.withFolder(folder, (at) => readdirSync(`${at}/`)) ?? [];
  } catch {
    return [];
  }
}

/** Whether a folder of an upper layer hides what the workspace has at its path. */
export function isOpaqueFolder(path: string): boolean {
  const value = systemCalls()?.readAttribute(path, "user.overlay.opaque") ?? null;
  return value !== null && /^[xy]$/.test(Buffer.from(value).toString("latin1"));
}
