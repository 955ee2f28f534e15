/** What a command did to files that are closed to actions, from a look before it and one after it. */
import { foldName } from "../../core/guard/fold-name.ts";
import { findSteering } from "../../core/guard/steering.ts";
import type { RelPath } from "../../core/path.ts";
import type { ClosedChange } from "../../core/ports.ts";
import { showName } from "../parse-path.ts";
import { judgePath, type PathRules } from "../path-policy.ts";
import type { Stat } from "../system/stat.ts";
import { type ClosedFiles, editorName, isSteering } from "./closed-files.ts";
import { type Comparison, isSame, type Kept, openComparison } from "./kept.ts";

const maxNamed = 3;
/** The parts of a repository that run code. */
const runsCode = /^(?:config(?:\.worktree)?|commondir|gitdir|hgrc|hooks|rebase-merge|rebase-apply|sequencer)$/;

export interface ClosedComparison extends Comparison {
  /** What now stands at some of the changed paths and was not read, as it is large or unreadable: their `after` is null. */
  readonly unread: ReadonlyMap<RelPath, Stat>;
  /** The changes for those who judge them. */
  readonly told: readonly ClosedChange[];
  /** Ignored files that were only compared and are gone. */
  readonly gone: readonly RelPath[];
  /** What changed of small ignored files. */
  readonly ignored: Comparison;
  /** Ignored files that changed and were only compared. */
  readonly stays: readonly RelPath[];
}

/**
 * What became of them from one look to the next. `open`: files that are not ignored; of those that steer, the ones whose
 * content was not read afterwards are judged here.
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
  const isJudged = (path: RelPath) => before.kept.has(path) || after.kept.has(path) || isSteering(path);
  for (const path of findUnread(...open)) {
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
  const told = [...paths, ...lost].map((path) => ({
    path,
    isDenied: judgePath(path, "write", rules).verdict === "deny",
    runsUnasked: runsUnasked(path),
  }));
  return { changes, unread, traits, told, notes, unkept, ignored, ...compareIgnored(before, after) };
}

const goesBackOnly = (path: RelPath): string =>
  `${showName(path)} changed and was not kept: it goes back with a run that fails, and not by undo`;

type Files = ReadonlyMap<RelPath, Kept>;

/** Files that are not ignored and have changed to what was not read: new ones, those that were known, and those that steer. */
export function findUnread(before: Files, after: Files): readonly RelPath[] {
  if (before === after) return [];
  const isLost = ([path, now]: readonly [RelPath, Kept]): boolean => {
    const old = before.get(path) ?? null;
    return now.blob === null && !isSame(old, now) && (old === null || old.blob !== null || isSteering(path));
  };
  return [...after].filter(isLost).map(([path]) => path);
}

function runsUnasked(path: RelPath): boolean {
  const parts = path.split("/").map(foldName);
  const at = parts.findIndex((name) => name === ".git" || name === ".hg");
  if (at >= 0) return at === parts.length - 1 || parts.slice(at + 1).some((name) => runsCode.test(name));
  return parts.some((name) => editorName.test(name)) || findSteering(path)?.kind === "unasked";
}

function compareIgnored(before: ClosedFiles, after: ClosedFiles): Pick<ClosedComparison, "stays" | "gone"> {
  // Where not all were looked at, another part of them may have been.
  const isPart = before.isPart || after.isPart;
  const changed = [...after.ignored].flatMap(([path, is]) => {
    const was = before.ignored.get(path);
    return was === is || (isPart && was === undefined) ? [] : [path];
  });
  const gone = isPart ? [] : [...before.ignored.keys()].filter((path) => !after.ignored.has(path));
  return { stays: [...changed, ...gone].sort(), gone };
}

/** What changed and stays, as a line; null: nothing. `isPart`: more may have. */
export function sayStays(stays: readonly RelPath[], isPart: boolean): string | null {
  const count = stays.length;
  if (count === 0) return null;
  const many = `${isPart ? "at least " : ""}${count} ignored ${count === 1 ? "file" : "files"}`;
  const named = stays.slice(0, maxNamed).map(showName).join(", ");
  return `${many} changed, and ${count === 1 ? "stays" : "stay"} so: ${named}${count > maxNamed ? " …" : ""}`;
}
