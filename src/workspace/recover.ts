/** Takes runs that were cut off back to where they began, when the next pai opens the workspace. */
import type { Root } from "./confine.ts";
import { isAlive } from "./holder.ts";
import { forgetOpen, openIds, openJournal, type State } from "./journal.ts";
import type { Lock } from "./lock.ts";
import { showName } from "./parse.ts";
import { putBack } from "./put-back.ts";
import { changesOf, lastEpisode, readRun, traitsOf } from "./run.ts";
import { takeBack } from "./take-back.ts";

/**
 * One message for each run that was cut off. May itself be cut off anywhere, and be done again.
 * Costs one look into a folder when there is nothing to do.
 */
export async function recover(root: Root, state: State, lock: Lock): Promise<string[]> {
  const messages: string[] = [];
  for (const id of openIds(state)) {
    if (isStillRunning(state, id)) continue;
    const message = await lock(() => recoverRun(root, state, id));
    if (message !== null) messages.push(message);
  }
  return messages;
}

function isStillRunning(state: State, id: string): boolean {
  const run = readRun(state, id);
  if (run === null) return false;
  const { end, holder } = lastEpisode(run);
  return end === null && isAlive(holder);
}

function recoverRun(root: Root, state: State, id: string): string | null {
  const run = readRun(state, id);
  const episode = run && lastEpisode(run);
  if (episode === null || episode.end !== null) {
    forgetOpen(state, id);
    return null;
  }
  if (isAlive(episode.holder)) return null;
  const { batches, kind } = episode;
  const journal = openJournal(state, id);
  const changes = changesOf(state, id, batches);
  const copies = putBack(
    root,
    state.disk,
    changes,
    batches.flatMap(({ temps }) => temps),
  );
  const report = takeBack(root, state.disk, changes, traitsOf(batches), (back) => journal.promiseTemps(back.temps));
  const left = [...report.left, ...copies];
  journal.end("rolled_back", left);
  if (batches.length === 0) return null;
  const what = kind === "run" ? `Run ${id} was cut off` : `The ${kind} of run ${id} was cut off`;
  const theirs = left.map(showName).join(", ");
  return `${what} and was taken back${theirs === "" ? "" : `; changed by somebody else and left as they are: ${theirs}`}`;
}
