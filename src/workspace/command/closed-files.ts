/** Keeps copies of what no action may touch: where no sandbox protects it, changes by a command are found and put back. */
import { readdirSync } from "node:fs";
import { foldName } from "../../core/guard/fold-name.ts";
import { findSteering, needsOwnYes } from "../../core/guard/steering.ts";
import type { RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { joinPath, nameOf, parentOf } from "../parse-path.ts";
import { isHidden, kindOfDenied, type PathRules } from "../path-policy.ts";
import { type Stat, statUnlessGone } from "../system/stat.ts";
import { isBuiltFolder, isDatabase, isPassing } from "./built-names.ts";
import { blobOf, isUntouched, type Kept, statUnlessUnusable } from "./kept.ts";

export interface ClosedFiles {
  readonly kept: ReadonlyMap<RelPath, Kept>;
  /** Small ignored files, which go back with the run like files that are not ignored. */
  readonly small: ReadonlyMap<RelPath, Kept>;
  /** Ignored files, which are only compared: device, inode, size and time of change. */
  readonly ignored: ReadonlyMap<RelPath, string>;
  /** There are more files than were looked at. */
  readonly isPart: boolean;
  /** There are more files in `kept` than that; one that is not among them may have been there. */
  readonly isKeptPart: boolean;
}

export interface ClosedParts {
  readonly root: Root;
  readonly rules: PathRules;
  /** Paths that are ignored or denied, of a folder only itself. */
  readonly hidden: Iterable<RelPath>;
  /** A sandbox keeps commands off all that is there and denied. */
  readonly isWalled: boolean;
  /** Of the hidden paths those that were not there before. */
  readonly came?: ReadonlySet<RelPath> | undefined;
  /** Whether commands may write `.git`. */
  readonly git: boolean;
  /** Small ignored files are kept, and not only compared. */
  readonly keepsSmall: boolean;
  /** Ignored paths that the run has changed: they are kept nevertheless. */
  readonly own: readonly RelPath[];
  /** Whether a path is not ignored any more, so that it is looked at with the others. */
  readonly isOpen: (path: RelPath) => boolean;
  readonly earlier: ClosedFiles | null;
  readonly signal?: AbortSignal | undefined;
}

const most = { kept: 2000, named: 50_000, bytes: 16 * 1024 * 1024, fileBytes: 1024 * 1024, ignored: 20_000 } as const;
const pauseMs = 20;

/** What git, or Mercurial, takes its orders from, not what it keeps of the history. */
const orders =
  /^(?:config(?:\.worktree)?|head|commondir|gitdir|hgrc|hooks|info|rebase-merge|rebase-apply|sequencer|remotes|branches)$/;
const repositoriesInside = /^(?:modules|worktrees)$/;
/** Denied folders whose content an editor runs; other denied tool folders are made by every build. */
export const editorName = /^\.(?:vscode|idea)$/;

/** The part of a path that is kept: all, only what gives orders, what is small, or nothing, as it is only compared. */
type Manner = "all" | "orders" | "small" | "compare";

/** null: it is not looked at. */
function mannerOf(path: RelPath, parts: ClosedParts): Manner | null {
  const name = nameOf(path);
  const kind = kindOfDenied(parentOf(path), name, parts.rules);
  if (kind === null) return isSteering(path) ? "all" : mannerOfIgnored(name, parts);
  const isCompared = kind === "tool" && !editorName.test(foldName(name));
  if (kind === "own" || (kind === "repository" && parts.git)) return null;
  // The sandbox protects files that exist, but a missing one can be created.
  if (parts.isWalled && kind !== "repository" && !(kind === "tool" && !isCompared))
    return !isCompared && parts.came?.has(path) === true ? "all" : null;
  if (isCompared) return "compare";
  return kind === "repository" ? "orders" : "all";
}

/** The sandbox protects none of it, but files that tools make are too many to be compared at each check. */
function mannerOfIgnored(name: string, { isWalled, keepsSmall }: ClosedParts): Manner | null {
  if (isBuiltFolder(name)) return isWalled ? null : "compare";
  return keepsSmall ? "small" : "compare";
}

/** Whether something at this path is kept around a command, by its name alone. */
export function isClosedName(path: RelPath, rules: PathRules): boolean {
  const kind = kindOfDenied(parentOf(path), nameOf(path), rules);
  return kind === null ? isSteering(path) : kind !== "own";
}

export function isSteering(path: RelPath): boolean {
  const steering = findSteering(path);
  return steering !== null && needsOwnYes(steering);
}

/** Looks at them, and keeps what they hold. Throws the signal's reason. */
export async function keepClosed(parts: ClosedParts): Promise<ClosedFiles> {
  const keeper = openKeeper(parts);
  let pause = performance.now();
  while (keeper.goOn()) {
    if (performance.now() - pause < pauseMs) continue;
    await Bun.sleep(0);
    parts.signal?.throwIfAborted();
    pause = performance.now();
  }
  return keeper.end();
}

function openKeeper(parts: ClosedParts) {
  const { root, earlier } = parts;
  const kept = new Map<RelPath, Kept>();
  const small = new Map<RelPath, Kept>();
  const ignored = new Map<RelPath, string>();
  /** Folders to be looked into; those that are only compared come last. */
  const waiting: { readonly path: RelPath; readonly manner: Manner }[] = [];
  const room = { kept: most.bytes, small: most.bytes };
  let isPart = false;
  let isKeptPart = false;

  const keepIn = (where: "kept" | "small", path: RelPath, stat: Stat) => {
    const known = earlier?.[where].get(path);
    const each =
      known !== undefined && isUntouched(known.stat, stat)
        ? known
        : { stat, blob: blobOf(root, path, stat, Math.min(most.fileBytes, room[where])) };
    if (each.blob?.kind === "file") room[where] -= each.blob.bytes.length;
    (where === "kept" ? kept : small).set(path, each);
  };
  /**
   * Files that a command adds must not displace those that were there before it; when there are very many, their
   * content is not read.
   */
  const keep = (path: RelPath, stat: Stat) => {
    const isNew = earlier !== null && !earlier.isKeptPart;
    if (kept.size < most.kept || earlier?.kept.has(path)) keepIn("kept", path, stat);
    else if (isNew && kept.size < most.named) kept.set(path, { stat, blob: blobOf(root, path, stat, -1) });
    else isPart = isKeptPart = true;
  };
  /** What was kept before the command must be known after it, and what was not must not pass for new. */
  const isKeptSmall = (path: RelPath, { kind, size }: Stat): boolean => {
    if (earlier?.small.has(path)) return true;
    if (kind === "special" || (earlier !== null && (earlier.isPart || earlier.ignored.has(path)))) return false;
    return small.size < most.kept && size <= Math.min(most.fileBytes, room.small);
  };
  const keepSmall = (path: RelPath, stat: Stat) => {
    if (isKeptSmall(path, stat)) keepIn("small", path, stat);
    else compare(path, stat);
  };
  const compare = (path: RelPath, stat: Stat) => {
    if (ignored.size >= most.ignored) isPart = true;
    else ignored.set(path, `${stat.dev} ${stat.ino} ${stat.size} ${stat.ctimeNs}`);
  };
  /** How what is found in an ignored folder is looked at; null: not at all. */
  const mannerWithin = (path: RelPath, given: Manner, { kind }: Stat): Manner | null => {
    const name = nameOf(path);
    if (given === "all" || given === "orders") return given;
    if (kind === "folder" && isBuiltFolder(name)) return parts.isWalled ? null : "compare";
    const isOthers = isHidden(parentOf(path), name, parts.rules) || isPassing(name) || isDatabase(name);
    return isOthers ? "compare" : given;
  };
  const enter = (path: RelPath, manner: Manner) =>
    manner === "compare" ? waiting.unshift({ path, manner }) : waiting.push({ path, manner });
  const take = (path: RelPath, given: Manner, stat: Stat | null) => {
    const manner = stat && mannerWithin(path, given, stat);
    if (stat === null || manner === null) return;
    if (stat.kind === "folder") enter(path, manner);
    if (manner === "small") return keepSmall(path, stat);
    if (manner === "all" || (manner === "orders" && stat.kind !== "folder")) return keep(path, stat);
    if (stat.kind !== "folder") compare(path, stat);
  };
  const lookIntoRepository = (folder: RelPath) => {
    const found = statsIn(root, folder);
    // Submodules may have names with a slash in them.
    const isRepository = found.some(([name]) => /^(?:head|hgrc)$/.test(foldName(name)));
    const isInside = repositoriesInside.test(foldName(nameOf(folder)));
    for (const [name, stat] of found) {
      const path = joinPath(folder, name);
      if (orders.test(foldName(name))) take(path, "all", stat);
      else if (isInside || repositoriesInside.test(foldName(name)) || (!isRepository && isBelowModules(path)))
        take(path, "orders", stat);
    }
  };

  for (const path of parts.hidden) {
    const manner = mannerOf(path, parts);
    // A repository that was not there before is kept whole, so that all of it can be taken away.
    const isNew = manner === "orders" && earlier !== null && !hasAt(earlier.kept, path);
    if (manner !== null) take(path, isNew ? "all" : manner, statUnlessUnusable(root, path));
  }
  /** What was there before is gone only when it is not there. */
  const lookAgain = () => {
    for (const path of earlier?.kept.keys() ?? []) {
      const stat = kept.has(path) || parts.isOpen(path) ? null : statUnlessUnusable(root, path);
      if (stat !== null) keepIn("kept", path, stat);
    }
  };
  return {
    /** False: that was all. */
    goOn(): boolean {
      const next = waiting.pop();
      if (next === undefined) return false;
      if (next.manner === "orders") lookIntoRepository(next.path);
      else if (next.manner === "all" || ignored.size < most.ignored)
        for (const [name, stat] of statsIn(root, next.path)) take(joinPath(next.path, name), next.manner, stat);
      else isPart = true;
      return true;
    },
    end(): ClosedFiles {
      lookAgain();
      for (const path of parts.own) {
        const stat = small.has(path) || kept.has(path) ? null : statUnlessUnusable(root, path);
        ignored.delete(path);
        if (stat !== null) keepIn("small", path, stat);
      }
      return { kept, small, ignored, isPart, isKeptPart };
    },
  };
}

const isBelowModules = (path: RelPath): boolean => /\/modules\//.test(path);

const hasAt = (kept: ClosedFiles["kept"], folder: RelPath): boolean =>
  [...kept.keys()].some((path) => path === folder || path.startsWith(`${folder}/`));

function statsIn(root: Root, folder: RelPath): readonly (readonly [name: string, stat: Stat | null])[] {
  try {
    const look = (at: string) =>
      readdirSync(`${at}/`)
        .sort()
        .map((name) => [name, statUnlessGone(at, name, joinPath(folder, name))] as const);
    return root.withFolder(folder, look) ?? [];
  } catch {
    return [];
  }
}
