/** Restores closed files that commands of a killed run changed, and no others. */

import { type Blob, type Change, sameBlob } from "../../core/change.ts";
import { toPaiError } from "../../core/error.ts";
import type { PathRules } from "../../core/names.ts";
import { parentOf, type RelPath } from "../../core/path.ts";
import { nameSome } from "../../core/suggest.ts";
import { stateAt } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import { statOrNull } from "../effects/folder-modes.ts";
import { isClosedKind } from "../effects/kind.ts";
import { type Look, takeLook } from "../effects/look.ts";
import { pace } from "../pace.ts";
import { showName } from "../parse-path.ts";
import type { Stat } from "../system/stat.ts";
import type { Traits } from "../traits.ts";
import { copiesLock, copyIds, dropCopies, readCopies, type SavedCopies } from "./closed-copies.ts";
import type { State } from "./journal.ts";
import type { Lock } from "./lock.ts";
import { takeBack } from "./take-back.ts";

/** Milliseconds: file system clocks lag, and a process shows once a second that it is alive. */
const margin = { before: 100, after: 2000 } as const;

/** Returns one message for each run with anything to report. */
export async function recoverClosed(
  root: Root,
  state: State,
  lock: Lock,
  rules: PathRules,
): Promise<readonly string[]> {
  const messages: string[] = [];
  for (const id of copyIds(state)) {
    const message = await recoverOne(root, state, lock, { id, rules }).catch(
      (thrown) =>
        `what commands of run ${id} changed in closed files cannot be put back yet: ${toPaiError(thrown).message}`,
    );
    if (message !== null) messages.push(message);
  }
  return messages;
}

async function recoverOne(
  root: Root,
  state: State,
  lock: Lock,
  { id, rules }: { readonly id: string; readonly rules: PathRules },
): Promise<string | null> {
  const held = state.takeLock(copiesLock(state, id));
  if (held === null) return null;
  try {
    return await lock(async () => {
      const saved = readCopies(state, id);
      const outcome = saved && (await putBack(root, state, saved, rules));
      dropCopies(state, id);
      return outcome && `run ${id} was cut off while a command ran without a sandbox: ${outcome}`;
    });
  } finally {
    held.release();
  }
}

async function putBack(root: Root, state: State, saved: SavedCopies, rules: PathRules): Promise<string | null> {
  const parts = {
    root,
    rules,
    isWalled: false,
    git: saved.git,
    keepsIgnored: false,
    own: new Set<RelPath>(),
    known: null,
  };
  const now = await pace(takeLook(parts), undefined);
  const { changes, later } = compare(root, saved, now);
  const traits = new Map(
    [...saved.files].map(([path, { uid, gid }]): [RelPath, Traits] => [path, { uid, gid, attributes: {} }]),
  );
  const { restored, left } = takeBack(root, state.disk, null, { changes, traits });
  const others = [...later, ...left];
  const clauses = [
    ...(restored.length > 0 ? [`what it changed was put back (${nameAll(restored.map(({ path }) => path))})`] : []),
    ...(others.length > 0 ? [`changed since, and left: ${nameAll(others)}`] : []),
  ];
  return clauses.length > 0 ? clauses.join("; ") : null;
}

const nameAll = (paths: readonly RelPath[]): string => nameSome(paths.map(showName), 20);

/** Splits differences by time: changes made while the commands ran, and later ones, which are only named. */
function compare(root: Root, saved: SavedCopies, { seen, named }: Look) {
  const changes: Change[] = [];
  const later: RelPath[] = [];
  const note = (path: RelPath, isTheirs: boolean, before: Blob | null, after: Blob | null) => {
    if (isTheirs) changes.push({ path, before, after, from: null });
    else if ((before ?? after)?.kind !== "folder") later.push(path);
  };
  for (const [path, { blob: before }] of saved.files) {
    const { blob: after, stat } = stateAt(root, path);
    if (before === null || after === undefined || sameBlob(before, after)) continue;
    note(path, stat === null ? isGoneThen(root, saved, path) : isThen(saved, stat), before, after);
  }
  const isPart = saved.isPart || named.size > 0;
  for (const [path, { kind, stat, blob }] of isPart ? [] : seen) {
    if (isClosedKind(kind) && blob !== null && !saved.files.has(path)) note(path, isThen(saved, stat), null, blob);
  }
  return { changes, later };
}

/** Whether its ctime, which no program can set, lies within the time in which the commands ran. */
function isThen({ begun, beaten }: SavedCopies, { ctimeNs }: Stat): boolean {
  const at = Number(ctimeNs / 1_000_000n);
  return at >= begun - margin.before && at <= beaten + margin.after;
}

/**
 * Whether the commands removed the path. If its folder exists, restoring is safe in any case; otherwise the mtime of
 * the nearest folder decides.
 */
function isGoneThen(root: Root, saved: SavedCopies, path: RelPath): boolean {
  const direct = parentOf(path);
  let folder = direct;
  let stat = statOrNull(root, folder);
  while (stat === null && folder !== "") {
    folder = parentOf(folder);
    stat = statOrNull(root, folder);
  }
  return stat?.kind === "folder" && (folder === direct || isThen(saved, stat));
}
