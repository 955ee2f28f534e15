/** Finds the files in the project that are closed to commands. */

import { type Dirent, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { closedNameIn, isToolName, type PathRules } from "../../core/closed-names.ts";
import { unless } from "../../core/error.ts";
import { joinPath, type RelPath } from "../../core/path.ts";
import { entryAt } from "../../system/entry-at.ts";
import { realPathOf } from "../../system/lookups.ts";
import { targetOfGitFile } from "../git/find-repository.ts";

export interface Inside {
  /** Absolute. */
  readonly hidden: readonly string[];
  /** Their folders, the `.git` files that point to one, and the folders these name. */
  readonly repositories: readonly string[];
}

interface Project {
  readonly workspace: string;
  readonly rules: PathRules;
}

/** In all folders together; a folder of the project in which there is more is hidden as a whole. */
const usualNames = 2_000_000;
/** Bytes. A command can build longer paths than the kernel takes, step by step. */
const longestFolder = 3800;

/** undefined also in a folder that may not be entered. */
const seenAt = (path: string): Stats | undefined => unless(["EACCES"], () => entryAt(path));

/**
 * For each command anew, as people and commands change it: upper folders first, folders of tools only one level deep.
 */
export function findInside({ workspace, rules }: Project, maxNames = usualNames): Inside {
  const found = { hidden: [] as string[], repositories: [] as string[] };
  const folders: { readonly folder: RelPath; readonly isLast: boolean }[] = [{ folder: "" as RelPath, isLast: false }];
  const top = workspace === "/" ? "" : workspace;
  const at = (folder: RelPath) => (folder === "" ? workspace : `${top}/${folder}`);
  let [names, searched] = [0, 0];
  const note = (folder: RelPath, entry: Dirent, isLast: boolean): void => {
    const inner = joinPath(folder, entry.name);
    const path = `${top}/${inner}`;
    const kind = closedNameIn(folder, entry.name, rules, entry.isDirectory());
    if (kind === "repository") found.repositories.push(...repositoryAt(path, entry));
    else if (kind !== null) found.hidden.push(path);
    else if (entry.isDirectory() && !isLast) folders.push({ folder: inner, isLast: isToolName(entry.name, true) });
  };
  // The list grows meanwhile.
  for (const { folder, isLast } of folders) {
    if (names >= maxNames) break;
    searched += 1;
    const entries = Buffer.byteLength(at(folder)) > longestFolder ? null : listFolder(at(folder));
    // No path leads into it, or its owner has removed the right to list it, which a command can restore.
    if (entries === null) found.hidden.push(at(folder));
    names += entries?.length ?? 0;
    for (const entry of entries ?? []) note(folder, entry, isLast);
  }
  const others = otherNames(
    found.hidden,
    folders.slice(0, searched).map(({ folder }) => at(folder)),
  );
  const beyond = [...new Set(folders.slice(searched).map(({ folder }) => at(folder.split("/")[0] as RelPath)))];
  // A path below a folder that is covered cannot be mounted.
  const isSeen = (path: string) => !beyond.some((folder) => path.startsWith(`${folder}/`));
  return { hidden: [...found.hidden, ...others, ...beyond], repositories: found.repositories.filter(isSeen) };
}

/** Hard links to hidden files, where one has names that are not hidden. */
function otherNames(hidden: readonly string[], folders: readonly string[]): readonly string[] {
  const known = new Set(hidden);
  const missing = missingNames(known);
  const others: string[] = [];
  let left = [...missing.values()].reduce((sum, count) => sum + count, 0);
  for (const folder of left > 0 ? folders : []) {
    const paths = (listFolder(folder) ?? []).filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
    const same = paths.filter((path) => !known.has(path) && missing.has(identityOf(seenAt(path))));
    others.push(...same);
    left -= same.length;
    if (left <= 0) break;
  }
  return others;
}

const identityOf = (stat: Stats | undefined): string => `${stat?.dev}:${stat?.ino}`;

/** By device and inode, how many names of a file are not among these. */
function missingNames(known: ReadonlySet<string>): ReadonlyMap<string, number> {
  const missing = new Map<string, number>();
  for (const path of known) {
    const stat = seenAt(path);
    if (!stat?.isFile() || stat.nlink === 1) continue;
    const identity = identityOf(stat);
    missing.set(identity, (missing.get(identity) ?? stat.nlink) - 1);
  }
  return missing;
}

/** null: it cannot be listed. */
function listFolder(folder: string): readonly Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? [] : null;
  }
}

/** None for a link that leads nowhere. */
function repositoryAt(path: string, entry: Dirent): readonly string[] {
  if (entry.isDirectory()) return [path];
  if (entry.isFile()) return [path, ...targetOf(path)];
  const target = entry.isSymbolicLink() ? realPathOf(path) : null;
  return target === null ? [] : [target];
}

/** If it has the shape of a repository. */
function targetOf(path: string): readonly string[] {
  const target = targetOfGitFile(path);
  const real = target === null ? null : realPathOf(target);
  return real !== null && hasRepositoryShape(real) ? [real] : [];
}

function hasRepositoryShape(folder: string): boolean {
  const has = (name: string) => entryAt(join(folder, name)) !== undefined;
  return has("HEAD") && (has("objects") || has("commondir"));
}
