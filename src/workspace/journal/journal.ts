/** The state folder of a workspace with its lock, and the journal of a run: each change, recorded before it is made. */
import { constants, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { basename, join } from "node:path";
import type { Blob, Change } from "../../core/change.ts";
import { digest } from "../../core/digest.ts";
import { diskCodes, orNull, PaiError, toPaiError, unless } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { Steps } from "../../core/steps.ts";
import { distrustParts } from "../../system/judge-folder.ts";
import { type Held, hintOfHeld, lockOpened, type TakeLock, takeLock } from "../../system/lock.ts";
import { mayUse, nearestThere } from "../../system/lookups.ts";
import { temporaryName } from "../atomic-write.ts";
import type { Root } from "../confine.ts";
import type { Batch } from "../disk-batch.ts";
import { type Disk, openDisk } from "../system/disk.ts";
import {
  type ClosedLook,
  type Ending,
  type EpisodeKind,
  type Intent,
  type KeptBlob,
  type KeptChange,
  type KeptFile,
  openSeal,
  prepareSeal,
  type RecordLine,
  readRecordLines,
  type Where,
  writeLine,
} from "./record.ts";

export interface State {
  readonly folder: string;
  readonly disk: Disk;
  readonly takeLock: TakeLock;
}

/** `why`: nothing is kept although it should be. */
export function openState(root: Root, stateDir: string | null) {
  if (stateDir === null) return { state: null, why: null };
  const why = whyNotKept(root.path, stateDir);
  if (why !== null) return { state: null, why };
  return { state: { folder: stateFolderOf(root.path, stateDir), disk: openDisk(), takeLock }, why: null };
}

/** null: it can be kept there. `root`: real path. */
export function whyNotKept(root: string, stateDir: string): string | null {
  if (!mayUse(nearestThere(stateDir), constants.W_OK | constants.X_OK)) return `${stateDir} cannot be written`;
  // Journal, receipts and sessions are neither trusted nor sent on if other users could have written them.
  const why = distrustParts(stateFolderOf(root, stateDir), ["journal", "open", "runs", "sessions"]);
  return why === null ? null : `${why}, so what is kept there is not believed`;
}

export function openStateLock(state: State): Lock {
  const lock = openFileLock(join(state.folder, "lock"), state.takeLock);
  return async (work, options) => {
    prepareState(state);
    return lock(work, options);
  };
}

/** For its record, receipt and the contents of a small change. */
const roomOfRun = 64 * 1024;

/** Tries it, since only this also notices a quota. Throws disk_full. */
export function requireRoom(state: State): void {
  const probe = join(state.folder, temporaryName());
  try {
    prepareState(state);
    state.disk.createClaim(probe, new Uint8Array(roomOfRun));
  } catch (thrown) {
    const { code } = toPaiError(thrown);
    if (code !== "disk_full") throw thrown;
    throw new PaiError(code, `no space is left in ${state.folder}, where pai keeps what undo needs`, {
      hint: "free some space there, or run with --ephemeral: it keeps nothing, and cannot be undone",
      cause: thrown,
    });
  } finally {
    rmSync(probe, { force: true });
  }
}

/** With a name that people recognise. `root`: real path. */
export function stateFolderOf(root: string, stateDir: string): string {
  const name = basename(root).replace(/[^\w.-]/g, "_");
  return join(stateDir, `${name.slice(0, 100)}-${digest(root).slice(0, 12)}`);
}

/** `must`: a rollback, which runs even while another process holds the lock. */
export type Lock = <T>(work: () => T | Promise<T>, options?: { readonly must: boolean }) => Promise<T>;

/** `work` must wait for nothing. Throws conflict after `patienceMs`, and what `take` throws. */
function openLock(take: () => Held | null, hint: () => string, patienceMs: number): Lock {
  return async (work, { must } = { must: false }) => {
    // A rollback does not fail because a lock cannot be taken.
    const tryTake = () => (must ? orNull(take) : take());
    const until = performance.now() + patienceMs;
    let pause = 2;
    let held = tryTake();
    while (held === null && performance.now() <= until) {
      await Bun.sleep(pause);
      pause = Math.min(pause * 2, 50);
      held = tryTake();
    }
    if (held === null && !must) {
      throw new PaiError("conflict", "another pai is at work in this workspace", { hint: hint() });
    }
    try {
      return await work();
    } finally {
      held?.release();
    }
  };
}

/** The folder of `path` must exist. */
export const openFileLock = (path: string, take: TakeLock, patienceMs = 10_000): Lock =>
  openLock(
    () => take(path),
    () => hintOfHeld(path),
    patienceMs,
  );

/** Where nothing is kept: whoever may read the root may lock it. */
export const openRootLock = (root: Root, patienceMs = 10_000): Lock =>
  openLock(
    () => {
      const fd = openFolder(root);
      return fd === null ? unlocked : lockOpened(fd);
    },
    () => "wait for it to end",
    patienceMs,
  );

const unlocked: Held = { release() {} };

const openFolder = (root: Root): number | null =>
  orNull(() => root.withFolder("" as RelPath, (at) => openSync(`${at}/`, constants.O_RDONLY | constants.O_DIRECTORY)));

export interface RecordedWork {
  readonly by: "plan" | "command";
  readonly changes: readonly Change[];
}

/** Before a command in place: of files that were known before only what is new. */
export interface Before {
  readonly files: readonly {
    readonly path: RelPath;
    readonly blob: Blob | null;
    /** null: it is not closed to actions. */
    readonly owner: KeptFile["owner"];
  }[];
  readonly others: readonly RelPath[];
  readonly closed: ClosedLook | null;
}

export type Journal = ReturnType<typeof openJournal>;

const runsIn = (state: State) => join(state.folder, "journal");
const openIn = (state: State) => join(state.folder, "open");
export const runFolder = (state: State, id: string) => join(runsIn(state), id);
export const recordOf = (state: State, id: string) => join(runFolder(state, id), "record");

/** Saved contents of changes, and of files before a command, which may be closed to actions. */
export type ImageFile = "images" | "before";
const imagesOf = (state: State, id: string, file: ImageFile) => join(runFolder(state, id), file);

/** Makes pai's private folder and the key of its seal. Throws permission_denied for another user's folder. */
export function prepareState(state: State): void {
  for (const folder of [state.folder, runsIn(state), openIn(state)]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stat = lstatSync(folder);
    if (stat.isDirectory() && stat.uid === process.geteuid?.()) continue;
    const hint = "look at it, then remove it, or run with --ephemeral";
    throw new PaiError("permission_denied", `${folder} is not a folder of yours`, { hint });
  }
  prepareSeal(state);
}

/** Oldest first. */
export const runIds = (state: State): string[] => namesOf(runsIn(state)).sort();

export const openIds = (state: State): string[] => namesOf(openIn(state)).sort();

/** The lock of a run; null: its process goes on, and holds it. */
export const takeRun = (state: State, id: string): Held | null => state.takeLock(join(openIn(state), id));

export const readRecord = (state: State, id: string) => readRecordLines(recordOf(state, id), openSeal(state, id));

export function isForeign(state: State, id: string): boolean {
  const { lines, foreign } = readRecord(state, id);
  return lines.length === 0 && foreign > 0;
}

export function forgetOpen(state: State, id: string): void {
  const marker = join(openIn(state), id);
  unless(["ENOENT"], () => state.disk.removeFile(marker));
}

/** For a run that has ended: they may hold secrets. */
export function forgetBefore(state: State, id: string): void {
  const path = imagesOf(state, id, "before");
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) state.disk.removeFile(path);
}

