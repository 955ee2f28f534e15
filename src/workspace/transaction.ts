/** All changes of one run to the workspace: batches that succeed or fail as a whole, and a rollback to the start. */
import { type Blob, type Change, type Effects, openAuthors } from "../core/change.ts";
import { type ErrorCode, PaiError, toPaiError, unless } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { CommandOptions, RollbackReport, Transaction } from "../core/ports.ts";
import { pace, type Steps } from "../core/steps.ts";
import { holds, stateAt } from "./atomic-write.ts";
import type { Copy, Perform, SoFar } from "./command/run-command.ts";
import type { Root } from "./confine.ts";
import { type Batch, performBatch, prepareBatch } from "./disk-batch.ts";
import { chooseBack, openWatch, removeUnread, type Undo } from "./effects/watch.ts";
import { noteCommandEnd } from "./fresh-time.ts";
import { type Journal, type Lock, noteIfPossible } from "./journal/journal.ts";
import { putBack, statesOf, takeBack } from "./journal/take-back.ts";
import { showName } from "./parse-path.ts";
import type { Disk } from "./system/disk.ts";
import type { Stat } from "./system/stat.ts";
import type { Traits } from "./traits.ts";

export interface TransactionParts {
  readonly root: Root;
  readonly disk: Disk;
  readonly lock: Lock;
  readonly journal: Journal | null;
  readonly umask: number;
  /** Throws path_refused. */
  judge(changes: readonly Change[]): void;
  readonly perform: Perform;
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
  const authors = openAuthors();
  const traits = new Map<RelPath, Traits>();
  const temps: (readonly [RelPath, string])[] = [];
  /** With the changes of commands that no journal holds. */
  const undoable: Change[] = [];
  const unjournaled: Change[] = [];
  const unread = new Map<RelPath, Stat>();
  const undos = new Map<Effects, Undo>();
  const pending = new Map<Effects, Copy>();
  const watch = journal && openWatch(journal);
  let state: "idle" | "begun" | "ended" = "idle";

  const open = (): void => {
    if (state === "idle") journal?.begin("run", run.task);
    state = "begun";
  };
  const begin = (batch: Batch): void => {
    open();
    for (const [path, theirs] of batch.traits) if (!traits.has(path)) traits.set(path, theirs);
    meant.push(...batch.changes);
    undoable.push(...batch.changes);
    temps.push(...batch.temps);
  };
  const refuseEnded = (): void => {
    if (state === "ended") throw new PaiError("internal", `run ${run.id} has ended`);
  };
  const end = (how: "applied" | "rolled_back", left: readonly RelPath[]): void => {
    const begun = state === "begun";
    if (begun && meant.length === 0) journal?.forget();
    else if (begun) journal?.end(how, left);
    // Only now: if the end could not be written, the changes can still be undone.
    state = "ended";
    if (begun) parts.ended();
  };

  /** Records what the command may destroy, so that a recovery finds it. */
  const performKept = async (command: string, options: CommandOptions) => {
    let isWatched = false;
    const begun: SoFar["begun"] = (look, { git, isWalled }) => {
      // Before the first change the journal is empty, and a user's own command behind a wall needs no undo.
      if (watch === null || (state === "idle" && options.by === "user" && isWalled)) return;
      const record = () => {
        open();
        watch.begin(look, isWalled ? null : { git, changed: unjournaled });
        isWatched = true;
      };
      // A check of the user runs all the same on a full disk.
      if (options.by === "user") unless(["disk_full"], record);
      else record();
    };
    const end = () => watch?.end();
    const performed = await parts.perform(command, options, { changes: done, begun }).finally(end);
    return { performed, isWatched };
  };

  const noteEffects = async (effects: Effects, undo: Undo): Promise<void> => {
    for (const [path, theirs] of undo.traits) if (!traits.has(path)) traits.set(path, theirs);
    unjournaled.push(...undo.unjournaled);
    for (const [path, stat] of undo.unread) unread.set(path, stat);
    undos.set(effects, undo);
    const { changes } = effects;
    if (changes.length === 0) return void undoable.push(...undo.unjournaled);
    const batch: Batch = { changes, temps: new Map(), traits: undo.traits, seen: new Map() };
    await lock(() => {
      begin(batch);
      undoable.push(...undo.unjournaled);
      journal?.intend(batch, "command");
      journal?.applied();
    });
    done.push(...changes);
    authors.note("command", changes);
  };

  /** Returns the paths that somebody else has changed. */
  const takeBackNow = (changes: readonly Change[], theirs: Undo["unread"]): Promise<readonly RelPath[]> =>
    lock(
      () => {
        const meantToGo = new Set(changes.map(({ path }) => path));
        const going = [...theirs].filter(([path]) => meantToGo.has(path));
        removeUnread(root, disk, going);
        const { restored, left } = takeBack(root, disk, journal, { changes, traits });
        const journaled = new Set(done.map(({ path }) => path));
        const undone = restored.filter(({ path }) => journaled.has(path));
        if (undone.length > 0) {
          const batch: Batch = { changes: undone, temps: new Map(), traits: new Map(), seen: new Map() };
          begin(batch);
          journal?.intend(batch, "plan");
          journal?.applied();
          done.push(...undone);
        }
        return left;
      },
      { must: true },
    );

  const apply: Transaction["apply"] = async (changes, by = "plan", signal) => {
    refuseEnded();
    parts.judge(changes);
    const wanted = withAllowedBits(changes, [...done, ...changes], parts.umask);
    await lock(async () => {
      const batch = await pace(prepareBatch(root, wanted, parts.umask), signal);
      if (batch.changes.length === 0) return;
      begin(batch);
      if (journal !== null) await pace(journal.prepare(batch.changes), signal);
      await pace(commitBatch(root, disk, journal, batch), signal);
      done.push(...batch.changes);
      authors.note(by, batch.changes);
    });
  };

