/** How the effects of commands in a path are treated, by its names and by whether it is ignored. Pure. */

import {
  type ClosedKind,
  classOf,
  closedNameIn,
  isBuiltFolder,
  isCache,
  isTransient,
  type PathRules,
} from "../../core/closed-names.ts";
import { foldName } from "../../core/guard/fold-name.ts";
import { foldersAbove, nameOf, parentOf, type RelPath } from "../../core/path.ts";

/** `open`: shown and judged. `ignored`: small files are kept and undone. `carried`: built, no copy is kept. */
export type EffectKind = "open" | "ignored" | "carried" | ClosedKind;

export const isClosedKind = (kind: EffectKind): kind is ClosedKind => !["open", "ignored", "carried"].includes(kind);

export function effectKindOf(
  path: RelPath,
  isFolder: boolean,
  isIgnored: boolean,
  above: EffectKind,
  rules: PathRules,
): EffectKind {
  if (above === "carried" || isClosedKind(above)) return above;
  const closed = closedNameIn(parentOf(path), nameOf(path), rules, isFolder);
  // An ignored folder of the user may hold secrets that commands make: they are nobody's change.
  if (closed !== null) return above === "ignored" && closed !== "repository" ? "carried" : closed;
  if (!isIgnored) return "open";
  const name = classOf(path, rules, isFolder);
  return name === "asked" ? "open" : name === "built" ? "carried" : "ignored";
}

/** What configures git or Mercurial or runs code, as opposed to the history. */
const orders =
  /^(?:config(?:\.worktree)?|head|commondir|gitdir|hgrc|hooks|info|rebase-merge|rebase-apply|sequencer|remotes|branches)$/;
const repositoriesInside = /^(?:modules|worktrees)$/;
const history = /^(?:objects|refs|logs|lfs)$/;
/** Parts of a repository that make git or Mercurial run code. */
const runsCode = /^(?:config(?:\.worktree)?|commondir|gitdir|hgrc|hooks|rebase-merge|rebase-apply|sequencer)$/;

/** `below`: from the repository's folder. Also true for a folder that may hold what configures it. */
export function isOrder(below: string, isFolder: boolean): boolean {
  const [first = "", ...rest] = below.split("/").map(foldName);
  if (orders.test(first)) return true;
  if (!repositoriesInside.test(first)) return false;
  return rest.some((name) => orders.test(name)) || (isFolder && !rest.some((name) => history.test(name)));
}

export function runsUnasked(path: RelPath): boolean {
  const parts = path.split("/").map(foldName);
  const at = parts.findIndex((name) => name === ".git" || name === ".hg");
  return at >= 0 && (at === parts.length - 1 || parts.slice(at + 1).some((name) => runsCode.test(name)));
}

/** Files in a built folder, or in one that the run made, are no loss; the folder as a whole is. */
export function isLoss(path: RelPath, made: ReadonlySet<RelPath>): boolean {
  if (isTransient(nameOf(path)) || isCache(nameOf(path))) return false;
  if (parentOf(path).split("/").some(isBuiltFolder)) return false;
  return ![path, ...foldersAbove(path)].some((at) => made.has(at));
}
