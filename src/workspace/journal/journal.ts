/** The journal of one run: what pai is about to do, kept with both contents before it does it. */
import { lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Blob, Change } from "../../core/change.ts";
import { digest } from "../../core/digest.ts";
import { diskCodes, type ErrorCode, PaiError, toPaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { Steps } from "../../core/steps.ts";
import type { Holder } from "../../system/holder.ts";
import type { Batch } from "../disk-batch.ts";
import type { Disk } from "../system/disk.ts";
import {
  type Intent,
  type Kept,
  type KeptBlob,
  type Line,
  type RecordLines,
  readRecordLines,
  unlessMissing,
  type Where,
  writeLine,
} from "./record.ts";
import { openSeal, prepareSeal } from "./seal.ts";

/** pai's own folder for one workspace. */
export interface State {
  readonly folder: string;
  readonly disk: Disk;
  /** The process that writes this journal. */
  readonly self: Holder;
}

export type EpisodeKind = "run" | "undo" | "redo";
export type Ending = "applied" | "rolled_back";

export interface Work {
  readonly by: "plan" | "command";
  readonly changes: readonly Change[];
}

export interface Journal {
  /** Opens an episode, written with its first promise. Until `end`, the next pai takes it back if this process dies. */
  begin(kind: EpisodeKind, task: string): void;
  /** Keeps both contents of changes, in steps: what is promised afterwards finds them kept. Promises nothing. */
  prepare(changes: readonly Change[]): Steps<void>;
  /** Promises a batch before it is done: keeps both contents of every change, on the disk when it returns. */
  intend(batch: Batch, by: "plan" | "command"): void;
  /** Keeps the files' content as a command begins. Not synced: it outlives this process, but not a power cut. */
  watch(changes: readonly Change[], others: readonly RelPath[]): void;
  /** Marks the promised batch as done; without the mark it counts as not done. Synced only when the episode ends. */
  applied(): void;
  /** Names the temporary files that taking back is about to make; on the disk when it returns. */
  promiseTemps(temps: ReadonlyMap<RelPath, string>): void;
  /**
   * Ends the episode. `left`: paths that could not be taken back; `work`: what a recovery found done beyond the
   * batches.
   */
  end(how: Ending, left: readonly RelPath[], work?: readonly Work[]): void;
  /** Removes the record of a run that changed nothing. */
  forget(): void;
}

const runsIn = (state: State) => join(state.folder, "journal");
const openIn = (state: State) => join(state.folder, "open");
export const runFolder = (state: State, id: string) => join(runsIn(state), id);
export const recordOf = (state: State, id: string) => join(runFolder(state, id), "record");
const imagesOf = (state: State, id: string) => join(runFolder(state, id), "images");

/** Makes pai's own folder, private, with the key of its seal. Throws permission_denied when the folder is not ours. */
export function prepareState(state: State): void {
  for (const folder of [state.folder, runsIn(state), openIn(state)]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stat = lstatSync(folder);
    if (stat.isDirectory() && stat.uid === process.geteuid?.()) continue;
    throw new PaiError("permission_denied", `${folder} is not a folder of yours`, {
      hint: "look at it, then remove it, or run with --ephemeral",
    });
  }
  prepareSeal(state);
}

/** Run ids in the journal, oldest first. */
export function runIds(state: State): string[] {
  return namesOf(runsIn(state)).sort();
}

/** Ids of runs that have begun and not ended. */
export function openIds(state: State): string[] {
  return namesOf(openIn(state)).sort();
}

/** Where copies of closed files are while a command of a run works. */
export const closedIn = (state: State) => join(state.folder, "closed");

/** Whether any run has begun and not ended, be it alive or not. */
export const isAnyOpen = (state: State): boolean => openIds(state).length > 0 || namesOf(closedIn(state)).length > 0;

/** Every line of a run's record that this pai has written, and how many others there are. */
export function readRecord(state: State, id: string): RecordLines {
  return readRecordLines(recordOf(state, id), openSeal(state, id));
}

/** Whether a run has a record of which this pai has written nothing, though it is whole. */
export function isForeign(state: State, id: string): boolean {
  const { lines, foreign } = readRecord(state, id);
  return lines.length === 0 && foreign > 0;
}

/** Forgets that a run is open. */
export function forgetOpen(state: State, id: string): void {
  const marker = join(openIn(state), id);
  unlessMissing(() => state.disk.removeFile(marker));
}

/** The journal of a run, new or continued. Touches nothing until `begin`. */
export function openJournal(state: State, id: string): Journal {
  if (!/^[\w-]{1,100}$/.test(id)) throw new PaiError("internal", `"${id}" is not a run id`);
  const images = new Map<string, Where>();
  /** Whether names of files in the journal are not synced yet. */
  let unnamed = false;
  /** Whether contents of images are not synced yet. */
  let unsynced = false;

  const say = (line: Line) => {
    const seal = openSeal(state, id);
    if (seal === null) throw new PaiError("io_failed", `the key of the journal in ${state.folder} cannot be read`);
    state.disk.append(recordOf(state, id), writeLine(line, seal));
  };
  const promise = (line: Line) => {
    if (unsynced) state.disk.syncFile(imagesOf(state, id));
    unsynced = false;
    say(line);
    state.disk.syncFile(recordOf(state, id));
    if (unnamed)
      for (const folder of [openIn(state), runFolder(state, id), runsIn(state)]) state.disk.syncFolder(folder);
    unnamed = false;
  };

  const keep = (changes: readonly Change[]): Kept[] => {
    const packed: Uint8Array[] = [];
    const fresh = new Map<string, Where>();
    let size = lstatSync(imagesOf(state, id), { throwIfNoEntry: false })?.size ?? 0;
    const keepOne = (blob: Blob | null): KeptBlob | null => {
      if (blob?.kind !== "file") return blob;
      const hash = digest(blob.bytes);
      if (!images.has(hash) && !fresh.has(hash)) {
        const bytes = Bun.zstdCompressSync(blob.bytes);
        fresh.set(hash, [size, bytes.length]);
        size += bytes.length;
        packed.push(bytes);
      }
      return { kind: "file", mode: blob.mode, hash, size: blob.bytes.length };
    };
    const kept = changes.map(({ path, before, after, from }) => ({
      path,
      before: keepOne(before),
      after: keepOne(after),
      from,
    }));
    if (packed.length > 0) {
      state.disk.append(imagesOf(state, id), Buffer.concat(packed));
      unsynced = true;
    }
    for (const [hash, where] of fresh) images.set(hash, where);
    return kept;
  };

  const intentOf = ({ changes, temps, traits }: Omit<Batch, "seen">, by: Intent["by"]): Intent => {
    const kept = keep(changes);
    const used = kept.flatMap(({ before, after }) => [before, after]);
    const hashes = new Set(used.flatMap((blob) => (blob?.kind === "file" ? [blob.hash] : [])));
    return {
      by,
      changes: kept,
      images: Object.fromEntries([...images].filter(([hash]) => hashes.has(hash))),
      temps: Object.fromEntries(temps),
      traits: Object.fromEntries(traits),
    };
  };

  return {
    begin(kind, task) {
      prepareState(state);
      mkdirSync(runFolder(state, id), { recursive: true, mode: 0o700 });
      for (const line of readRecord(state, id).lines) {
        if (line.type === "intend") for (const [hash, where] of Object.entries(line.images)) images.set(hash, where);
      }
      say({ type: "begin", v: 1, kind, task, at: new Date().toISOString(), holder: state.self });
      state.disk.append(join(openIn(state), id), new Uint8Array());
      unnamed = true;
    },
    *prepare(changes) {
      for (const change of changes) {
        keep([change]);
        yield;
      }
    },
    intend: (batch, by) => promise({ type: "intend", ...intentOf(batch, by) }),
    watch(changes, others) {
      say({ type: "intend", ...intentOf({ changes, temps: new Map(), traits: new Map() }, "watch"), others });
    },
    applied: () => say({ type: "applied" }),
    promiseTemps: (temps) => promise({ type: "temps", temps: Object.fromEntries(temps) }),
    end(how, left, work = []) {
      const found = work.map(({ by, changes }) => intentOf({ changes, temps: new Map(), traits: new Map() }, by));
      const at = new Date().toISOString();
      promise({ type: "end", how, left: [...left], at, ...(found.length > 0 ? { work: found } : {}) });
      forgetOpen(state, id);
    },
    forget() {
      state.disk.removeTree(runFolder(state, id));
      forgetOpen(state, id);
    },
  };
}

/** For what is kept as far as there is room for it. */
export function noteIfRoom(note: () => void): void {
  noteUnless(["disk_full"], note);
}

/** For notes on what is taken back: a disk that does not take them must not hold that up; the next start does it again. */
export function noteIfPossible(note: () => void): void {
  noteUnless(diskCodes, note);
}

function noteUnless(codes: readonly ErrorCode[], note: () => void): void {
  try {
    note();
  } catch (thrown) {
    if (!codes.includes(toPaiError(thrown).code)) throw thrown;
  }
}

/** Content that was kept. Throws io_failed when the journal was damaged. */
export function readImage(images: Uint8Array, [at, length]: Where, hash: string): Uint8Array {
  try {
    const bytes = Bun.zstdDecompressSync(images.subarray(at, at + length));
    if (digest(bytes) === hash) return new Uint8Array(bytes);
  } catch {
    // Told below, as one error for both kinds of damage.
  }
  throw new PaiError("io_failed", "the journal is damaged: a kept file cannot be read", {
    hint: "the files of the workspace were not touched",
  });
}

/** All contents kept of a run; empty where none are. */
export function readImages(state: State, id: string): Uint8Array {
  const path = imagesOf(state, id);
  return unlessMissing(() => readFileSync(path)) ?? new Uint8Array();
}

function namesOf(folder: string): string[] {
  return (unlessMissing(() => readdirSync(folder)) ?? []).filter((name) => /^[\w-]{1,100}$/.test(name));
}