/** New or continued; touches nothing until `begin`. `also`: folders outside the project that a new run may change. */
export function openJournal(state: State, id: string, also: readonly string[] = []) {
  if (!/^[\w-]{1,100}$/.test(id)) throw new PaiError("internal", `"${id}" is not a run id`);
  const images = openImages(state, imagesOf(state, id, "images"));
  const before = openImages(state, imagesOf(state, id, "before"));
  /** The names of new journal files are not synced yet. */
  let unnamed = false;
  let held: Held | null = null;

  const say = (line: RecordLine) => {
    const seal = openSeal(state, id);
    if (seal === null) throw new PaiError("io_failed", `the key of the journal in ${state.folder} cannot be read`);
    state.disk.append(recordOf(state, id), writeLine(line, seal));
  };
  const promise = (line: RecordLine) => {
    images.sync();
    say(line);
    state.disk.syncFile(recordOf(state, id));
    if (unnamed)
      for (const folder of [openIn(state), runFolder(state, id), runsIn(state)]) state.disk.syncFolder(folder);
    unnamed = false;
  };

  const keep = (changes: readonly Change[]): KeptChange[] => {
    const blobs = images.save(changes.flatMap((change) => [change.before, change.after]));
    return changes.map(({ path, from }, at) => ({
      path,
      before: blobs[2 * at] ?? null,
      after: blobs[2 * at + 1] ?? null,
      from,
    }));
  };
  const intentOf = ({ changes, temps, traits }: Omit<Batch, "seen">, by: Intent["by"]): Intent => {
    return { by, changes: keep(changes), temps: [...temps], traits: [...traits] };
  };
  return {
    /** Holds the run's lock until the end; a death before that is undone by the next pai. Throws conflict. */
    begin(kind: EpisodeKind, task: string): void {
      prepareState(state);
      mkdirSync(runFolder(state, id), { recursive: true, mode: 0o700 });
      held ??= takeRun(state, id);
      if (held === null)
        throw new PaiError("conflict", `run ${id} is under way in another pai`, { hint: "wait for its end" });
      // An undo or redo continues the record of its run, whose contents are kept already.
      for (const line of kind === "run" ? [] : readRecord(state, id).lines) {
        if (line.type === "intend") images.know(line.changes.flatMap(({ before, after }) => [before, after]));
      }
      say({ type: "begin", kind, task, at: new Date().toISOString(), ...(also.length > 0 && { also }) });
      unnamed = true;
    },
    /** Saves both contents of changes, so that `intend` finds them saved. Records no promise. */
    *prepare(changes: readonly Change[]): Steps<void> {
      for (const change of changes) {
        keep([change]);
        yield;
      }
    },
    /** Records a batch before it is applied; synced when it returns. */
    intend: (batch: Batch, by: Intent["by"]) => promise({ type: "intend", ...intentOf(batch, by) }),
    /** Not synced: it survives this process, but not a power cut. */
    watch({ files, others, closed }: Before): void {
      const blobs = before.save(files.map(({ blob }) => blob));
      const kept = files.map(({ path, owner }, at) => ({ path, blob: blobs[at] ?? null, owner }));
      say({ type: "watch", at: Date.now(), files: kept, others, closed });
      // The file's time tells when the process was last at work, so there must be one.
      before.append(new Uint8Array());
    },
    /** Notes that the process is at work: what changes much later is not its command's. */
    beat(): void {
      const now = new Date();
      unless(["ENOENT"], () => utimesSync(imagesOf(state, id, "before"), now, now));
    },
    /** Synced only when the episode ends. */
    applied: () => say({ type: "applied" }),
    /** Before a rollback creates them; synced when it returns. */
    promiseTemps: (temps: ReadonlyMap<RelPath, string>) => promise({ type: "temps", temps: [...temps] }),
    /** `left`: paths that could not be undone; `work`: further changes that a recovery found. */
    end(how: Ending, left: readonly RelPath[], work: readonly RecordedWork[] = []): void {
      const found = work.map(({ by, changes }) => intentOf({ changes, temps: new Map(), traits: new Map() }, by));
      const at = new Date().toISOString();
      promise({ type: "end", how, left: [...left], at, ...(found.length > 0 ? { work: found } : {}) });
      forgetBefore(state, id);
      forgetOpen(state, id);
      held = release(held);
    },
    forget(): void {
      state.disk.removeTree(runFolder(state, id));
      forgetOpen(state, id);
      held = release(held);
    },
  };
}