  return {
    id: run.id,
    get changes() {
      return [...done];
    },
    commandPaths: authors.commandPaths,

    apply,

    async run(command, options) {
      refuseEnded();
      const { performed, isWatched } = await performKept(command, options);
      const { result, copy, undo } = performed;
      noteCommandEnd(root);
      const why = whyForbidden(parts, result.effects.changes);
      const refused = why === null ? [] : [{ path: result.effects.changes[0]?.path ?? top, why, runsUnasked: true }];
      const effects = { ...result.effects, refused: [...result.effects.refused, ...refused] };
      if (copy !== null) pending.set(effects, copy);
      else {
        await noteEffects(effects, undo);
        if (isWatched && effects.changes.length === 0) journal?.applied();
      }
      return { ...result, effects };
    },

    async keep(effects, isKept, signal) {
      const ignored = effects.changes.filter(({ isIgnored }) => isIgnored);
      const carried = effects.carried.map(({ path }) => path);
      const copy = pending.get(effects);
      if (copy === undefined) {
        const dropped = ignored.filter(({ path }) => !isKept(path));
        await takeBackNow(dropped, new Map());
        return carried;
      }
      const kept = ignored.filter(({ path }) => isKept(path));
      const isApplied = await apply(kept, "command", signal).then(
        () => true,
        (thrown) => {
          if (!unkept.has(toPaiError(thrown).code)) throw thrown;
          return false;
        },
      );
      const wanted = [...carried.filter(isKept), ...(isApplied ? [] : kept.map(({ path }) => path))];
      const taken = await copy.takeOver(wanted, signal);
      copy.discard();
      pending.delete(effects);
      return taken;
    },

    async drop(effects, paths) {
      pending.get(effects)?.discard();
      pending.delete(effects);
      const undo = undos.get(effects);
      if (undo === undefined) return { left: [], stays: [] };
      const left = await takeBackNow(chooseBack([...effects.changes, ...undo.unjournaled], paths), undo.unread);
      const known = new Set(undo.unjournaled.map(({ path }) => path));
      const stays = effects.carried.map(({ path }) => path).filter((path) => !known.has(path));
      return { left, stays: paths === null ? stays : stays.filter((path) => paths.has(path)) };
    },

    async rollback(): Promise<RollbackReport> {
      refuseEnded();
      return lock(
        () => {
          // Half-made files of a failed disk would keep their folder from being removed.
          const copies = putBack(root, disk, undoable, temps);
          removeUnread(root, disk, unread);
          const report = takeBack(root, disk, journal, { changes: undoable, traits });
          done.length = 0;
          noteIfPossible(() => end("rolled_back", report.left));
          state = "ended";
          const closed = new Set(unjournaled.map(({ path }) => path));
          for (const { path } of meant) closed.delete(path);
          return {
            restored: report.restored.filter(({ path }) => !closed.has(path)),
            left: [...report.left, ...copies],
            ...(report.lost !== undefined && { lost: report.lost }),
            closed: report.restored.flatMap(({ path }) => (closed.has(path) ? [path] : [])),
          };
        },
        { must: true },
      );
    },

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

const top = "" as RelPath;

/** After these ignored files are taken over as they are: another process writes one, or the policy forbids to keep it. */
const unkept = new Set<ErrorCode>(["conflict", "path_refused", "file_unusable", "delete_refused", "permission_denied"]);

function whyForbidden({ judge }: TransactionParts, changes: readonly Change[]): string | null {
  try {
    judge(changes);
    return null;
  } catch (thrown) {
    if (thrown instanceof PaiError) return thrown.message;
    throw thrown;
  }
}

/** A file keeps bits that it had before the run; content that pai wrote is never set-user-ID. */
function withAllowedBits(changes: readonly Change[], all: readonly Change[], umask: number): Change[] {
  const modes = new Map([...all].reverse().map(({ path, before }) => [path, modeOf(before)]));
  return changes.map((change) => {
    const { path, after, from } = change;
    if (after === null || after.kind === "link") return change;
    if (change.exactMode === true) return { ...change, after: { ...after, mode: after.mode & 0o777 } };
    const stood = modes.get(from ?? path) ?? 0;
    return { ...change, after: { ...after, mode: after.mode & 0o1777 & (~umask | stood) } };
  });
}

const modeOf = (blob: Blob | null): number => (blob === null || blob.kind === "link" ? 0 : blob.mode);

/** Must be called under the lock. `journal` null: only a living process can undo the batch. */
export function* commitBatch(root: Root, disk: Disk, journal: Journal | null, batch: Batch): Steps<void> {
  journal?.intend(batch, "plan");
  try {
    yield* performBatch(root, disk, batch);
    journal?.applied();
  } catch (thrown) {
    const failure = toPaiError(thrown);
    const copies: string[] = [];
    try {
      copies.push(...putBack(root, disk, batch.changes, batch.temps));
      takeBack(root, disk, journal, batch);
    } catch (second) {
      throw new PaiError(failure.code, `${failure.message}; taking it back failed too: ${toPaiError(second).message}`, {
        hint: journal ? "the next start of pai here takes it back" : "look at the files by hand",
        cause: thrown,
      });
    }
    if (copies.length === 0) throw failure;
    throw new PaiError(failure.code, failure.message, {
      target: failure.target,
      hint: `what was saved meanwhile is kept as ${copies.map(showName).join(", ")}`,
      cause: thrown,
    });
  }
}
