/** Keeps files as they are before a command in place, so that what it did can be taken back. */
import type { Blob, Change, Effects } from "../../core/change.ts";
import { classOf, type PathRules } from "../../core/closed-names.ts";
import { foldersAbove, type RelPath } from "../../core/path.ts";
import type { Steps } from "../../core/steps.ts";
import { holds, stateAt } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import type { Before, Journal } from "../journal/journal.ts";
import type { Episode, FileBefore, Watched } from "../journal/journal-run.ts";
import { walkNow } from "../scan.ts";
import type { Disk } from "../system/disk.ts";
import type { Stat } from "../system/stat.ts";
import type { Traits } from "../traits.ts";
import { isClosedKind } from "./kind.ts";
import { type Differences, isUntouched, type Look, type Seen, takeLook } from "./look.ts";

const limits = { files: 2000, bytes: 8 * 1024 * 1024, fileBytes: 256 * 1024 } as const;
const beatMs = 1000;
/** Milliseconds: clocks of file systems lag, and a process shows once a second that it is alive. */
const margin = { before: 100, after: 2000 } as const;

type Kept = Pick<Before["files"][number], "blob" | "owner">;

export function openWatch(journal: Journal) {
  let known: ReadonlyMap<RelPath, Kept> = new Map();
  let beating: Timer | null = null;
  return {
    /** `closed`: how closed files are treated, and the run's changes of them so far; null: they are left out. */
    begin(look: Look, closed: { readonly git: boolean; readonly changed: readonly Change[] } | null): void {
      const kept = new Map<RelPath, Kept>(chooseSmall(look));
      if (closed !== null) for (const [path, each] of closedAtStart(look, closed.changed)) kept.set(path, each);
      const fresh = [...kept].filter(([path, { blob }]) => known.get(path)?.blob !== blob);
      const gone = [...known].filter(([path]) => !kept.has(path));
      const files = [
        ...fresh.map(([path, each]) => ({ path, ...each })),
        ...gone.map(([path, { owner }]) => ({ path, blob: null, owner })),
      ];
      const isOther = ([path, { kind, blob }]: readonly [RelPath, Seen]) =>
        kind !== "carried" && blob?.kind !== "folder" && !kept.has(path);
      const others = [...[...look.seen].filter(isOther).map(([path]) => path), ...look.named.keys()];
      journal.watch({ files, others, closed: closed && { git: closed.git, isPart: look.named.size > 0 } });
      known = kept;
      beating ??= setInterval(() => journal.beat(), beatMs);
      beating.unref();
    },
    end(): void {
      if (beating === null) return;
      clearInterval(beating);
      beating = null;
      journal.beat();
    },
  };
}

/** Small files that are not closed. */
function chooseSmall({ seen }: Look): ReadonlyMap<RelPath, Kept> {
  const chosen = new Map<RelPath, Kept>();
  let bytes = 0;
  for (const [path, { kind, blob }] of seen) {
    if ((kind !== "open" && kind !== "ignored") || blob?.kind !== "file") continue;
    if (blob.bytes.length > limits.fileBytes) continue;
    bytes += blob.bytes.length;
    if (chosen.size === limits.files || bytes > limits.bytes) break;
    chosen.set(path, { blob, owner: null });
  }
  return chosen;
}

