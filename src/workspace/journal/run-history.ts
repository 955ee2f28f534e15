/** The kept runs of a workspace: lists, undoes, redoes and prunes them. */
import { lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Blob, type Change, type ChangeOp, invert, opOf, sameBlob } from "../../core/change.ts";
import { mayMerge, type PathRules } from "../../core/closed-names.ts";
import { orNull, PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { finish } from "../../core/steps.ts";
import { findId } from "../../core/suggest.ts";
import { type Merge, mergeBlobs } from "../../core/three-way.ts";
import { takeLock } from "../../system/lock.ts";
import { holds, stateAt } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { prepareBatch, staysIn } from "../disk-batch.ts";
import { ownersLost } from "../owners.ts";
import { openDisk } from "../system/disk.ts";
import { commitBatch } from "../transaction.ts";
import { isForeign, type Lock, openIds, openJournal, runFolder, runIds, type State } from "./journal.ts";
import {
  backOfRun,
  type Episode,
  type KeptEpisodes,
  lastEpisode,
  leftOfRun,
  missingOf,
  type RunStatus,
  readRun,
  statusOfRun,
  traitsOf,
  workOfRun,
  workPaths,
} from "./journal-run.ts";
import { foreignRecord, judgeRecord } from "./judge-record.ts";
import type { HashedBlob } from "./record.ts";

export interface KeptRun {
  readonly id: string;
  readonly task: string;
  /** ISO 8601. */
  readonly at: string;
  readonly status: RunStatus;
  readonly changes: readonly {
    readonly path: string;
    readonly op: ChangeOp;
    readonly from: string | null;
    readonly by: "plan" | "command";
  }[];
  readonly left: readonly string[];
  readonly missing?: readonly string[];
  /** It was cut off; what else changed since its last command began counts as its changes. */
  readonly cut?: true;
  readonly bytes: number;
}

/** `actual` undefined: it has no content to show, like a device. */
export interface Clash {
  readonly path: RelPath;
  readonly expected: Blob | null;
  readonly actual: Blob | null | undefined;
  readonly merge: Merge;
}

export interface ReverseOptions {
  readonly dryRun: boolean;
  readonly merge?: boolean;
}

/** With clashes nothing is changed. */
export interface Reversal {
  readonly run: KeptRun;
  readonly changes: readonly Change[];
  readonly clashes: readonly Clash[];
  readonly merged: readonly RelPath[];
  /** A sentence for each file that has another owner or group now. */
  readonly lost: readonly string[];
}

type Kind = "undo" | "redo";

export type History = ReturnType<typeof openHistory>;

const madeIn = ({ batches }: Episode) => batches.filter(({ done }) => done).flatMap(({ changes }) => changes);

const defaultLimits = { runs: 200, bytes: 256 * 1024 * 1024, days: 30 };

/** `state` null: nothing is kept. `reach` opens folders outside the project. */
export function openHistory(
  root: Root,
  state: State | null,
  lock: Lock,
  rules: PathRules,
  reach: (folders: readonly string[]) => void = () => {},
) {
  const readAll = (): KeptEpisodes[] => (state === null ? [] : runIds(state).flatMap((id) => readRun(state, id) ?? []));

  const reverse = (kind: Kind, state: State, run: KeptEpisodes, options: ReverseOptions): Reversal => {
    const { dryRun, merge = false } = options;
    const left = kind === "undo" ? leftOfRun(run) : [];
    const made = kind === "undo" ? workOfRun(state, run) : backOfRun(state, run);
    const work = made.filter(({ path }) => left.length === 0 || left.includes(path));
    reach(run.also);
    // Judged before the disk is read, as a clash would reveal content.
    judgeRecord(work, rules, runFolder(state, run.id));
    const compared = compareToDisk({ root, rules }, kind === "undo" ? invert(work) : work);
    const both = merge ? compared.clashes.flatMap(changeOfMerge) : [];
    const merged = both.map(({ path }) => path);
    const changes = [...compared.changes, ...both];
    const clashes = compared.clashes.filter(({ path }) => !merged.includes(path));
    const record = describeRun(state, run);
    if (clashes.length > 0 || dryRun) return { run: record, changes, clashes, merged, lost: [] };
    const traits = traitsOf(run.episodes.flatMap((episode) => episode.batches));
    const batch = finish(prepareBatch(root, changes, 0o022, traits));
    const journal = openJournal(state, run.id);
    journal.begin(kind, run.task);
    try {
      finish(commitBatch(root, state.disk, journal, batch));
    } catch (thrown) {
      journal.end("rolled_back", []);
      throw thrown;
    }
    journal.end("applied", []);
    const lost = ownersLost(root.path, batch);
    return { run: describeRun(state, readRun(state, run.id) ?? run), changes: batch.changes, clashes, merged, lost };
  };

  const choose = (kind: Kind, state: State, id: string | null): KeptEpisodes => {
    const foreign = id === null ? undefined : runIds(state).find((each) => each.startsWith(id));
    if (foreign !== undefined && isForeign(state, foreign)) {
      const what = `run ${foreign} cannot be ${kind === "undo" ? "undone" : "redone"}`;
      throw new PaiError("nothing_to_undo", `${what}: ${foreignRecord(state, foreign)}`);
    }
    return pick(readAll(), id, kind);
  };

  const go = async (kind: Kind, id: string | null, options: ReverseOptions): Promise<Reversal> => {
    if (state === null)
      throw new PaiError("nothing_to_undo", "nothing is kept here, so nothing can be undone or redone");
    return lock(() => reverse(kind, state, choose(kind, state, id), options));
  };

  return {
    /** Newest first. */
    list: (): readonly KeptRun[] => (state === null ? [] : readAll().map((run) => describeRun(state, run))).reverse(),
    /** Null: the applied run that ended last. Throws nothing_to_undo, usage for an ambiguous id. */
    undo: (id: string | null, options: ReverseOptions) => go("undo", id, options),
    /** The run that was taken back last, unless a newer run came after it, or the named one. */
    redo: (id: string | null, options: ReverseOptions) => go("redo", id, options),
    /** The net changes; null: not kept. Throws io_failed when the journal is damaged. */
    work(id: string): readonly Change[] | null {
      if (state === null || !runIds(state).includes(id)) return null;
      const run = readRun(state, id);
      return run && workOfRun(state, run);
    },
    /**
     * What undos and redos of these runs have written after a time (ISO 8601), oldest first, as `heldIn` says it. `merged`:
     * with somebody's lines, so that the run itself never left or found this.
     */
    written: (runs: ReadonlySet<string>, since: string) =>
      readAll()
        .filter(({ id }) => runs.has(id))
        .flatMap(({ episodes: [run, ...others] }) => {
          const own = new Set(madeIn(run).flatMap(({ before, after }) => [null, heldIn(before), heldIn(after)]));
          const reversals = others.filter(({ at, end }) => at > since && end === "applied");
          return reversals.flatMap((each) =>
            madeIn(each).map(({ path, after }) => ({ at: each.at, path, after: heldIn(after), own })),
          );
        })
        .toSorted((a, b) => (a.at < b.at ? -1 : 1))
        .map(({ path, after, own }) => ({ path, after, merged: !own.has(after) })),
    /** Removes runs beyond the limits, never the newest; returns how many. */
    prune: (limits: Partial<typeof defaultLimits> = {}): number =>
      state === null ? 0 : prune(state, { ...defaultLimits, ...limits }),
  };
}

/** What a path holds: of a file the SHA-256, and whether it may be run; a folder, or what a link leads to, in words; null: nothing. */
export function heldIn(blob: HashedBlob | null): string | null {
  if (blob?.kind === "link") return `a link to ${blob.target}`;
  return blob?.kind === "file" ? heldFile(blob.hash, blob.mode) : blob && "a folder";
}

export const heldFile = (hash: string, mode: number): string => `${hash} ${mode & 0o111 ? "" : "not "}executable`;

function pick(runs: readonly KeptEpisodes[], id: string | null, kind: Kind): KeptEpisodes {
  const able = id === null ? stack(runs, kind) : named(runs, id);
  const run = able.at(-1);
  if (run === undefined && kind === "redo" && runs.some((each) => isBack(each) && workPaths(each).length > 0)) {
    const hint = "name the run to bring it back all the same; see: pai history";
    const why = "nothing to redo: a run changed files after the last one that was taken back";
    throw new PaiError("nothing_to_undo", why, { hint });
  }
  if (run === undefined) throw new PaiError("nothing_to_undo", `nothing to ${kind}`);
  const status = statusOfRun(run);
  if (kind === "undo" ? isStanding(run) : isBack(run)) return run;
  const why = { open: "is still open", applied: "is applied", undone: "is undone", rolled_back: "was rolled back" };
  throw new PaiError("nothing_to_undo", `nothing to ${kind}: run ${run.id} ${why[status]}`);
}

const isBack = (run: KeptEpisodes): boolean => ["undone", "rolled_back"].includes(statusOfRun(run));

const isStanding = (run: KeptEpisodes): boolean => statusOfRun(run) === "applied" || leftOfRun(run).length > 0;

function stack(runs: readonly KeptEpisodes[], kind: Kind): KeptEpisodes[] {
  const worked = runs.filter((run) => workPaths(run).length > 0);
  if (kind === "undo")
    return worked.filter(isStanding).toSorted(byText(({ episodes }: KeptEpisodes) => episodes[0].endedAt));
  const applied = worked.filter((run) => statusOfRun(run) === "applied").map(({ at }) => at);
  const newest = applied.toSorted().at(-1) ?? "";
  const backAt = (run: KeptEpisodes) => lastEpisode(run).at;
  // Of two that were taken back together the earlier run comes back first.
  return worked
    .filter((run) => isBack(run) && backAt(run) >= newest)
    .toReversed()
    .toSorted(byText(backAt));
}

const byText =
  <T>(textOf: (each: T) => string) =>
  (one: T, other: T): number =>
    textOf(one) < textOf(other) ? -1 : Number(textOf(one) > textOf(other));

function named(runs: readonly KeptEpisodes[], wanted: string): KeptEpisodes[] {
  const ids = runs.map(({ id }) => id);
  const found = findId(ids, wanted, "runs", "see: pai history");
  if (found === null) throw new PaiError("nothing_to_undo", `no run ${wanted} is kept here`);
  return runs.filter(({ id }) => id === found);
}

/** Changes that are not in effect yet, and paths that hold neither content. */
function compareToDisk(
  { root, rules }: { readonly root: Root; readonly rules: PathRules },
  wanted: readonly Change[],
): { changes: Change[]; clashes: Clash[] } {
  const changes: Change[] = [];
  const clashes: Clash[] = [];
  const next = new Map(wanted.map((change) => [change.path, change.after]));
  for (const change of wanted) {
    const { path, before, after } = change;
    const now = stateAt(root, path);
    if (holds(now, after)) continue;
    if (!holds(now, before)) {
      const merge = mayMerge(path, rules) ? mergeBlobs(before, after, now.blob ?? null) : unmergeable;
      clashes.push({ path, expected: before, actual: now.blob, merge });
    } else if (before?.kind === "folder" && after === null && staysIn(root, path, next).length > 0) next.delete(path);
    else changes.push(change);
  }
  // A path that holds the new content with somebody else's beside it needs nothing.
  const isNeeded = ({ merge, actual = null }: Clash) => merge.kind !== "merged" || !sameBlob(merge.blob, actual);
  return { changes, clashes: clashes.filter(isNeeded) };
}

/** Nobody has changed the same lines since. */
export function canUndo(
  { root, rules, state }: { readonly root: Root; readonly rules: PathRules; readonly state: State },
  id: string,
): boolean {
  const run = readRun(state, id);
  const undo = run && compareToDisk({ root, rules }, invert(workOfRun(state, run)));
  return undo?.clashes.every(({ merge }) => merge.kind === "merged") ?? false;
}

const unmergeable: Merge = { kind: "unmergeable" };

const changeOfMerge = ({ path, actual = null, merge }: Clash): readonly Change[] =>
  merge.kind === "merged" ? [{ path, before: actual, after: merge.blob, from: null }] : [];

function describeRun(state: State, run: KeptEpisodes): KeptRun {
  const changes = workPaths(run).map((work) => ({ path: work.path, op: opOf(work), from: work.from, by: work.by }));
  const { id, task, at } = run;
  const [left, missing] = [leftOfRun(run), missingOf(run)];
  const cut = run.episodes[0].isCut === true && { cut: true as const };
  return { id, task, at, status: statusOfRun(run), changes, left, missing, ...cut, bytes: sizeOf(state, id) };
}

function sizeOf(state: State, id: string): number {
  const files = ["record", "images"].map((name) => join(runFolder(state, id), name));
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

function prune(state: State, limits: typeof defaultLimits): number {
  const open = new Set(openIds(state));
  const oldest = Date.now() - limits.days * 86_400_000;
  let total = 0;
  let forgotten = 0;
  const ids = runIds(state).reverse();
  for (const [index, id] of ids.entries()) {
    if (index === 0 || open.has(id)) continue;
    if (index < limits.runs) {
      total += sizeOf(state, id);
      if (total <= limits.bytes && statSync(runFolder(state, id)).mtimeMs >= oldest) continue;
    }
    state.disk.removeTree(runFolder(state, id));
    forgotten++;
  }
  forgetAbandoned(state);
  return forgotten;
}

const stateName = /-[0-9a-f]{12}$/;
/** Without a run in a folder without sessions; its runs have expired long before. */
const abandonedDays = 90;

/** Of other folders, such as the checkouts of a build server. */
function forgetAbandoned({ folder, disk, takeLock }: State): void {
  const oldest = Date.now() - abandonedDays * 86_400_000;
  for (const name of readdirSync(dirname(folder))) {
    const other = join(dirname(folder), name);
    if (!stateName.test(name) || other === folder) continue;
    const [sessions, ...parts] = ["sessions", "", "runs", "journal"].map((part) =>
      lstatSync(join(other, part), { throwIfNoEntry: false }),
    );
    if (sessions !== undefined || parts.some((stat) => (stat?.mtimeMs ?? 0) >= oldest)) continue;
    if (openIds({ folder: other, disk, takeLock }).length === 0) disk.removeTree(other);
  }
}

/** null: not kept in this state folder, or damaged. */
export function readWork(stateFolder: string, id: string): readonly Change[] | null {
  const state = { folder: stateFolder, disk: openDisk(), takeLock };
  const run = orNull(() => readRun(state, id));
  return run && orNull(() => workOfRun(state, run));
}
