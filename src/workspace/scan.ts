/** Lists and walks folders without denied and ignored names, never through links, and says where a link leads. */
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { closedNameIn, isBuiltFolder, type PathRules } from "../core/closed-names.ts";
import { orNull, PaiError, toPaiError } from "../core/error.ts";
import { foldersAbove, joinPath, nameOf, type PathUse, parentOf, pathWithin, type RelPath } from "../core/path.ts";
import type { Entry } from "../core/ports.ts";
import { breathe } from "../core/steps.ts";
import { entriesBelow, realPathOf } from "../system/lookups.ts";
import { isTemporary } from "./atomic-write.ts";
import type { Handle, ReadFile, Root } from "./confine.ts";
import { type IgnoreRules, openIgnore } from "./ignore.ts";
import { showName } from "./parse-path.ts";
import { judgePath } from "./path-policy.ts";
import { type Stat, statOrRefused } from "./system/stat.ts";

/** For each folder that cannot be entered, and each name that is not UTF-8, which is listed as `special`. */
export type Omitted = (path: RelPath, why: "unreadable" | "unnameable") => void;

export interface WalkOptions {
  readonly signal?: AbortSignal | undefined;
  readonly omitted?: Omitted | undefined;
  readonly enters?: ((folder: RelPath) => boolean) | undefined;
}

/** In code-point order, without denied names. Throws file_unusable if the folder is missing. */
export function list(root: Root, folder: RelPath, rules: PathRules): readonly Entry[] {
  const level = openLevel(root, folder, null);
  try {
    const open = level.names.filter((name) => !isClosed(level, name, rules));
    return open.flatMap((name) => entryAt(root, level, name) ?? []);
  } finally {
    level.handle.close();
  }
}

/**
 * Depth first, in code-point order, without denied and ignored names; links are not entered. Holds one descriptor and
 * one list of names per level. Throws file_unusable for a missing folder, and the signal's reason.
 */
export async function* walk(
  root: Root,
  folder: RelPath,
  rules: PathRules,
  options: WalkOptions = {},
): AsyncGenerator<Entry, void> {
  const { signal, omitted, enters } = options;
  signal?.throwIfAborted();
  for (const found of descendShown(root, folder, { rules, omitted, enters })) {
    await breathe(signal);
    if (found !== null) yield found.entry;
  }
}

/** Like `walk` without pauses: the caller must let other work run in between. */
export function* walkNow(root: Root, folder: RelPath, rules: PathRules, omitted?: Omitted): Generator<Entry, void> {
  for (const found of descendShown(root, folder, { rules, omitted })) if (found !== null) yield found.entry;
}

const descendShown = (root: Root, folder: RelPath, selection: Selection) =>
  descend(root, openLevel(root, folder, openIgnore(root, folder, root.topOf(folder))), selection);

export interface Marked<T> {
  readonly entry: Entry;
  readonly mark: T;
  /** null: it is gone. Callable until the walk goes on, as is `read`. */
  readonly look: () => Stat | null;
  /** Of at most `limit` bytes. Throws file_unusable for what is no regular file. */
  readonly read: (limit: number) => ReadFile | null;
}

/** `enters`: whether to look into a folder. null: it is left out. */
export type Choose<T> = (
  entry: Entry,
  above: T,
  isIgnored: boolean,
) => { readonly mark: T; readonly enters: boolean } | null;

/** Everything but what `choose` leaves out; null stands for that, so that the caller can pause. */
export function walkAll<T>(root: Root, top: T, choose: Choose<T>, omitted: Omitted): Generator<Marked<T> | null, void> {
  const level = openLevel(root, "" as RelPath, openIgnore(root, "" as RelPath), top);
  const selection = { rules: null, omitted, choose: choose as Choose<unknown> };
  return descend(root, level, selection) as Generator<Marked<T> | null, void>;
}

/** All that RM and MV affect, folders first. Throws file_unusable for what cannot be kept. */
export function inside(root: Root, folder: RelPath): readonly RelPath[] {
  const omitted: Omitted = (path, why) => {
    const what = why === "unreadable" ? "cannot be read" : "has a name that is not UTF-8";
    throw new PaiError("file_unusable", `${showName(path)} ${what}`);
  };
  const all = [...descend(root, openLevel(root, folder, null), { rules: null, omitted })];
  return all.flatMap((found) => found?.entry.path ?? []);
}

interface Level {
  readonly handle: Handle;
  readonly folder: RelPath;
  /** In code-point order. */
  readonly names: readonly string[];
  /** By name; plain files are left out. */
  readonly others: ReadonlyMap<string, Dirent>;
  readonly ignored: IgnoreRules | null;
  readonly mark: unknown;
  readonly isIgnored: boolean;
}

