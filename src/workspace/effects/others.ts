/** Changes that other runs of pai made while a command ran: they belong to those runs and are undone with them. */
import { statSync } from "node:fs";
import type { Blob, Change } from "../../core/change.ts";
import { digest } from "../../core/digest.ts";
import { recordOf, runIds, type State } from "../journal/journal.ts";
import { readRun } from "../journal/journal-run.ts";
import type { KeptBlob } from "../journal/record.ts";

/** Keeps the changes that no other run has made. */
export type OwnOf = (changes: readonly Change[]) => readonly Change[];

export function watchOthers(state: State, id: string): OwnOf {
  const before = recordSizes(state);
  return withoutThose(state, () =>
    [...recordSizes(state)].flatMap(([other, size]) => (other !== id && before.get(other) !== size ? [other] : [])),
  );
}

/** The changes since a run began that no other run has made, for runs that are recovered together. */
export const ownSince = (state: State, id: string, since: string): OwnOf =>
  withoutThose(state, () =>
    runIds(state).filter((other) => other !== id && changedAt(state, other) >= Date.parse(since)),
  );

/** Made by none of these runs, or undone since. */
const withoutThose =
  (state: State, runs: () => readonly string[]): OwnOf =>
  (changes) => {
    if (changes.length === 0) return changes;
    const theirs = new Set(
      runs()
        .flatMap((id) => readRun(state, id)?.episodes ?? [])
        .flatMap(({ batches }) => batches.flatMap((batch) => batch.changes))
        .flatMap(({ path, before, after }) => [stateOf(path, before), stateOf(path, after)]),
    );
    return changes.filter(({ path, after }) => !theirs.has(stateOf(path, after)));
  };

const changedAt = (state: State, id: string): number =>
  statSync(recordOf(state, id), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Records only grow, so a different size means that the run did something. */
function recordSizes(state: State): ReadonlyMap<string, number> {
  const sizeOf = (id: string) => statSync(recordOf(state, id), { throwIfNoEntry: false })?.size ?? 0;
  return new Map(runIds(state).map((id) => [id, sizeOf(id)]));
}

/** Equal exactly when `sameBlob` holds. */
function stateOf(path: string, blob: Blob | KeptBlob | null): string {
  if (blob?.kind === "file") return JSON.stringify([path, blob.mode, "hash" in blob ? blob.hash : digest(blob.bytes)]);
  return JSON.stringify([path, blob?.kind, blob?.kind === "link" ? blob.target : null]);
}