function closedAtStart({ seen }: Look, changed: readonly Change[]): ReadonlyMap<RelPath, Kept> {
  const files = new Map<RelPath, Kept>();
  for (const [path, { kind, blob, stat }] of seen)
    if (isClosedKind(kind) && blob !== null) files.set(path, { blob, owner: { uid: stat.uid, gid: stat.gid } });
  const first = new Map(changed.toReversed().map(({ path, before }) => [path, before]));
  for (const [path, blob] of first) {
    const owner = files.get(path)?.owner ?? { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
    if (blob === null) files.delete(path);
    else files.set(path, { blob, owner });
  }
  return files;
}

interface Killed {
  readonly root: Root;
  readonly rules: PathRules;
  readonly episode: Episode;
  readonly files: ReadonlyMap<RelPath, FileBefore>;
}

/** `since`: files that differ, `fresh`: that appeared, perhaps by somebody else; `unseen`: not to be looked at now. */
export function findRemains({ root, rules, episode: { watched, batches }, files }: Killed) {
  const since: Change[] = [];
  const unseen: RelPath[] = [];
  if (watched?.isRunning !== true) return { since, unseen, fresh: [] };
  for (const [path, { blob, owner }] of files) {
    if (owner !== null) continue;
    const now = stateAt(root, path);
    if (now.blob === undefined && now.stat === null) unseen.push(path);
    else if (blob !== null && now.blob !== undefined && !holds(now, blob))
      since.push({ path, before: blob, after: now.blob, from: null });
  }
  const known = new Set<string>([...watched.others, ...files.keys()]);
  for (const { changes } of batches) for (const { path } of changes) known.add(path);
  const standing = [...walkNow(root, "" as RelPath, rules)].filter(({ kind }) => kind !== "folder");
  return { since, unseen, fresh: standing.map(({ path }): string => path).filter((path) => !known.has(path)) };
}

/** In closed files; `later`: what changed since, perhaps by the user. `beaten`: when pai was last seen at work. */
export function* findClosedRemains({ root, rules, episode: { watched }, files }: Killed, beaten: number | null) {
  const changes: Change[] = [];
  const later: RelPath[] = [];
  const traits = new Map<RelPath, Traits>();
  if (watched?.closed == null) return { changes, traits, later };
  const { begun } = watched;
  /** By its ctime, which no program can set. */
  const isThen = ({ ctimeNs }: Stat): boolean => {
    const at = Number(ctimeNs / 1_000_000n);
    return at >= begun - margin.before && at <= (beaten ?? begun) + margin.after;
  };
  const note = (path: RelPath, isTheirs: boolean, before: Blob | null, after: Blob | null): void => {
    if (isTheirs) changes.push({ path, before, after, from: null });
    else if ((before ?? after)?.kind !== "folder") later.push(path);
  };
  for (const [path, { blob: before, owner }] of files) {
    if (owner === null || classOf(path, rules) !== "closed") continue;
    traits.set(path, { ...owner, attributes: {} });
    const now = stateAt(root, path);
    if (now.blob === undefined || holds(now, before)) continue;
    note(path, now.stat === null ? isGoneThen(root, path, isThen) : isThen(now.stat), before, now.blob);
  }
  for (const [path, { stat, blob }] of yield* findNewClosed(root, rules, watched, files))
    if (blob !== null) note(path, isThen(stat), null, blob);
  return { changes, traits, later };
}

function* findNewClosed(
  root: Root,
  rules: PathRules,
  { closed, others }: Watched,
  files: ReadonlyMap<RelPath, FileBefore>,
): Steps<readonly (readonly [RelPath, Seen])[]> {
  const { git = false, isPart = true } = closed ?? {};
  const look = yield* takeLook({ root, rules, isWalled: false, git, keepsIgnored: false, own: new Set(), known: null });
  if (isPart || look.named.size > 0) return [];
  const known = new Set<string>(others);
  return [...look.seen].filter(([path, { kind }]) => isClosedKind(kind) && !files.has(path) && !known.has(path));
}

/** If its folder exists, restoring is safe in any case; otherwise the mtime of the nearest folder decides. */
function isGoneThen(root: Root, path: RelPath, isThen: (stat: Stat) => boolean): boolean {
  const [direct = "" as RelPath, ...others] = [...foldersAbove(path), "" as RelPath];
  if (root.statOrNull(direct)?.kind === "folder") return true;
  const nearest = others.map((folder) => root.statOrNull(folder)).find((stat) => stat !== null);
  return nearest?.kind === "folder" && isThen(nearest);
}

export interface Undo {
  /** Changes of closed paths, and those whose new content was not read: no journal holds them. */
  readonly unjournaled: readonly Change[];
  readonly unread: ReadonlyMap<RelPath, Stat>;
  /** Owners before the command. Attributes are left out: the command may have changed them. */
  readonly traits: ReadonlyMap<RelPath, Traits>;
}

export const noUndo: Undo = { unjournaled: [], unread: new Map(), traits: new Map() };

export function undoOf({ candidates, stats }: Differences, { changes, carried }: Effects): Undo {
  const unjournaled: Change[] = [];
  const unread = new Map<RelPath, Stat>();
  const traits = new Map<RelPath, Traits>();
  const journaled = new Set(changes.map(({ path }) => path));
  const cached = new Set(carried.flatMap(({ path, isIgnored }) => (isIgnored ? [path] : [])));
  for (const { path, kind, before, after } of candidates) {
    const { was = null, is = null } = stats.get(path) ?? {};
    if (was !== null) traits.set(path, { uid: was.uid, gid: was.gid, attributes: {} });
    const isKept = kind === "open" ? !cached.has(path) : isClosedKind(kind);
    if (journaled.has(path) || before === undefined || !isKept) continue;
    if (after === undefined && is !== null) unread.set(path, is);
    unjournaled.push({ path, before, after: after ?? null, from: null });
  }
  return { unjournaled, unread, traits };
}

/** So that what was there before can be put back. Leaves what somebody else has touched since. */
export function removeUnread(root: Root, disk: Disk, unread: Iterable<readonly [RelPath, Stat]>): void {
  for (const [path, stat] of unread) {
    const now = root.statOrNull(path);
    if (now === null || now.kind === "folder" || !isUntouched(stat, now)) continue;
    root.withParent(path, (at, name) => disk.removeFile(`${at}/${name}`));
  }
}

/** Also new folders that then hold nothing of the command's. null: all. */
export function chooseBack(changes: readonly Change[], paths: ReadonlySet<RelPath> | null): readonly Change[] {
  if (paths === null) return changes;
  const isMade = ({ before, after }: Change) => before === null && after?.kind === "folder";
  const [emptied, filled] = [new Set<RelPath>(), new Set<RelPath>()];
  for (const change of changes) {
    if (isMade(change) && !paths.has(change.path)) continue;
    for (const folder of foldersAbove(change.path)) (paths.has(change.path) ? emptied : filled).add(folder);
  }
  const goes = ({ path }: Change) => emptied.has(path) && !filled.has(path);
  return changes.filter((change) => paths.has(change.path) || (isMade(change) && goes(change)));
}
