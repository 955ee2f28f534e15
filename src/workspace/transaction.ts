/** All changes of one run to the workspace: batches that succeed or fail as a whole, and a rollback to the start. */
import { atFirstUse } from "../core/at-first-use.ts";
import type { Blob, Change } from "../core/change.ts";
import { PaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { CommandOptions, RollbackReport, Transaction } from "../core/ports.ts";
import { holds, stateAt } from "./atomic-write.ts";
import { openClosedRecord } from "./command/closed-record.ts";
import { giveModesBack } from "./command/folder-modes.ts";
import { atStart, type KeptCopies, openKeeping } from "./command/keep-copies.ts";
import { statOrNull } from "./command/kept.ts";
import type { Perform, SoFar } from "./command/run-command.ts";
import { openWatch, type Watch } from "./command/watch.ts";
import type { Root } from "./confine.ts";
import { type Batch, prepareSteps } from "./disk-batch.ts";
import { noteCommandEnd } from "./fresh-time.ts";
import { commitSteps } from "./journal/commit-batch.ts";
import { type Journal, noteIfPossible } from "./journal/journal.ts";
import type { Lock } from "./journal/lock.ts";
import { putBack, statesOf } from "./journal/put-back.ts";
import { takeBack } from "./journal/take-back.ts";
import { pace } from "./pace.ts";
import { showName } from "./parse-path.ts";
import type { Disk } from "./system/disk.ts";
import type { Traits } from "./traits.ts";

export interface TransactionParts {
  readonly root: Root;
  readonly disk: Disk;
  readonly lock: Lock;
  /** null: nothing can be kept. */
  readonly journal: Journal | null;
  /** Keeps copies of closed files while commands run; loaded by the first of them. null: nothing can be kept. */
  readonly openCopies?: (() => Promise<KeptCopies>) | null;
  readonly umask: number;
  /** A second check: throws path_refused for what the policy denies. */
  judge(changes: readonly Change[]): void;
  readonly perform: Perform;
  /** Called once, after a run that changed something has ended. */
  ended(): void;
}

/** Touches nothing before its first change or command. */
export function openTransaction(
  parts: TransactionParts,
  run: { readonly id: string; readonly task: string },
): Transaction {
  const { root, disk, lock, journal } = parts;
  const meant: Change[] = [];
  const done: Change[] = [];
  const byCommand = new Set<RelPath>();
  const traits = new Map<RelPath, Traits>();
  /** Of folders whose mode a command changed. */
  let earlierModes: ReadonlyMap<RelPath, number> = new Map();
  /** Temporary names in the journal, with their paths. */
  const temps: (readonly [RelPath, string])[] = [];
  let watching: Watch | null = null;
  const watchFor = (kept: Journal): Watch => {
    watching ??= openWatch(kept);
    return watching;
  };
  const closedRecord = atFirstUse(() => openClosedRecord(root, disk, lock));
  let copies: KeptCopies | null = null;
  let state: "idle" | "begun" | "ended" = "idle";

  const open = (): void => {
    if (state === "idle") journal?.begin("run", run.task);
    state = "begun";
  };
  const begin = (batch: Batch): void => {
    open();
    for (const [path, theirs] of batch.traits) if (!traits.has(path)) traits.set(path, theirs);
    meant.push(...batch.changes);
    temps.push(...batch.temps);
  };
  const refuseEnded = (): void => {
    if (state === "ended") throw new PaiError("internal", `run ${run.id} has ended`);
  };
  const end = (how: "applied" | "rolled_back", left: readonly RelPath[]): void => {
    const begun = state === "begun";
    copies?.remove();
    if (begun && meant.length === 0) journal?.forget();
    else if (begun) journal?.end(how, left);
    // Only now: if the end could not be written, the changes can still be undone.
    state = "ended";
    if (begun) parts.ended();
  };

  /** Runs a command and records what it may destroy, so that a recovery finds it. */
  const performKept = async (command: string, options: CommandOptions) => {
    const watch = journal && watchFor(journal);
    // Before the first change the journal is empty, and a user's own command needs no undo.
    const watched = watch !== null && (state === "begun" || options.by === "plan");
    let isWatched = false;
    copies ??= (await parts.openCopies?.()) ?? null;
    const keeping = openKeeping(copies);
    const begun: SoFar["begun"] = (files, closed = null) => {
      if (closed !== null) keeping.begin(atStart(closed, closedRecord().changes));
      if (!watched) return;
      isWatched = true;
      open();
      watch.begin(files);
    };
    const performed = await parts.perform(command, options, { changes: done, begun }).finally(keeping.end);
    return { performed, isWatched };
  };

  return {
    id: run.id,
    get changes() {
      return [...done];
    },
    commandPaths: byCommand,

    async apply(changes, by, signal) {
      refuseEnded();
      parts.judge(changes);
      for (const change of changes) refuseReadOnly(change);
      const wanted = withAllowedBits(changes, [...done, ...changes], parts.umask);
      await lock(async () => {
        const batch = await pace(prepareSteps(root, wanted, parts.umask), signal);
        if (batch.changes.length === 0) return;
        begin(batch);
        if (journal !== null && sizeOf(batch.changes) > manyBytes) await pace(journal.prepare(batch.changes), signal);
        await pace(commitSteps(root, disk, journal, batch), signal);
        done.push(...batch.changes);
        if (by === "command") for (const { path } of batch.changes) byCommand.add(path);
      });
    },

    async run(command, options) {
      refuseEnded();
      const { performed, isWatched } = await performKept(command, options);
      const { traits: theirs, closed: found, modes, ...shown } = performed;
      // What users do without a sandbox is their own change.
      if (options.sandbox !== "none") earlierModes = new Map([...(modes ?? []), ...earlierModes]);
      noteCommandEnd(root);
      const isUntouched = found === undefined || found.judged.length + found.changes.length === 0;
      const closed = isUntouched ? null : closedRecord().note(found);
      const result = { ...shown, closed };
      if (result.proposal != null) return result;
      if (result.changes.length === 0) {
        if (isWatched) journal?.applied();
        return result;
      }
      const batch: Batch = { changes: result.changes, temps: new Map(), traits: theirs, seen: new Map() };
      await lock(() => {
        begin(batch);
        journal?.intend(batch, "command", sharedNames(root, batch.changes));
        journal?.applied();
      });
      done.push(...result.changes);
      for (const { path } of result.changes) byCommand.add(path);
      return { ...result, forbidden: whyForbidden(parts, result.changes) };
    },

    async rollback(): Promise<RollbackReport> {
      refuseEnded();
      return lock(
        () => {
          giveModesBack(root, earlierModes, "adding");
          // Half-made files of a failed disk would keep their folder from being removed.
          const copies = putBack(root, disk, meant, temps);
          // Before `takeBack`: the run may have changed such a file before a command did.
          const closed = closedRecord().putBack(null);
          const report = takeBack(root, disk, journal, { changes: meant, traits });
          giveModesBack(root, earlierModes, "exactly");
          done.length = 0;
          noteIfPossible(() => end("rolled_back", report.left));
          state = "ended";
          return {
            ...report,
            left: [...report.left, ...copies, ...closed.left],
            closed: closed.restored.map(({ path }) => path),
          };
        },
        { must: true },
      );
    },

    areGone: (changes) => changes.every(({ path, before }) => holds(stateAt(root, path), before)),

    onDisk() {
      return [...statesOf(meant)].flatMap(([path, states]) => {
        const [before = null] = states;
        const now = stateAt(root, path);
        const isOurs = now.blob !== undefined && !holds(now, before) && states.some((state) => holds(now, state));
        return isOurs ? [{ path, before, after: now.blob ?? null, from: null }] : [];
      });
    },

    async close() {
      if (state !== "ended") end("applied", []);
    },
  };
}

/** From this many bytes on, contents are saved in steps before the batch. */
const manyBytes = 16 * 1024 * 1024;

function sizeOf(changes: readonly Change[]): number {
  let size = 0;
  for (const { before, after } of changes) {
    for (const blob of [before, after]) if (blob?.kind === "file") size += blob.bytes.length;
  }
  return size;
}

/** How many names (hard links) the changed files have that have more than one. */
function sharedNames(root: Root, changes: readonly Change[]): ReadonlyMap<RelPath, number> {
  return new Map(
    changes.flatMap(({ path, after }) => {
      const names = after?.kind === "file" ? (statOrNull(root, path)?.nlink ?? 1) : 1;
      return names > 1 ? [[path, names] as const] : [];
    }),
  );
}

/** Why these changes would have been refused; null: they would not. */
function whyForbidden({ judge }: TransactionParts, changes: readonly Change[]): string | null {
  try {
    judge(changes);
    return null;
  } catch (thrown) {
    if (thrown instanceof PaiError) return thrown.message;
    throw thrown;
  }
}

/** A rename would silently replace a write-protected file. */
function refuseReadOnly({ path, before, after }: Change): void {
  if (before?.kind !== "file" || after?.kind !== "file" || (before.mode & 0o222) !== 0) return;
  throw new PaiError("permission_denied", `${showName(path)} is write-protected`, {
    hint: "run chmod u+w on it if pai may change it",
  });
}

/**
 * Drops permission bits that the umask removes unless the file had them before the run; content that pai wrote is never
 * set-user-ID.
 */
function withAllowedBits(changes: readonly Change[], all: readonly Change[], umask: number): Change[] {
  const modes = new Map([...all].reverse().map(({ path, before }) => [path, modeOf(before)]));
  return changes.map((change) => {
    const { path, after, from } = change;
    if (after === null || after.kind === "link") return change;
    const stood = modes.get(from ?? path) ?? 0;
    return { ...change, after: { ...after, mode: after.mode & 0o1777 & (~umask | stood) } };
  });
}

const modeOf = (blob: Blob | null): number => (blob === null || blob.kind === "link" ? 0 : blob.mode);
