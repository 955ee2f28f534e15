/** When pai opens the workspace: undoes runs that were cut off. */

import type { Change } from "../../core/change.ts";
import type { PathRules } from "../../core/closed-names.ts";
import { diskCodes, toPaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { pace } from "../../core/steps.ts";
import { holds, stateAt } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { ownSince } from "../effects/others.ts";
import { findClosedRemains, findRemains } from "../effects/watch.ts";
import { showName } from "../parse-path.ts";
import {
  forgetBefore,
  forgetOpen,
  isForeign,
  type Lock,
  lastBeat,
  noteIfPossible,
  openIds,
  openJournal,
  type RecordedWork,
  runFolder,
  type State,
  takeRun,
} from "./journal.ts";
import { changesOf, type FileBefore, filesBefore, lastEpisode, readRun, tempsOf, traitsOf } from "./journal-run.ts";
import { foreignRecord, judgeRecord } from "./judge-record.ts";
import { canUndo } from "./run-history.ts";
import { putBack, statesOf, takeBack } from "./take-back.ts";

const maxTold = 20;

/** Called once all are undone: files that look new to one run may belong to the next. */
type Tell = () => string;

/** One message for each run that was cut off. May be interrupted anywhere and repeated. */
export async function recover(
  root: Root,
  state: State,
  lock: Lock,
  rules: PathRules,
  reach: (folders: readonly string[]) => void = () => {},
): Promise<string[]> {
  const tells: Tell[] = [];
  for (const id of openIds(state)) {
    const tell = await recoverUnlessRunning(root, state, lock, { id, rules, reach }).catch((thrown) => {
      const { code, message: why, hint } = toPaiError(thrown);
      // A record that is refused must not hold up the others.
      if (code === "path_refused" || code === "root_refused" || code === "usage")
        return () => `run ${id} was cut off and is not taken back: ${why}${hint ? ` (${hint})` : ""}`;
      if (!diskCodes.includes(code) && code !== "permission_denied") throw thrown;
      return () => `run ${id} was cut off and cannot be taken back yet: ${why}`;
    });
    if (tell !== null) tells.push(tell);
  }
  return tells.map((tell) => tell());
}

interface About {
  readonly id: string;
  readonly rules: PathRules;
  readonly reach: (folders: readonly string[]) => void;
}

/** A run whose lock is held goes on, wherever its process is. */
async function recoverUnlessRunning(root: Root, state: State, lock: Lock, about: About): Promise<Tell | null> {
  const { id } = about;
  const held = takeRun(state, id);
  if (held === null) return null;
  try {
    return await lock(() => recoverRun(root, state, about));
  } finally {
    held.release();
  }
}

async function recoverRun(root: Root, state: State, { id, rules, reach }: About): Promise<Tell | null> {
  const run = readRun(state, id);
  const episode = run && lastEpisode(run);
  if (episode === null || episode.end !== null) {
    const isTold = episode === null && isForeign(state, id);
    forgetBefore(state, id);
    forgetOpen(state, id);
    return isTold ? () => `run ${id} was cut off and is not taken back: ${foreignRecord(state, id)}` : null;
  }
  const { batches, watched, kind } = episode;
  const changes = changesOf(state, id, batches);
  const [temps, traits] = [tempsOf(batches), traitsOf(batches)];
  reach(run?.also ?? []);
  const files = watched === null ? new Map() : filesBefore(state, id, watched);
  const killed = { root, rules, episode, files };
  judgeRecord([...changes, ...openFiles(files)], rules, runFolder(state, id));
  const closed = await pace(findClosedRemains(killed, lastBeat(state, id)), undefined);
  const journal = openJournal(state, id);
  const copies = putBack(root, state.disk, changes, temps);
  const report = takeBack(root, state.disk, journal, {
    changes: [...changes, ...closed.changes],
    traits: new Map([...closed.traits, ...traits]),
  });
  const left = [...report.left, ...copies];
  const begun = [...statesOf(changes)].flatMap(([path, [first = null]]) =>
    holds(stateAt(root, path), first) ? [{ path, before: first, after: first, from: null }] : [],
  );
  const restored = new Set(begun.map(({ path }) => path));
  const ownOf = ownSince(state, id, episode.at);
  const remains = findRemains(killed);
  const { fresh, unseen } = remains;
  const since = ownOf(remains.since.filter(({ path }) => !restored.has(path)));
  const own = new Set(changes.map(({ path }) => path));
  const standing = kind === "redo" ? [] : left.filter((path) => own.has(path));
  const cut = batches.filter(({ done }) => !done);
  const torn = changesOf(state, id, cut).filter(({ path }) => standing.includes(path));
  const work: RecordedWork[] = torn.length === 0 ? [] : [{ by: "plan", changes: torn }];
  // Recorded in one line: what remains is then the net work of the run, and an undo takes back exactly that.
  if (since.length === 0) noteIfPossible(() => journal.end("rolled_back", left, work));
  else journal.end("applied", left, [...work, { by: "plan", changes: begun }, { by: "command", changes: since }]);
  const changed = since.map(({ path }) => path);
  const paths = new Set(closed.changes.map(({ path }) => path));
  const back = report.restored.flatMap(({ path }) => (paths.has(path) ? [path] : []));
  const all = [batches, since, fresh, unseen, closed.changes, closed.later];
  if (all.every((each) => each.length === 0)) return null;
  const what = kind === "run" ? `run ${id} was cut off` : `the ${kind} of run ${id} was cut off`;
  const isStanding = (path: string) => stateAt(root, path as RelPath).blob !== null;
  return () =>
    [
      `${what} and was taken back`,
      ...namePaths("closed to pai, changed by its commands, and put back", back),
      ...namePaths("closed to pai, changed since, and left", closed.later),
      ...namePaths("changed by somebody else and left as they are", left),
      ...namePaths("changed since its last command began, and left", changed),
      ...(since.length + standing.length > 0 && canUndo({ root, rules, state }, id)
        ? [`pai undo ${id} takes these back too`]
        : []),
      ...namePaths("in folders that are closed to you now, so perhaps changed, and left", unseen),
      ...namePaths("new since its last command began, and left", fresh.filter(isStanding)),
    ].join("; ");
}

const openFiles = (files: ReadonlyMap<RelPath, FileBefore>): readonly Change[] =>
  [...files].flatMap(([path, { blob, owner }]) =>
    owner === null ? [{ path, before: blob, after: blob, from: null }] : [],
  );

function namePaths(what: string, paths: readonly string[]): string[] {
  const more = paths.length > maxTold ? [`and ${paths.length - maxTold} more`] : [];
  return paths.length === 0 ? [] : [`${what}: ${[...paths.slice(0, maxTold).map(showName), ...more].join(", ")}`];
}
