/** Copies of files that are closed to actions, to find and undo what a command did to them outside a sandbox. */
import { readdirSync } from "node:fs";
import { foldName } from "../../core/guard/fold-name.ts";
import { classOf, closedNameIn, isBuiltFolder, isDatabase, isTransient, type PathRules } from "../../core/names.ts";
import { joinPath, nameOf, parentOf, type RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { type Stat, statUnlessGone } from "../system/stat.ts";
import { blobOf, isUntouched, type Kept, statOrNull } from "./kept.ts";

export interface ClosedFiles {
  readonly kept: ReadonlyMap<RelPath, Kept>;
  /** Small ignored files; they are restored with the run, like files that are not ignored. */
  readonly small: ReadonlyMap<RelPath, Kept>;
  /** Identity of ignored files that are compared but not kept: device, inode, size and ctime. */
  readonly ignored: ReadonlyMap<RelPath, string>;
  /** There were more files than the limits allow to look at. */
  readonly isPart: boolean;
  /** There were more files than `kept` may hold, so a file missing from it may have existed. */
  readonly isKeptPart: boolean;
}

export interface ClosedParts {
  readonly root: Root;
  readonly rules: PathRules;
  /** Ignored or denied paths; for a folder only the folder itself. */
  readonly hidden: Iterable<RelPath>;
  /** The sandbox keeps commands off all denied files that exist. */
  readonly isWalled: boolean;
  /** Those of the hidden paths that did not exist before. */
  readonly came?: ReadonlySet<RelPath> | undefined;
  /** Whether commands may write `.git`. */
  readonly git: boolean;
  /** Whether small ignored files are kept too, not only compared. */
  readonly keepsSmall: boolean;
  /** Ignored paths that the run has changed; they are kept in any case. */
  readonly own: readonly RelPath[];
  /** Whether a path is no longer ignored, and so is looked at with the ordinary files. */
  readonly isOpen: (path: RelPath) => boolean;
  readonly earlier: ClosedFiles | null;
  readonly signal?: AbortSignal | undefined;
}

const limits = { kept: 2000, named: 50_000, bytes: 16 * 1024 * 1024, fileBytes: 1024 * 1024, ignored: 20_000 } as const;
const pauseMs = 20;

/** Files of git or Mercurial that configure it or run code, as opposed to the history. */
const orders =
  /^(?:config(?:\.worktree)?|head|commondir|gitdir|hgrc|hooks|info|rebase-merge|rebase-apply|sequencer|remotes|branches)$/;
const repositoriesInside = /^(?:modules|worktrees)$/;
/** What is kept of a path: everything, what configures a repository, small files, or nothing (it is only compared). */
type Manner = "all" | "orders" | "small" | "compare";

/** null: the path is not looked at. */
function mannerOf(path: RelPath, parts: ClosedParts): Manner | null {
  const name = nameOf(path);
  const kind = closedNameIn(parentOf(path), name, parts.rules, false);
  if (kind === null) return classOf(path, parts.rules) === "asked" ? "all" : mannerOfIgnored(name, parts);
  if (kind === "own" || (kind === "repository" && parts.git)) return null;
  // The sandbox protects files that exist, but a missing one can be created.
  if (parts.isWalled && kind !== "repository") return parts.came?.has(path) === true ? "all" : null;
  return kind === "repository" ? "orders" : "all";
}

/** No sandbox protects ignored files, but generated ones are too many to be compared around each command. */
function mannerOfIgnored(name: string, { isWalled, keepsSmall }: ClosedParts): Manner | null {
  if (isBuiltFolder(name)) return isWalled ? null : "compare";
  return keepsSmall ? "small" : "compare";
}

/** Whether a path is looked at around a command, judged by its name alone. */
export function isClosedName(path: RelPath, rules: PathRules): boolean {
  const kind = closedNameIn(parentOf(path), nameOf(path), rules, false);
  return kind === null ? classOf(path, rules) === "asked" : kind !== "own";
}

/** Looks at all these files and keeps their content. Throws the signal's reason. */
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
  /** Folders still to be looked into; those that are only compared come last. */
  const waiting: { readonly path: RelPath; readonly manner: Manner }[] = [];
  const room = { kept: limits.bytes, small: limits.bytes };
  let isPart = false;
  let isKeptPart = false;

  const keepIn = (where: "kept" | "small", path: RelPath, stat: Stat) => {
    const known = earlier?.[where].get(path);
    const each =
      known !== undefined && isUntouched(known.stat, stat)
        ? known
        : { stat, blob: blobOf(root, path, stat, Math.min(limits.fileBytes, room[where])) };
    if (each.blob?.kind === "file") room[where] -= each.blob.bytes.length;
    (where === "kept" ? kept : small).set(path, each);
  };
  /**
   * Files that a command adds must not displace those that existed before it; beyond `limits.kept` files the content of
   * new ones is not read.
   */
  const keep = (path: RelPath, stat: Stat) => {
    const isNew = earlier !== null && !earlier.isKeptPart;
    if (kept.size < limits.kept || earlier?.kept.has(path)) keepIn("kept", path, stat);
    else if (isNew && kept.size < limits.named) kept.set(path, { stat, blob: blobOf(root, path, stat, -1) });
    else isPart = isKeptPart = true;
  };
  /** A file kept before the command must be kept after it too, and one not kept before it must not look new. */
  const isKeptSmall = (path: RelPath, { kind, size }: Stat): boolean => {
    if (earlier?.small.has(path)) return true;
    if (kind === "special" || (earlier !== null && (earlier.isPart || earlier.ignored.has(path)))) return false;
    return small.size < limits.kept && size <= Math.min(limits.fileBytes, room.small);
  };
  const keepSmall = (path: RelPath, stat: Stat) => {
    if (isKeptSmall(path, stat)) keepIn("small", path, stat);
    else compare(path, stat);
  };
  const compare = (path: RelPath, stat: Stat) => {
    if (ignored.size >= limits.ignored) isPart = true;
    else ignored.set(path, `${stat.dev} ${stat.ino} ${stat.size} ${stat.ctimeNs}`);
  };
  /** How an entry of an ignored folder is looked at; null: not at all. */
  const mannerWithin = (path: RelPath, given: Manner, { kind }: Stat): Manner | null => {
    const name = nameOf(path);
    if (given === "all" || given === "orders") return given;
    if (kind === "folder" && isBuiltFolder(name)) return parts.isWalled ? null : "compare";
    const isOthers =
      closedNameIn(parentOf(path), name, parts.rules, kind === "folder") !== null ||
      isTransient(name) ||
      isDatabase(name);
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
    // The name of a submodule may contain a slash.
    const isRepository = found.some(([name]) => /^(?:head|hgrc)$/.test(foldName(name)));
    const isInside = repositoriesInside.test(foldName(nameOf(folder)));
    for (const [name, stat] of found) {
      const path = joinPath(folder, name);
      if (orders.test(foldName(name))) take(path, "all", stat);
      else if (isInside || repositoriesInside.test(foldName(name)) || (!isRepository && isBelowModules(path)))
        take(path, "orders", stat);
    }
  };

  /** Whether neither the path nor what is in it can be taken any more; spares a look at each of a million files. */
  const isBeyond = (path: RelPath, manner: Manner): boolean => {
    if (ignored.size < limits.ignored || manner === "all" || manner === "orders") return false;
    return manner === "compare" || (small.size >= limits.kept && !earlier?.small.has(path));
  };
  const takeHidden = (path: RelPath) => {
    const manner = mannerOf(path, parts);
    if (manner === null) return;
    // A new repository is kept whole, so that it can be removed completely.
    const isNew = manner === "orders" && earlier !== null && !hasAt(earlier.kept, path);
    if (isBeyond(path, manner)) isPart = true;
    else take(path, isNew ? "all" : manner, statOrNull(root, path));
  };
  const hidden = parts.hidden[Symbol.iterator]();
  /**
   * A file that was kept before may be absent from this look and still exist; only a missing file counts as deleted.
   */
  const lookAgain = () => {
    for (const path of earlier?.kept.keys() ?? []) {
      const stat = kept.has(path) || parts.isOpen(path) ? null : statOrNull(root, path);
      if (stat !== null) keepIn("kept", path, stat);
    }
  };
  return {
    /** Looks at the next path, then into the next folder; false: none is left. */
    goOn(): boolean {
      const first = hidden.next();
      if (!first.done) {
        takeHidden(first.value);
        return true;
      }
      const next = waiting.pop();
      if (next === undefined) return false;
      if (next.manner === "orders") lookIntoRepository(next.path);
      else if (next.manner === "all" || ignored.size < limits.ignored)
        for (const [name, stat] of statsIn(root, next.path)) take(joinPath(next.path, name), next.manner, stat);
      else isPart = true;
      return true;
    },
    end(): ClosedFiles {
      lookAgain();
      for (const path of parts.own) {
        const stat = small.has(path) || kept.has(path) ? null : statOrNull(root, path);
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
