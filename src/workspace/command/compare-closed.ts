/** Compares the files closed to actions before and after a command. */
import { foldName } from "../../core/guard/fold-name.ts";
import { classOf, type PathRules } from "../../core/names.ts";
import type { RelPath } from "../../core/path.ts";
import type { ClosedChange } from "../../core/ports.ts";
import { showName } from "../parse-path.ts";
import type { Stat } from "../system/stat.ts";
import type { ClosedFiles } from "./closed-files.ts";
import { type Comparison, isSame, type Kept, openComparison } from "./kept.ts";

const maxNamed = 3;
/** Parts of a repository that make git or Mercurial run code. */
const runsCode = /^(?:config(?:\.worktree)?|commondir|gitdir|hgrc|hooks|rebase-merge|rebase-apply|sequencer)$/;

export interface ClosedComparison extends Comparison {
  /** Changed paths whose new content is too large or unreadable; in `changes` their `after` is null. */
  readonly unread: ReadonlyMap<RelPath, Stat>;
  /** The changes as the approval and the report see them. */
  readonly judged: readonly ClosedChange[];
  /** Ignored files that were only compared and no longer exist. */
  readonly gone: readonly RelPath[];
  /** Changes of small ignored files. */
  readonly ignored: Comparison;
  /** Ignored files that were only compared and have changed. */
  readonly stays: readonly RelPath[];
}

/**
 * Compares two looks at closed files. `open`: files that are not ignored, before and after; of these it judges the
 * steering ones whose content was not read after the command.
 */
export function compareClosed(
  [before, after]: readonly [ClosedFiles, ClosedFiles],
  open: readonly [Files, Files],
  rules: PathRules,
): ClosedComparison {
  const { changes, traits, notes, unkept, compare } = openComparison("cannot be put back");
  const unread = new Map<RelPath, Stat>();
  const lost: RelPath[] = [];
  const judge = (path: RelPath, old: Kept | null, now: Kept | null): void => {
    if (isSame(old, now) || (old === null && before.isKeptPart)) return;
    if (old?.blob === null) lost.push(path);
    if (now?.blob === null && old?.blob !== null) unread.set(path, now.stat);
    compare(path, old, unread.has(path) ? null : now);
    if (unread.has(path) && old === null) changes.push({ path, before: null, after: null, from: null });
  };
  for (const path of new Set([...before.kept.keys(), ...after.kept.keys()])) {
    judge(path, before.kept.get(path) ?? null, after.kept.get(path) ?? null);
  }
  const isJudged = (path: RelPath) => before.kept.has(path) || after.kept.has(path) || classOf(path, rules) === "asked";
  for (const path of findUnread(...open, rules)) {
    judge(path, open[0].get(path) ?? null, open[1].get(path) ?? null);
    if (!isJudged(path)) notes.push(goesBackOnly(path));
  }
  const ignored = openComparison("cannot be taken back");
  for (const path of new Set([...before.small.keys(), ...after.small.keys()])) {
    const [old, now] = [before.small.get(path) ?? null, after.small.get(path) ?? null];
    if (now?.blob !== null || old === null || old.blob === null || isSame(old, now)) ignored.compare(path, old, now);
    else {
      judge(path, old, now);
      notes.push(goesBackOnly(path));
    }
  }
  const paths = changes
    .filter(({ path, before: was, after: is }) => (was ?? is)?.kind !== "folder" && isJudged(path))
    .map(({ path }) => path);
  const judged = [...paths, ...lost].map((path) => ({
    path,
    isDenied: classOf(path, rules) === "closed",
    runsUnasked: runsUnasked(path),
  }));
  return { changes, unread, traits, judged, notes, unkept, ignored, ...compareIgnored(before, after) };
}

const goesBackOnly = (path: RelPath): string =>
  `${showName(path)} changed and was not kept: it goes back with a run that fails, and not by undo`;

type Files = ReadonlyMap<RelPath, Kept>;

/** Files that are not ignored and whose changed content was not read: new ones, ones kept before, and steering ones. */
export function findUnread(before: Files, after: Files, rules: PathRules): readonly RelPath[] {
  if (before === after) return [];
  const isLost = ([path, now]: readonly [RelPath, Kept]): boolean => {
    const old = before.get(path) ?? null;
    if (now.blob !== null || isSame(old, now)) return false;
    return old === null || old.blob !== null || classOf(path, rules) === "asked";
  };
  return [...after].filter(isLost).map(([path]) => path);
}

function runsUnasked(path: RelPath): boolean {
  const parts = path.split("/").map(foldName);
  const at = parts.findIndex((name) => name === ".git" || name === ".hg");
  return at >= 0 && (at === parts.length - 1 || parts.slice(at + 1).some((name) => runsCode.test(name)));
}

function compareIgnored(before: ClosedFiles, after: ClosedFiles): Pick<ClosedComparison, "stays" | "gone"> {
  // If either look was incomplete, a missing file may simply not have been looked at.
  const isPart = before.isPart || after.isPart;
  const changed = [...after.ignored].flatMap(([path, is]) => {
    const was = before.ignored.get(path);
    return was === is || (isPart && was === undefined) ? [] : [path];
  });
  const gone = isPart ? [] : [...before.ignored.keys()].filter((path) => !after.ignored.has(path));
  return { stays: [...changed, ...gone].sort(), gone };
}

/** Says in one line which ignored files changed for good; null: none. `isPart`: there may be more. */
export function describeStays(stays: readonly RelPath[], isPart: boolean): string | null {
  const count = stays.length;
  if (count === 0) return null;
  const many = `${isPart ? "at least " : ""}${count} ignored ${count === 1 ? "file" : "files"}`;
  const named = stays.slice(0, maxNamed).map(showName).join(", ");
  return `${many} changed, and ${count === 1 ? "stays" : "stay"} so: ${named}${count > maxNamed ? " …" : ""}`;
}