function release(held: Held | null): null {
  held?.release();
  return null;
}

/** A failing disk must not stop a rollback: the next start records it again. */
export const noteIfPossible = (note: () => void): void => unless(diskCodes, note);

/** Throws io_failed when the journal is damaged. */
export function readImage(images: Uint8Array, [at, length]: Where, hash: string): Uint8Array {
  try {
    const bytes = Bun.zstdDecompressSync(images.subarray(at, at + length));
    if (digest(bytes) === hash) return new Uint8Array(bytes);
  } catch {
    // Reported below, together with a wrong hash.
  }
  const hint = "the files of the workspace were not touched";
  throw new PaiError("io_failed", "the journal is damaged: a kept file cannot be read", { hint });
}

export function readImages(state: State, id: string, file: ImageFile = "images"): Uint8Array {
  const path = imagesOf(state, id, file);
  return unless(["ENOENT"], () => readFileSync(path)) ?? new Uint8Array();
}

/** When its process was last seen at work around its commands, in epoch milliseconds. */
export const lastBeat = (state: State, id: string): number | null =>
  lstatSync(imagesOf(state, id, "before"), { throwIfNoEntry: false })?.mtimeMs ?? null;

/** Saved contents in a file, compressed, each once. */
function openImages(state: State, path: string) {
  const places = new Map<string, Where>();
  let unsynced = false;
  const append = (bytes: Uint8Array): void => {
    state.disk.append(path, bytes);
    unsynced = true;
  };
  return {
    append,
    know(kept: readonly (KeptBlob | null)[]): void {
      for (const blob of kept) if (blob?.kind === "file") places.set(blob.hash, blob.where);
    },
    save(blobs: readonly (Blob | null)[]): readonly (KeptBlob | null)[] {
      const packed: Uint8Array[] = [];
      const fresh = new Map<string, Where>();
      let end = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
      const pack = (hash: string, bytes: Uint8Array): Where => {
        const small = Bun.zstdCompressSync(bytes);
        packed.push(small);
        fresh.set(hash, [end, small.length]);
        end += small.length;
        return [end - small.length, small.length];
      };
      const kept = blobs.map((blob): KeptBlob | null => {
        if (blob?.kind !== "file") return blob;
        const hash = digest(blob.bytes);
        const where = places.get(hash) ?? fresh.get(hash) ?? pack(hash, blob.bytes);
        return { kind: "file", mode: blob.mode, hash, size: blob.bytes.length, where };
      });
      if (packed.length > 0) append(Buffer.concat(packed));
      for (const [hash, where] of fresh) places.set(hash, where);
      return kept;
    },
    sync(): void {
      if (unsynced) state.disk.syncFile(path);
      unsynced = false;
    },
  };
}

const namesOf = (folder: string): string[] =>
  (unless(["ENOENT"], () => readdirSync(folder)) ?? []).filter((name) => /^[\w-]{1,100}$/.test(name));
