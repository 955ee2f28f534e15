/** Which paths an action may use, by their names alone: deny, ask or allow. Pure. */

import { judgeNames, leadsToSpelled, type PathRules, whyJudged } from "../core/closed-names.ts";
import { foldName } from "../core/guard/fold-name.ts";
import { nameOf, type PathUse, parentOf, type RelPath } from "../core/path.ts";
import { showName } from "./parse-path.ts";

export type PathVerdict =
  | { readonly verdict: "allow" }
  /** `why` is a clause that names the part of the path it refers to. */
  | { readonly verdict: "deny" | "ask"; readonly why: string };

const changes: ReadonlySet<PathUse> = new Set(["write", "folder", "move"]);

export function judgePath(path: RelPath, use: PathUse, rules: PathRules): PathVerdict {
  const found = path.startsWith("/") ? rules.outside?.(path) : null;
  if (found?.path === "" && use === "folder") return { verdict: "allow" };
  if (found && !found.mayChange && changes.has(use))
    return { verdict: "deny", why: "it is outside the project: shown, and changed only with --also FOLDER" };
  if (found) return judgePath(found.path as RelPath, use, found.rules);
  if (path === "" && use !== "list") return { verdict: "deny", why: "that is the root itself" };
  const judged = judgeNames(path, rules, use === "folder" || use === "list");
  const why = `${showName(judged.name)} ${whyJudged(judged)}`;
  const isMade = use === "folder" && judged.kind !== "settings" && leadsToSpelled(path, rules);
  if (judged.class === "closed" && !isMade) return { verdict: "deny", why };
  return judged.asks && changes.has(use) ? { verdict: "ask", why } : { verdict: "allow" };
}

/** The folder that these paths would give the shape of a git repository; null: none. `siblings`: its names now. */
export function findRepositoryShape(
  created: readonly RelPath[],
  siblings: (folder: RelPath) => readonly string[],
): RelPath | null {
  const touched = new Map<RelPath, Set<string>>();
  for (const path of created) {
    for (let at = path; at !== ""; at = parentOf(at)) {
      const name = foldName(nameOf(at));
      if (!repositoryParts.has(name)) continue;
      const folder = parentOf(at);
      touched.set(folder, (touched.get(folder) ?? new Set()).add(name));
    }
  }
  for (const [folder, names] of touched) {
    const all = new Set([...names, ...siblings(folder).map(foldName)]);
    if (all.has("head") && (all.has("commondir") || (all.has("objects") && all.has("refs")))) return folder;
  }
  return null;
}

const repositoryParts: ReadonlySet<string> = new Set(
  "head objects refs config config.worktree commondir hooks".split(" "),
);

/** Closes each of pai's own absolute `folders` that lies below the root. */
export function denyBelow(rules: PathRules, root: string, folders: readonly string[]): PathRules {
  const above = root === "/" ? root : `${root}/`;
  const below = folders.filter((folder) => folder.startsWith(above)).map((folder) => folder.slice(above.length));
  const globs = below.map((path) => `/${path.replace(/[*?[\]{}!\\]/g, "\\$&")}`);
  return globs.length === 0 ? rules : { ...rules, deny: [...rules.deny, ...globs], own: new Set(below) };
}

const neverRoots = new Set("/ /home /media /mnt /opt /root /run /srv /usr /usr/local /var /var/lib".split(" "));
const systemTree = /^\/(bin|boot|dev|etc|lib|lib32|lib64|libx32|proc|sbin|sys|usr\/(bin|lib|lib32|lib64|sbin))(\/|$)/;

/** Both are real paths. null: it may be a root. */
export function judgeRoot(real: string, home: string | null): string | null {
  if (real === "/") return "is the whole system";
  if (real === home) return "is the home folder";
  if (real.startsWith("/dev/shm/")) return null;
  return neverRoots.has(real) || systemTree.test(real) ? "is a folder of the system" : null;
}
