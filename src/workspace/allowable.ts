/** Checks what the user allows to change by naming it (`--allow`), before anything is asked of a model. */
import { PaiError } from "../core/error.ts";
import { judgeNames, type PathRules, whyJudged } from "../core/names.ts";
import type { RelPath } from "../core/path.ts";
import { otherHomes } from "../system/homes.ts";
import type { Root } from "./confine.ts";
import { parsePath, showName } from "./parse-path.ts";

const isGlob = (text: string) => /[*?[\]{}]/.test(text);

/**
 * Throws usage for what no flag allows (version control, pai's own files, another user's home), for a closed folder or a
 * pattern of closed files, which must be named one by one, and for a pattern without any match.
 */
export function requireAllowable(root: Root, rules: PathRules, home: string | null, named: readonly string[]): void {
  for (const text of named) {
    const wrong = isGlob(text) ? whyNoGlob(root, text) : whyNotAllowed(root, rules, home, text);
    if (wrong !== null) throw new PaiError("usage", `--allow ${showName(text)}: ${wrong.why}`, { hint: wrong.hint });
  }
}

interface Wrong {
  readonly why: string;
  readonly hint?: string;
}

const whyNoGlob = (root: Root, glob: string): Wrong | null =>
  hasMatch(root, glob)
    ? null
    : { why: "matches nothing here", hint: "name a file that does not exist yet by its whole path" };

function whyNotAllowed(root: Root, rules: PathRules, home: string | null, text: string): Wrong | null {
  const path = pathOf(text);
  if (path === null) return { why: "is no path of the project" };
  const absolute = `${root.path === "/" ? "" : root.path}/${path}`;
  const owner = otherHomes(home).find((each) => absolute.startsWith(`${each}/`) && !root.path.startsWith(`${each}/`));
  if (owner !== undefined) return { why: `${showName(owner)} is the home of another user` };
  const judged = judgeNames(path, rules);
  if (judged.class !== "closed") return null;
  const why = `${showName(judged.name)} ${whyJudged(judged)}`;
  if (judged.kind !== "secret") return { why: `${why}, and no flag allows to change it` };
  return isFolder(root, path) ? { why, hint: "name each file in it by its whole path" } : null;
}

function pathOf(text: string): RelPath | null {
  try {
    return parsePath(text).path;
  } catch {
    return null;
  }
}

/** Whether a path below the root matches; what cannot be looked through may. */
function hasMatch(root: Root, glob: string): boolean {
  try {
    const folders = [glob, glob.replace(/\/\*\*$/, "")];
    return folders.some(
      (each) => !new Bun.Glob(each).scanSync({ cwd: root.path, dot: true, onlyFiles: false }).next().done,
    );
  } catch {
    return true;
  }
}

function isFolder(root: Root, path: RelPath): boolean {
  try {
    return root.stat(path)?.kind === "folder";
  } catch {
    return false;
  }
}