interface Selection {
  readonly rules: PathRules | null;
  readonly omitted: Omitted | undefined;
  readonly choose?: Choose<unknown>;
  readonly enters?: WalkOptions["enters"];
}

/** What the kernel makes up at the top of the system is named and not walked: it has no end, and changes meanwhile. */
const kernelFolders: ReadonlySet<string> = new Set(["proc", "sys", "dev"]);

const mayEnter = (root: Root, { entry, enters }: Picked): boolean =>
  entry.kind === "folder" && enters && !(root.path === "/" && kernelFolders.has(entry.path));

/** Closes the level. null: a name was left out. */
function* descend(root: Root, top: Level, selection: Selection): Generator<Marked<unknown> | null, void> {
  const levels = [{ level: top, names: top.names.values() }];
  try {
    for (let last = levels.at(-1); last !== undefined; last = levels.at(-1)) {
      const { level, names } = last;
      const { handle } = level;
      const { value: name } = names.next();
      if (name === undefined) {
        levels.pop();
        handle.close();
        continue;
      }
      const picked = pick(root, level, name, selection);
      if (picked === null) {
        yield null;
        continue;
      }
      const { entry, mark } = picked;
      yield {
        entry,
        mark,
        look: () => statOrRefused(handle.at, name, entry.path),
        read: (limit) => root.readIn(handle, entry.path, limit),
      };
      const isEntered = mayEnter(root, picked) && selection.enters?.(entry.path) !== false;
      const inner = isEntered ? enterLevel(root, level, picked, selection.omitted) : null;
      if (inner !== null) levels.push({ level: inner, names: inner.names.values() });
    }
  } finally {
    for (const { level } of levels) level.handle.close();
  }
}

function openLevel(root: Root, folder: RelPath, ignored: IgnoreRules | null, mark: unknown = null): Level {
  const handle = root.open(folder);
  if (handle === null) throw new PaiError("file_unusable", `${showName(folder)} does not exist`);
  return fillLevel(handle, folder, () => ignored, { mark, isIgnored: false });
}

function enterLevel(root: Root, above: Level, picked: Picked, omitted: Omitted | undefined): Level | null {
  const { path } = picked.entry;
  try {
    const handle = root.openBelow(above.handle, path);
    const rulesFor = (names: readonly string[]) =>
      picked.isIgnored ? null : (above.ignored?.inside(nameOf(path), names) ?? null);
    return handle && fillLevel(handle, path, rulesFor, picked);
  } catch {
    // It belongs to another user, became a link meanwhile, or no descriptor is left.
    omitted?.(path, "unreadable");
    return null;
  }
}

function fillLevel(
  handle: Handle,
  folder: RelPath,
  rulesFor: (names: readonly string[]) => IgnoreRules | null,
  { mark, isIgnored }: Pick<Level, "mark" | "isIgnored">,
): Level {
  try {
    const entries = readdirSync(`${handle.at}/`, { withFileTypes: true });
    const names = sortNames(entries.map(({ name }) => name));
    const others = new Map(entries.flatMap((each) => (each.isFile() ? [] : [[each.name, each]])));
    return { handle, folder, names, others, ignored: rulesFor(names), mark, isIgnored };
  } catch (thrown) {
    handle.close();
    const what = `${showName(folder) || "the root"} cannot be listed`;
    throw new PaiError(toPaiError(thrown).code, what, { cause: thrown });
  }
}

interface Picked extends Pick<Level, "mark" | "isIgnored"> {
  readonly entry: Entry;
  readonly enters: boolean;
}

function pick(root: Root, level: Level, name: string, { rules, omitted, choose }: Selection): Picked | null {
  if (rules !== null && isClosed(level, name, rules)) return null;
  const entry = entryAt(root, level, name);
  if (entry === null && name.includes("\ufffd")) {
    const path = joinPath(level.folder, name);
    omitted?.(path, "unnameable");
    const unnamed: Entry = { path, kind: "special", size: 0, target: null };
    return choose === undefined ? { entry: unnamed, mark: null, isIgnored: false, enters: false } : null;
  }
  if (entry === null) return null;
  const isIgnored = level.isIgnored || level.ignored?.ignores(name, entry.kind === "folder") === true;
  if (choose === undefined) return isIgnored ? null : { entry, mark: null, isIgnored, enters: true };
  const chosen = choose(entry, level.mark, isIgnored);
  return chosen && { entry, isIgnored, ...chosen };
}

const isClosed = ({ folder, others }: Level, name: string, rules: PathRules): boolean =>
  closedNameIn(folder, name, rules, others.get(name)?.isDirectory() === true) !== null;

