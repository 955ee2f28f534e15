/** What other runs of pai did here while a command ran: they answer for it, and it is undone with them. */
import { statSync } from "node:fs";
import type { Blob, Change } from "../core/change.ts";
import { digest } from "../core/digest.ts";
import { recordOf, runIds, type State } from "./journal.ts";
import type { Kept, KeptBlob } from "./record.ts";
import { readRun } from "./run.ts";

/** From now on: of the changes that were found meanwhile, those that no other run has left behind. */
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

/** Records only grow. */
function recordSizes(state: State): ReadonlyMap<string, number> {
  const sizeOf = (id: string) => statSync(recordOf(state, id), { throwIfNoEntry: false })?.size ?? 0;
  return new Map(runIds(state).map((id) => [id, sizeOf(id)]));
}

/** A batch may have been taken back again. */
const statesOf = ({ path, before, after }: Kept): readonly string[] => [stateOf(path, before), stateOf(path, after)];

/** The same text for what `sameBlob` calls the same. */
function stateOf(path: string, blob: Blob | KeptBlob | null): string {
  if (blob?.kind === "file") return JSON.stringify([path, blob.mode, "hash" in blob ? blob.hash : digest(blob.bytes)]);
  return JSON.stringify([path, blob?.kind, blob?.kind === "link" ? blob.target : null]);
}
