/** Restores closed files that commands of a killed run changed, and no others. */

import { type Blob, type Change, sameBlob } from "../../core/change.ts";
import { toPaiError } from "../../core/error.ts";
import type { PathRules } from "../../core/names.ts";
import { parentOf, type RelPath } from "../../core/path.ts";
import { nameSome } from "../../core/suggest.ts";
import { type ClosedFiles, keepClosed } from "../command/closed-files.ts";
import { type Kept, statOrNull } from "../command/kept.ts";
import type { Root } from "../confine.ts";
import { showName } from "../parse-path.ts";
import { judgePath } from "../path-policy.ts";
import { walkLooks } from "../scan.ts";
import type { Stat } from "../system/stat.ts";
import type { Traits } from "../traits.ts";
import { type Copy, copiesLock, copyIds, dropCopies, readCopies, type SavedCopies } from "./closed-copies.ts";
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
  const hidden: RelPath[] = [];
  for (const _ of walkLooks(root, rules, (path) => hidden.push(path)));
  const before: ClosedFiles = {
    kept: new Map([...saved.files].map(([path, copy]) => [path, { stat: unknownStat(copy), blob: copy.blob }])),
    small: new Map(),
    ignored: new Map(),
    isPart: saved.isPart,
    isKeptPart: saved.isPart,
  };
  const parts = {
    root,
    rules,
    hidden,
    isWalled: false,
    git: saved.git,
    keepsSmall: false,
    own: [],
    isOpen: () => false,
  };
  const now = await keepClosed({ ...parts, earlier: before });
  const { changes, later } = compare(root, saved, now, rules);
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
function compare(root: Root, saved: SavedCopies, now: ClosedFiles, rules: PathRules) {
  const changes: Change[] = [];
  const later: RelPath[] = [];
  const isPart = saved.isPart || now.isPart;
  const note = (path: RelPath, isTheirs: boolean, before: Blob | null, after: Blob | null) => {
    if (isTheirs) changes.push({ path, before, after, from: null });
    else if ((before ?? after)?.kind !== "folder") later.push(path);
  };
  const judge = (path: RelPath, old: Copy | undefined, is: Kept | undefined) => {
    const before = old?.blob ?? null;
    const after = is?.blob ?? null;
    if (old === undefined) {
      if (after !== null && is !== undefined && !isPart) note(path, isThen(saved, is.stat), null, after);
    } else if (before === null) return;
    else if (is === undefined) note(path, isGoneThen(root, saved, path), before, null);
    else if (after !== null && !sameBlob(before, after)) note(path, isThen(saved, is.stat), before, after);
  };
  for (const path of new Set([...saved.files.keys(), ...now.kept.keys()])) {
    if (judgePath(path, "write", rules).verdict !== "allow") judge(path, saved.files.get(path), now.kept.get(path));
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

/** Matches no real file, so that nothing counts as unchanged. */
const unknownStat = ({ blob, uid, gid }: Copy): Stat => ({
  kind: blob?.kind ?? "special",
  size: blob?.kind === "file" ? blob.bytes.length : 0,
  mode: blob === null || blob.kind === "link" ? 0 : blob.mode,
  mtimeNs: 0n,
  ctimeNs: 0n,
  ino: 0n,
  dev: 0n,
  uid,
  gid,
  nlink: 1,
  target: blob?.kind === "link" ? blob.target : null,
});
