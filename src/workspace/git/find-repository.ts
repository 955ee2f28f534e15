/** Finds the repository of a folder without git and without reading any setting of the repository. */

import { statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { orNull } from "../../core/error.ts";
import { entryAt, readSmall, realPathOf } from "../../system/lookups.ts";

export interface Repository {
  readonly objects: string;
  readonly head: string;
  /** Commits at which a shallow clone ends, one a line; "": it is not shallow. */
  readonly shallow: string;
  /** Path from the top of the repository to the folder, with a trailing slash; "": they are the same. */
  readonly prefix: string;
}

const maxLevels = 12;
const maxFileBytes = 16 * 1024 * 1024;
const hash = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

const isFolder = (path: string) => orNull(() => statSync(path))?.isDirectory() === true;

const readFile = (path: string): string | null => readSmall(path, maxFileBytes);

/** The `.git` folder, or the one that a link or the `.git` file of a worktree or submodule names; null: there is none. */
function gitFolderAt(top: string): string | null {
  const path = join(top, ".git");
  const stat = orNull(() => entryAt(path));
  if (stat?.isDirectory() === true) return path;
  if (stat?.isSymbolicLink() === true) return isFolder(path) ? realPathOf(path) : null;
  return stat?.isFile() === true ? targetOfGitFile(path) : null;
}

/** The folder that a `.git` file names, which may be any folder; null: it names none. */
export function targetOfGitFile(path: string): string | null {
  const [, target] = /^gitdir: (.+?)\s*$/m.exec(readFile(path) ?? "") ?? [];
  return target === undefined ? null : resolve(dirname(path), target);
}

function resolveRef(folders: readonly string[], name: string): string | null {
  for (const folder of folders) {
    const loose = readFile(join(folder, name))?.trim();
    if (loose !== undefined && hash.test(loose)) return loose;
    const packed = readFile(join(folder, "packed-refs"));
    const line = packed?.split("\n").find((each) => each.endsWith(` ${name}`));
    const value = line?.slice(0, line.indexOf(" "));
    if (value !== undefined && hash.test(value)) return value;
  }
  return null;
}

/** The nearest folder upwards that is the top of a repository, and the folder of git's own files. */
export function findTop(folder: string): { readonly top: string; readonly git: string } | null {
  let top = folder;
  for (let level = 0; level <= maxLevels; level += 1) {
    const git = gitFolderAt(top);
    if (git !== null) return { top, git };
    if (dirname(top) === top) return null;
    top = dirname(top);
  }
  return null;
}

function commonFolder(git: string): string {
  const shared = readFile(join(git, "commondir"))?.trim() ?? "";
  if (shared === "") return git;
  return isAbsolute(shared) ? shared : resolve(git, shared);
}

const isSame = (one: string, other: string) => realPathOf(one) !== null && realPathOf(one) === realPathOf(other);

/**
 * Whether the repository itself names this folder: as the worktree or submodule that a `.git` file claims it to be, and
 * as one of the worktrees that share its common folder. Anybody can make a `.git` file or link that points elsewhere.
 */
export function isOwnRepository(
  { top, git }: { readonly top: string; readonly git: string },
  common = commonFolder(git),
): boolean {
  if (common !== git && !isSame(dirname(git), join(common, "worktrees"))) return false;
  if (git === join(top, ".git")) return true;
  const [back, settings] = [readFile(join(git, "gitdir"))?.trim(), readFile(join(git, "config"))];
  const worktree = /^[ \t]*worktree[ \t]*=[ \t]*"?(.+?)"?[ \t]*$/m.exec(settings ?? "")?.[1];
  const named = back === undefined ? worktree && resolve(git, worktree) : dirname(resolve(git, back));
  return named !== undefined && named !== "" && isSame(named, top);
}

/** The commit that HEAD contains or refers to; null: there is none, or its ref has a format that pai does not read. */
function hashOf(said: string, git: string, common: string): string | null {
  const [, ref] = /^ref: (refs\/[^\0\s]+)$/.exec(said) ?? [];
  if (ref === undefined) return hash.test(said) ? said : null;
  return ref.split("/").includes("..") ? null : resolveRef([git, common], ref);
}

export type Checkout = NonNullable<ReturnType<typeof findCheckout>>;

/**
 * A working tree, which may have no commit yet. `isOwn`: the repository itself names this folder; `common`: the folder that
 * all its working trees share; `head`: the hash of the commit that is checked out, null where it cannot be determined.
 */
export function findCheckout(folder: string) {
  const found = findTop(folder);
  if (found === null) return null;
  const { top, git } = found;
  const common = commonFolder(git);
  const said = readFile(join(git, "HEAD"))?.trim() ?? "";
  const branch = /^ref: refs\/heads\/([\w./-]+)$/.exec(said)?.[1] ?? null;
  return { isOwn: isOwnRepository(found, common), top, git, common, branch, head: hashOf(said, git, common) };
}

/** The repository that contains a folder; a text: why its history cannot be read; null: there is none. */
export function findRepository(folder: string): Repository | string | null {
  const found = findCheckout(folder);
  if (found === null) return null;
  const { isOwn, top, common, head } = found;
  if (!isOwn) return "`.git` names a repository that does not list this folder";
  if (head === null) return "there is no commit yet, or HEAD has a format that pai does not read";
  if (entryAt(join(common, "objects"))?.isDirectory() !== true) return "the repository has no objects";
  const prefix = top === folder ? "" : `${folder.slice(top === "/" ? 1 : top.length + 1)}/`;
  return { objects: join(common, "objects"), head, shallow: readFile(join(common, "shallow")) ?? "", prefix };
}
