/** What other runs of pai changed here while a command ran: it belongs to them and is undone with them. */
import { statSync } from "node:fs";
import type { Blob, Change } from "../../core/change.ts";
import { digest } from "../../core/digest.ts";
import { recordOf, runIds, type State } from "../journal/journal.ts";
import { readRun } from "../journal/journal-run.ts";
import type { Kept, KeptBlob } from "../journal/record.ts";

/** Of the changes found since `watchOthers` was called: those that leave nothing another run has put there. */
export type OwnOf = (changes: readonly Change[]) => readonly Change[];

export function watchOthers(state: State, id: string): OwnOf {
  const before = recordSizes(state);
  return (changes) => {
    if (changes.length === 0) return changes;
    const left = new Set(
      [...recordSizes(state)]
        .filter(([other, size]) => other !== id && before.get(other) !== size)
        .flatMap(([other]) => readRun(state, other)?.episodes ?? [])
        .flatMap(({ batches }) => batches.flatMap((batch) => batch.changes))
        .flatMap(statesOf),
    );
    return changes.filter(({ path, after }) => !left.has(stateOf(path, after)));
  };
}

/**
 * Of what changed since a run began: what no other run has put there, be it done, undone, or taken back as cut off. The
 * records of runs that are recovered together tell what each of them did.
 */
export function ownSince(state: State, id: string, since: string): OwnOf {
  return (changes) => {
    if (changes.length === 0) return changes;
    const begun = Date.parse(since);
    const theirs = new Set(
      runIds(state)
        .filter((other) => other !== id && changedAt(state, other) >= begun)
        .flatMap((other) => readRun(state, other)?.episodes ?? [])
        .flatMap(({ batches }) => batches.flatMap((batch) => batch.changes))
        .flatMap(statesOf),
    );
    return changes.filter(({ path, after }) => !theirs.has(stateOf(path, after)));
  };
}

/** Epoch milliseconds. */
const changedAt = (state: State, id: string): number =>
  statSync(recordOf(state, id), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Size of the record of every run: records only grow, so a run with another size has done something. */
function recordSizes(state: State): ReadonlyMap<string, number> {
  const sizeOf = (id: string) => statSync(recordOf(state, id), { throwIfNoEntry: false })?.size ?? 0;
  return new Map(runIds(state).map((id) => [id, sizeOf(id)]));
}

/** What a path is after the change, and before it, as the change may have been taken back. */
const statesOf = ({ path, before, after }: Kept): readonly string[] => [stateOf(path, before), stateOf(path, after)];

/** A path with its content, as text: equal texts for what `sameBlob` calls equal. */
function stateOf(path: string, blob: Blob | KeptBlob | null): string {
  if (blob?.kind === "file") return JSON.stringify([path, blob.mode, "hash" in blob ? blob.hash : digest(blob.bytes)]);
  return JSON.stringify([path, blob?.kind, blob?.kind === "link" ? blob.target : null]);
}
