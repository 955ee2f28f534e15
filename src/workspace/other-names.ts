/** Finds what else a file of the project is: the target of a link with a telling name, or a file that git will run. */
import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { isBuiltFolder } from "../core/command/built-names.ts";
import { foldName } from "../core/guard/fold-name.ts";
import { describeSteering, needsOwnYes, steeringBelow } from "../core/guard/steering.ts";
import { joinPath, nameOf, parentOf, type RelPath } from "../core/path.ts";
import { entriesOf, realPathOf } from "../system/lookups.ts";
import { readSmall } from "../system/read-small.ts";
import { isTemporary } from "./atomic-write.ts";
import { findCheckout } from "./git/find-repository.ts";
import { programsIn } from "./git/programs-in.ts";
import { showName } from "./parse-path.ts";
import { judgePath, type PathRules } from "./path-policy.ts";

/** `link`: a path of the project that leads to the file. `why`: what runs the file, as a clause. */
export type OtherName = { readonly link: RelPath } | { readonly why: string };

export interface OtherNames {
  /** Other names of a path, or of a folder above it, spelled out to the path. */
  find(path: RelPath): readonly OtherName[];
}

/** How many names are looked at, upper folders first. */
const maxLooks = 10_000;
const maxSettingsBytes = 256 * 1024;
/** Milliseconds: a command may make links, and thousands of paths are judged in a row. */
const freshMs = 100;

type Found = ReadonlyMap<RelPath, readonly OtherName[]>;

/** `root`: the real path of the project. Looks at it when first asked. */
export function openOtherNames(root: string): OtherNames {
  let found: Found = new Map();
  let foundAt = Number.NEGATIVE_INFINITY;
  return {
    find(path) {
      if (performance.now() - foundAt > freshMs) {
        found = look(root);
        foundAt = performance.now();
      }
      if (found.size === 0) return [];
      const names: OtherName[] = [];
      for (let at = path; at !== ""; at = parentOf(at)) {
        const rest = path.slice(at.length);
        for (const other of found.get(at) ?? [])
          names.push("link" in other ? { link: `${other.link}${rest}` as RelPath } : other);
      }
      return names;
    },
  };
}

function look(root: string): Found {
  const found = new Map<RelPath, OtherName[]>();
  /** Notes what an absolute real path is; one that is not below the root does not count. */
  const note = (real: string, other: OtherName): void => {
    if (!real.startsWith(`${root}/`)) return;
    const path = real.slice(root.length + 1) as RelPath;
    found.set(path, [...(found.get(path) ?? []), other]);
  };
  for (const link of linksIn(root)) {
    const real = realPathOf(join(root, link));
    if (real !== null) note(real, { link });
  }
  noteGit(root, note);
  return found;
}

/** Links below the root, but not in folders that tools fill. */
function linksIn(root: string): readonly RelPath[] {
  const links: RelPath[] = [];
  const waiting = ["" as RelPath];
  let left = maxLooks;
  for (let folder = waiting.shift(); folder !== undefined && left > 0; folder = waiting.shift()) {
    const entries = entriesOf(join(root, folder));
    left -= entries.length + 1;
    for (const entry of entries) {
      const path = joinPath(folder, entry.name);
      if (entry.isSymbolicLink() && !isTemporary(entry.name)) links.push(path);
      else if (entry.isDirectory() && entry.name !== ".git" && !isBuiltFolder(entry.name)) waiting.push(path);
    }
  }
  return links;
}

type Note = (real: string, other: OtherName) => void;

/** Notes hooks that are links into the project, and what the repository's own settings name. */
function noteGit(root: string, note: Note): void {
  const checkout = findCheckout(root);
  if (checkout === null) return;
  const { top, git, common } = checkout;
  const hooks = join(common, "hooks");
  for (const { name } of entriesOf(hooks).filter((entry) => entry.isSymbolicLink())) {
    noteFile(join(hooks, name), `git runs it as the hook ${name}`, note);
  }
  const files = new Set([join(common, "config"), join(git, "config"), join(git, "config.worktree")]);
  const named = [...files].flatMap((file) => programsIn(readSmall(file, maxSettingsBytes) ?? ""));
  for (const { key, words } of named) {
    const why = `git reads or runs it: ${key}`;
    // Hooks need not exist yet, and all of their folder counts.
    if (key === "core.hookspath") for (const word of words) note(resolve(top, word), { why });
    else
      for (const path of words.flatMap((word) => [resolve(top, word), resolve(git, word)])) noteFile(path, why, note);
  }
}

function noteFile(path: string, why: string, note: Note): void {
  const real = realPathOf(path);
  // Most words of a setting are no paths; of a folder git runs nothing but hooks.
  if (real !== null && lstatSync(real, { throwIfNoEntry: false })?.isFile() === true) note(real, { why });
}

/** Why a change of this path needs an approval of its own, as a clause; null: it needs none. `isLink`: it becomes one. */
export function whySteers(
  path: RelPath,
  rules: PathRules,
  others: readonly OtherName[],
  isLink: boolean,
): string | null {
  const verdict = judgePath(path, "write", rules);
  if (verdict.verdict === "ask") return verdict.why;
  // What lies in the target then steers, under names that nobody would be asked about.
  const below = isLink ? steeringBelow(foldName(nameOf(path))) : null;
  if (below !== null && needsOwnYes(below)) return `as a link ${showName(nameOf(path))} ${describeSteering(below)}`;
  for (const other of others) {
    if ("why" in other) return `${showName(nameOf(path))} runs code later without being asked (${other.why})`;
    const there = judgePath(other.link, "write", rules);
    if (there.verdict !== "allow") return `a link makes it ${showName(other.link)}: ${there.why}`;
  }
  return null;
}
