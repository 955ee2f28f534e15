/** Keeps what no action may touch: where no wall keeps a command off it, what the command changed of it is found and put back. */
import { readdirSync } from "node:fs";
import { foldName } from "../../core/guard/fold-name.ts";
import { findSteering, needsOwnYes } from "../../core/guard/steering.ts";
import type { RelPath } from "../../core/path.ts";
import type { ClosedChange } from "../../core/ports.ts";
import type { Root } from "../confine.ts";
import { joinPath, nameOf, parentOf, showName } from "../parse-path.ts";
import { judgePath, kindOfDenied, type PathRules } from "../policy.ts";
import { type Stat, statUnlessGone } from "../system/stat.ts";
import { blobOf, type Comparison, isUntouched, type Kept, openComparison, statUnlessUnusable } from "./kept.ts";

export interface ClosedFiles {
  readonly kept: ReadonlyMap<RelPath, Kept>;
  /** Ignored files, which are only compared: device, inode, size and time of change. */
  readonly ignored: ReadonlyMap<RelPath, string>;
  /** There are more files than were looked at. */
  readonly isPart: boolean;
}

export interface ClosedParts {
  readonly root: Root;
  readonly rules: PathRules;
  /** Paths that are ignored or denied, of a folder only itself. */
  readonly hidden: Iterable<RelPath>;
  /** A sandbox keeps commands off all but what is only ignored. */
  readonly isWalled: boolean;
  /** Whether commands may write `.git`. */
  readonly git: boolean;
  readonly earlier: ClosedFiles | null;
  readonly signal?: AbortSignal | undefined;
}

const most = { kept: 2000, bytes: 16 * 1024 * 1024, fileBytes: 1024 * 1024, ignored: 20_000 } as const;
const pauseMs = 20;
const maxNamed = 3;

/** What git, or Mercurial, takes its orders from, not what it keeps of the history; and those of them that run code. */
const orders = /^(?:config(?:\.worktree)?|head|commondir|gitdir|hgrc|hooks|info)$/;
const runsCode = /^(?:config(?:\.worktree)?|commondir|gitdir|hgrc|hooks)$/;
const repositoriesInside = /^(?:modules|worktrees)$/;
/** Denied folders whose content an editor runs; other denied tool folders are made by every build. */
const editorName = /^\.(?:vscode|idea)$/;

/** What of a path is kept: all, only what gives orders, or nothing, as it is only compared. */
type Manner = "all" | "orders" | "compare";

/** null: it is not looked at. */
function mannerOf(path: RelPath, { rules, isWalled, git }: ClosedParts): Manner | null {
  const name = nameOf(path);
  const kind = kindOfDenied(parentOf(path), name, rules);
  const isCompared = kind === "tool" && !editorName.test(foldName(name));
  if (kind === "own" || (kind === "repository" && git)) return null;
  if (kind === null && isSteering(path)) return "all";
  // The sandbox protects files that exist, but a missing one can be created.
  if (isWalled && kind !== "repository" && !(kind === "tool" && !isCompared)) return null;
  if (kind === null || isCompared) return "compare";
  return kind === "repository" ? "orders" : "all";
}

function isSteering(path: RelPath): boolean {
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
  const ignored = new Map<RelPath, string>();
  /** Folders to be looked into; those that are only compared come last. */
  const waiting: { readonly path: RelPath; readonly manner: Manner }[] = [];
  let bytes = 0;
  let isPart = false;

  const keep = (path: RelPath, stat: Stat) => {
    if (kept.size >= most.kept) isPart = true;
    else {
      const known = earlier?.kept.get(path);
      const each =
        known !== undefined && isUntouched(known.stat, stat)
          ? known
          : { stat, blob: blobOf(root, path, stat, Math.min(most.fileBytes, most.bytes - bytes)) };
      if (each.blob?.kind === "file") bytes += each.blob.bytes.length;
      kept.set(path, each);
    }
  };
  const compare = (path: RelPath, stat: Stat) => {
    if (ignored.size >= most.ignored) isPart = true;
    else ignored.set(path, `${stat.dev} ${stat.ino} ${stat.size} ${stat.ctimeNs}`);
  };
  const take = (path: RelPath, manner: Manner, stat: Stat | null) => {
    if (stat === null) return;
    if (stat.kind === "folder" && manner === "compare") waiting.unshift({ path, manner });
    else if (stat.kind === "folder") waiting.push({ path, manner });
    if (manner === "compare" && stat.kind !== "folder") compare(path, stat);
    if (manner === "all" || (manner === "orders" && stat.kind !== "folder")) keep(path, stat);
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
    end: (): ClosedFiles => ({ kept, ignored, isPart }),
  };
}

const isBelowModules = (path: RelPath): boolean => /\/modules\//.test(path);

const hasAt = (kept: ClosedFiles["kept"], folder: RelPath): boolean =>
  [...kept.keys()].some((path) => path === folder || path.startsWith(`${folder}/`));

export interface ClosedComparison extends Comparison {
  /** The changes for those who judge them. */
  readonly told: readonly ClosedChange[];
}

/** What became of them from one look to the next. */
export function compareClosed(before: ClosedFiles, after: ClosedFiles, rules: PathRules): ClosedComparison {
  const { changes, traits, notes, compare } = openComparison("cannot be put back");
  for (const path of new Set([...before.kept.keys(), ...after.kept.keys()])) {
    compare(path, before.kept.get(path) ?? null, after.kept.get(path) ?? null);
  }
  const told = changes
    .filter(({ before: was, after: is }) => (was ?? is)?.kind !== "folder")
    .map(({ path }) => ({
      path,
      isDenied: judgePath(path, "write", rules).verdict === "deny",
      runsUnasked: runsUnasked(path),
    }));
  return { changes, traits, told, notes: [...notes, ...compareIgnored(before, after)] };
}

function runsUnasked(path: RelPath): boolean {
  const parts = path.split("/").map(foldName);
  const at = parts.findIndex((name) => name === ".git" || name === ".hg");
  if (at >= 0) return at === parts.length - 1 || parts.slice(at + 1).some((name) => runsCode.test(name));
  return parts.some((name) => editorName.test(name)) || findSteering(path)?.kind === "unasked";
}

function compareIgnored(before: ClosedFiles, after: ClosedFiles): readonly string[] {
  const changed = [...after.ignored].filter(([path, is]) => before.ignored.get(path) !== is).map(([path]) => path);
  const gone = [...before.ignored.keys()].filter((path) => !after.ignored.has(path));
  const isPart = before.isPart || after.isPart;
  const count = changed.length + gone.length;
  if (count === 0) return [];
  const named = [...changed, ...gone].sort().slice(0, maxNamed).map(showName).join(", ");
  const many = `${isPart ? "at least " : ""}${count} ignored ${count === 1 ? "file" : "files"}`;
  return [`${many} changed, and ${count === 1 ? "stays" : "stay"} so: ${named}${count > maxNamed ? " …" : ""}`];
}

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
