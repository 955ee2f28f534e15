/** Changes that other runs of pai made while a command ran: they belong to those runs and are undone with them. */
import { statSync } from "node:fs";
import type { Blob, Change } from "../../core/change.ts";
import { digest } from "../../core/digest.ts";
import { recordOf, runIds, type State } from "../journal/journal.ts";
import { readRun } from "../journal/journal-run.ts";
import type { KeptBlob, KeptChange } from "../journal/record.ts";

/** Keeps those of the changes that no other run has made. */
export type OwnOf = (changes: readonly Change[]) => readonly Change[];

/** Milliseconds by which the clock of a file system lags. */
const lag = 100;

/**
 * Knows what other runs have done since then (epoch milliseconds), whether they are applied, undone or taken back: their
 * records say it.
 */
export function ownSince(state: State, id: string, since: number): OwnOf {
  const isWritten = (other: string) =>
    (statSync(recordOf(state, other), { throwIfNoEntry: false })?.mtimeMs ?? 0) >= since - lag;
  return (changes) => {
    if (changes.length === 0) return changes;
    const theirs = new Set(
      runIds(state)
        .filter((other) => other !== id && isWritten(other))
        .flatMap((other) => readRun(state, other)?.episodes ?? [])
        .flatMap(({ batches }) => batches.flatMap((batch) => batch.changes))
        .flatMap(statesOf),
    );
    return changes.filter(({ path, after }) => !theirs.has(stateOf(path, after)));
  };
}

/** The states before and after a change, as it may have been undone since. */
const statesOf = ({ path, before, after }: KeptChange): readonly string[] => [
  stateOf(path, before),
  stateOf(path, after),
];

/** A path and its content as a text; equal exactly when `sameBlob` holds. */
function stateOf(path: string, blob: Blob | KeptBlob | null): string {
  if (blob?.kind === "file") return JSON.stringify([path, blob.mode, "hash" in blob ? blob.hash : digest(blob.bytes)]);
  return JSON.stringify([path, blob?.kind, blob?.kind === "link" ? blob.target : null]);
}
