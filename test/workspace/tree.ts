/** Real folders for the workspace tests: made, described whole, and thrown away. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Blob, Change } from "../../src/core/change.ts";
import type { RelPath } from "../../src/core/path.ts";
import { type TakeLock, takeLock } from "../../src/system/lock.ts";
import { openRoot, type Root } from "../../src/workspace/confine.ts";
import { type Lock, openFileLock, openJournal, prepareState, type State } from "../../src/workspace/journal/journal.ts";
import { recover } from "../../src/workspace/journal/recover.ts";
import { type History, openHistory } from "../../src/workspace/journal/run-history.ts";
import { type Disk, openDisk } from "../../src/workspace/system/disk.ts";
import { openTransaction, type TransactionParts } from "../../src/workspace/transaction.ts";
import { newFolder, removeFolder } from "../grounds.ts";
import { noRules } from "./folder.ts";

export interface Place {
  /** Holds both folders below. */
  readonly base: string;
  /** The workspace. */
  readonly work: string;
  /** pai's own state. */
  readonly state: string;
  remove(): void;
}

/** In memory, so that a sync costs nothing. */
export function makePlace(files: Readonly<Record<string, string>> = {}): Place {
  const base = newFolder("memory", "place");
  const work = join(base, "work");
  mkdirSync(work);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), text);
  }
  return { base, work, state: join(base, "state"), remove: () => removeFolder(base) };
}

export const at = (path: string): RelPath => path as RelPath;

export const file = (text: string, mode = 0o644): Blob => ({
  kind: "file",
  bytes: new TextEncoder().encode(text),
  mode,
});

export const change = (path: string, before: Blob | null, after: Blob | null, from: string | null = null): Change => ({
  path: at(path),
  before,
  after,
  from: from === null ? null : at(from),
});

/** Every path below a folder with its kind, mode and content; links are not followed. */
export function treeOf(folder: string, prefix = ""): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) tree[prefix + name] = `link ${readlinkSync(path)}`;
    else if (stat.isDirectory())
      Object.assign(tree, { [prefix + name]: `folder ${mode}` }, treeOf(path, `${prefix}${name}/`));
    else tree[prefix + name] = `file ${mode} ${readFileSync(path, "latin1")}`;
  }
  return tree;
}

export interface Opened {
  readonly root: Root;
  readonly state: State;
  readonly lock: Lock;
  readonly history: History;
  /** Tidies as the next start does, and closes the root; what it tells. */
  recover(): Promise<string[]>;
  begin(id: string, task?: string, perform?: TransactionParts["perform"]): ReturnType<typeof openTransaction>;
}

/** The writing half on a place, with a disk that may fail; that of pai's own state may be another. */
export function openPlace(place: Place, disk = openDisk(), take: TakeLock = takeLock, stateDisk: Disk = disk): Opened {
  const root = openRoot(place.work, { force: true, home: null });
  const state: State = { folder: place.state, disk: stateDisk, takeLock: take };
  const locked = openFileLock(join(place.state, "lock"), take);
  const lock: Lock = async (work, options) => {
    prepareState(state);
    return locked(work, options);
  };
  return {
    root,
    state,
    lock,
    history: openHistory(root, state, lock, noRules),
    recover: () => recover(root, state, lock, noRules).finally(() => root.close()),
    begin: (id, task = "a task", perform = () => Promise.reject(new Error("no commands here"))) =>
      openTransaction(
        { root, disk, lock, journal: openJournal(state, id), umask: 0o022, judge: () => {}, perform, ended: () => {} },
        { id, task },
      ),
  };
}

/** Takes locks as a process does that is killed afterwards: nothing stays locked. */
export const deadProcess = (): TakeLock => (path) => {
  const held = takeLock(path);
  held?.release();
  return held && { release() {} };
};

/** Lets the disk die at its n-th effect: from then on nothing happens any more. */
export function dyingDisk(n: number): { readonly disk: Disk; readonly effects: () => number } {
  let effects = 0;
  const disk = openDisk(() => {
    if (effects++ >= n) throw new Error("the process is dead");
  });
  return { disk, effects: () => effects };
}
