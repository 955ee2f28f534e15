/** Finds what else a file of the project is: the target of a link with a telling name, or a file that git will run. */
import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isBuiltFolder } from "../core/command/built-names.ts";
import { foldName } from "../core/guard/fold-name.ts";
import { describeSteering, needsOwnYes, steeringBelow } from "../core/guard/steering.ts";
import { joinPath, nameOf, parentOf, type RelPath } from "../core/path.ts";
import { entriesOf, realPathOf } from "../system/lookups.ts";
import { readSmall } from "../system/read-small.ts";
import { isTemporary } from "./atomic-write.ts";
import { type Checkout, findCheckout } from "./git/find-repository.ts";
import { type NamedPrograms, programsIn, wordsIn } from "./git/programs-in.ts";
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
const maxIncluded = 20;
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

/** Endings of scripts that a hook may run by their interpreter, so that they need not be executable. */
const script = /\.(?:sh|bash|zsh|py|rb|pl|php|lua|[cm]?[jt]s)$/;

/** Notes what hooks are or call in the project, and what the repository's own settings name. */
function noteGit(root: string, note: Note): void {
  const checkout = findCheckout(root);
  if (checkout === null) return;
  noteHooks(checkout, note);
  noteSettings(checkout, note);
}

function noteHooks({ top, common }: Checkout, note: Note): void {
  const folder = join(common, "hooks");
  for (const { name } of entriesOf(folder).filter((entry) => !entry.name.endsWith(".sample"))) {
    const why = `git runs it as the hook ${name}, or from there`;
    const real = realFileOf(join(folder, name));
    if (real !== null) note(real.path, { why });
    for (const word of wordsIn(readSmall(join(folder, name), maxSettingsBytes) ?? "")) {
      const called = realFileOf(resolve(top, word));
      if (called !== null && ((called.mode & 0o111) !== 0 || script.test(called.path))) note(called.path, { why });
    }
  }
}

function noteSettings({ top, git, common }: Checkout, note: Note): void {
  const files = new Set([join(common, "config"), join(git, "config"), join(git, "config.worktree")]);
  for (const { key, words } of settingsOf(files)) {
    const why = `git reads or runs it: ${key}`;
    for (const word of words) {
      // Hooks need not exist yet, and all of their folder counts; of another folder git runs nothing.
      if (key === "core.hookspath") note(resolve(top, word), { why });
      else for (const base of [top, git]) noteFile(resolve(base, word), why, note);
    }
  }
}

/** What these settings files name, and the files that they include. */
function settingsOf(files: ReadonlySet<string>): readonly NamedPrograms[] {
  const read = (file: string) => programsIn(readSmall(file, maxSettingsBytes) ?? "").map((each) => ({ file, ...each }));
  const named = [...files].flatMap(read);
  const included = named.flatMap(({ file, key, words }) =>
    /^include(?:if)?\.path$/.test(key) ? words.map((word) => resolve(dirname(file), word)) : [],
  );
  return [...named, ...included.slice(0, maxIncluded).flatMap(read)];
}

function noteFile(path: string, why: string, note: Note): void {
  const real = realFileOf(path);
  if (real !== null) note(real.path, { why });
}

/** The real path and mode of a regular file; null: most words are no paths. */
function realFileOf(path: string): { readonly path: string; readonly mode: number } | null {
  const real = realPathOf(path);
  const stat = real === null ? undefined : lstatSync(real, { throwIfNoEntry: false });
  return real !== null && stat?.isFile() === true ? { path: real, mode: stat.mode } : null;
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
    if (there.verdict !== "allow") return `a link makes it ${showName(other.link)}, and ${there.why}`;
  }
  return null;
}
