/** What `--allow` may name, and what can be written: checked before a model is asked. */

import { accessSync, constants, existsSync, lstatSync, statfsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { judgeNames, type PathRules, whyJudged } from "../core/closed-names.ts";
import { cannotBeWritten, orNull, PaiError, toPaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { Touch } from "../core/ports.ts";
import { otherHomes } from "../system/homes.ts";
import { nearestThere } from "../system/lookups.ts";
import type { Root } from "./confine.ts";
import { type Outside, parseOutside } from "./outside.ts";
import { openInPlace } from "./owners.ts";
import { parsePath, showName } from "./parse-path.ts";

/** Throws usage for what no flag allows, what must be named file by file, and a pattern without a match. */
export function requireAllowable(
  root: Root,
  rules: PathRules,
  home: string | null,
  { named, places }: { readonly named: readonly string[]; readonly places: readonly Outside[] },
): void {
  for (const text of named) {
    const path = pathOf(text, places);
    const wrong = /[*?[\]{}]/.test(text) ? whyNoGlob(root, text) : whyNotAllowed(root, rules, home, path);
    if (wrong !== null) throw new PaiError("usage", `--allow ${showName(text)}: ${wrong.why}`, { hint: wrong.hint });
  }
}

type Wrong = { readonly why: string; readonly hint?: string } | null;

function whyNoGlob(root: Root, glob: string): Wrong {
  const hint = "name a file that does not exist yet by its whole path";
  return hasMatch(root, glob) ? null : { why: "matches nothing here", hint };
}

function whyNotAllowed(root: Root, rules: PathRules, home: string | null, path: RelPath | null): Wrong {
  if (path === null) return { why: "is no path of the project" };
  const absolute = resolve(root.path, path);
  const owner = otherHomes(home).find((each) => absolute.startsWith(`${each}/`) && !root.path.startsWith(`${each}/`));
  if (owner !== undefined) return { why: `${showName(owner)} is the home of another user` };
  const judged = judgeNames(path, rules);
  if (judged.class !== "closed") return null;
  const why = `${showName(judged.name)} ${whyJudged(judged)}`;
  if (judged.kind !== "secret") return { why: `${why}, and no flag allows to change it` };
  return root.statOrNull(path)?.kind === "folder" ? { why, hint: "name each file in it by its whole path" } : null;
}

const pathOf = (text: string, places: readonly Outside[]): RelPath | null =>
  orNull(() => (parseOutside(text, places) ?? parsePath(text)).path);

/** What cannot be looked through may match. */
function hasMatch(root: Root, glob: string): boolean {
  const matches = (each: string) =>
    !new Bun.Glob(each).scanSync({ cwd: root.path, dot: true, onlyFiles: false }).next().done;
  return orNull(() => [glob, glob.replace(/\/\*\*$/, "")].some(matches)) ?? true;
}

/** Throws read_only, permission_denied or disk_full. */
export function requireWritable(root: string, path: RelPath, touch: Touch): void {
  const at = resolve(root, path);
  const failure = openInPlace(root)(path, touch) ? failureAt(at) : whyNotReplaced(root, path, at);
  if (failure !== null) throw cannotBeWritten(showName(path), failure);
}

function whyNotReplaced(root: string, path: RelPath, at: string): NodeJS.ErrnoException | null {
  const folder = nearestThere(dirname(at));
  const where = folder === root ? "the project" : showName(path.startsWith("/") ? folder : relative(root, folder));
  const inFolder = failureAt(folder);
  const { code } = inFolder === null ? { code: null } : toPaiError(inFolder);
  if (code === "read_only" || inFolder?.code === "EACCES") {
    const [why, hint] =
      code === "read_only"
        ? ["on a disk that is read-only", "make it writable, then try again"]
        : ["closed to this user for writing", "give this user the right to write there, then try again"];
    const what = `${showName(path)} cannot be written: ${where} is ${why}`;
    throw new PaiError(code ?? "permission_denied", what, { hint });
  }
  if (code === "permission_denied") throw cannotBeWritten(where, inFolder);
  // Its mode does not matter, as it is replaced; an attribute does.
  const failure = existsSync(at) ? failureAt(at) : null;
  if (failure !== null && failure.code !== "EACCES") return failure;
  return isFull(folder) ? Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }) : null;
}

function failureAt(path: string): NodeJS.ErrnoException | null {
  try {
    accessSync(path, constants.W_OK);
    return null;
  } catch (thrown) {
    return thrown as NodeJS.ErrnoException;
  }
}

function isFull(folder: string): boolean {
  const { blocks, bavail, bfree } = statfsSync(folder);
  return blocks > 0 && (process.geteuid?.() === 0 ? bfree : bavail) === 0;
}

/** In words; empty: the root is this user's own. */
export function whyNotOwn(root: string, as: number): readonly string[] {
  const failure = failureAt(root);
  const { code } = failure === null ? { code: null } : toPaiError(failure);
  if (code === "read_only") return ["the project is on a disk that is read-only: it can be read, not changed"];
  if (code === "permission_denied") return ["the project is closed to this user for writing, at least at its top"];
  const owner = lstatSync(root, { throwIfNoEntry: false })?.uid ?? as;
  return owner === as ? [] : [`the project belongs to another user (uid ${owner}): new files will belong to you`];
}