/** null: gone, or the name is not UTF-8 and only looks like this one. */
function entryAt(root: Root, level: Level, name: string): Entry | null {
  const path = joinPath(level.folder, name);
  const odd = name.includes("\ufffd");
  if (odd && level.names.indexOf(name) !== level.names.lastIndexOf(name)) return null;
  const other = level.others.get(name);
  if (!odd && other === undefined) return fileEntry(root, level, name);
  if (!odd && other?.isDirectory()) return { path, kind: "folder", size: 0, target: null };
  const stat = statOrRefused(level.handle.at, name, path);
  return stat && { path, kind: stat.kind, size: stat.kind === "file" ? stat.size : 0, target: stat.target };
}

/** A file whose size and time are read on demand: that would cost more than all the rest of a walk, and few are used. */
function fileEntry(root: Root, { folder }: Level, name: string): Entry {
  const path = joinPath(folder, name);
  return {
    path,
    kind: "file",
    get size() {
      return root.statOrNull(path)?.size ?? 0;
    },
    get changed() {
      return Number((root.statOrNull(path)?.mtimeNs ?? 0n) / 1_000_000n);
    },
    target: null,
  };
}

const surrogate = /[\ud800-\udfff]/;

/** JavaScript's order, which is much faster, differs only above U+FFFF. */
export function compareCodePoints(a: string, b: string): number {
  if (surrogate.test(a) || surrogate.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

const sortNames = (names: readonly string[]): readonly string[] =>
  names.some((name) => surrogate.test(name)) ? names.toSorted(compareCodePoints) : names.toSorted();

const maxLinkLooks = 10_000;
/** Milliseconds: a command may make links, and thousands of paths are judged in a row. */
const linksFreshMs = 100;

type LinksTo = ReadonlyMap<RelPath, readonly RelPath[]>;

/** Finds the paths that lead to another one through a link of the project. `root`: its real path. */
export function openOtherNames(root: string): (path: RelPath) => readonly RelPath[] {
  let found: LinksTo = new Map();
  let foundAt = Number.NEGATIVE_INFINITY;
  return (path) => {
    if (performance.now() - foundAt > linksFreshMs) {
      found = findTargets(root);
      foundAt = performance.now();
    }
    return [path, ...foldersAbove(path)].flatMap((at) =>
      (found.get(at) ?? []).map((link) => `${link}${path.slice(at.length)}` as RelPath),
    );
  };
}

function findTargets(root: string): LinksTo {
  const found = new Map<RelPath, RelPath[]>();
  for (const link of linksIn(root)) {
    const real = realPathOf(join(root, link));
    if (real === null || !real.startsWith(`${root}/`)) continue;
    const path = real.slice(root.length + 1) as RelPath;
    found.set(path, [...(found.get(path) ?? []), link]);
  }
  return found;
}

function linksIn(root: string): readonly RelPath[] {
  const enters = (_: string, { name }: Dirent) => name !== ".git" && !isBuiltFolder(name);
  return [...entriesBelow(root, enters, maxLinkLooks)].flatMap(([folder, entry]) =>
    entry.isSymbolicLink() && !isTemporary(entry.name) ? [joinPath(folder as RelPath, entry.name)] : [],
  );
}

/** As a clause; null: a change needs no yes of its own. */
export function whyAsked(path: RelPath, rules: PathRules, links: readonly RelPath[]): string | null {
  const verdict = judgePath(path, "write", rules);
  if (verdict.verdict === "ask") return verdict.why;
  for (const link of links) {
    const there = judgePath(link, "write", rules);
    if (there.verdict !== "allow") return `a link makes it ${showName(link)}, and ${there.why}`;
  }
  return null;
}

/** Itself where a link leads out of the roots, in a circle, or to nothing. `root` and `others`: real paths. */
export function followLinks(root: string, path: RelPath, use: PathUse, others: readonly string[] = []): RelPath {
  if (path === "") return path;
  const isThere = (at: RelPath): boolean => orNull(() => lstatSync(resolve(root, at))) !== null;
  /** null: it leads out, or nowhere. */
  const realOf = (at: RelPath): RelPath | null => {
    const real = realPathOf(resolve(root, at));
    if (real === null) return null;
    const isOutside = others.some((each) => pathWithin(real, each) !== null);
    return (pathWithin(real, root) ?? (isOutside ? real : null)) as RelPath | null;
  };
  /** Folders that do not exist yet keep their names. */
  const followParent = (at: RelPath): RelPath | null => {
    const parent = parentOf(at);
    if (parent === "") return at;
    const folder = isThere(parent) ? realOf(parent) : followParent(parent);
    return folder === null ? null : joinPath(folder, nameOf(at));
  };
  const isWhole = use !== "delete" && use !== "move";
  return (isWhole && isThere(path) ? realOf(path) : followParent(path)) ?? path;
}
