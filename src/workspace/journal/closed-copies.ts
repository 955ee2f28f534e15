/** Copies of closed files on disk while commands run unprotected; the next start restores them if pai is killed. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Blob } from "../../core/change.ts";
import { digest } from "../../core/digest.ts";
import type { RelPath } from "../../core/path.ts";
import type { Held } from "../../system/lock.ts";
import { temporaryName } from "../atomic-write.ts";
import { parseKept } from "../parse-path.ts";
import { closedIn, noteIfRoom, prepareState, type State } from "./journal.ts";
import { unlessMissing } from "./record.ts";
import { openSeal } from "./seal.ts";

/** The original of one path; `blob` null: it existed, but its content was not kept. */
export interface Copy {
  readonly blob: Blob | null;
  readonly uid: number;
  readonly gid: number;
}

export interface Copies {
  readonly files: ReadonlyMap<RelPath, Copy>;
  /** There were more files than were looked at. */
  readonly isPart: boolean;
  /** Commands were allowed to write `.git`, so these copies leave it out. */
  readonly git: boolean;
}

export interface SavedCopies extends Copies {
  /** Epoch milliseconds: when the first command began, and when the process was last seen at work. */
  readonly begun: number;
  readonly beaten: number;
}

interface Head {
  readonly begun: number;
  readonly isPart: boolean;
  readonly git: boolean;
  /** sha256 of the bytes that follow. */
  readonly sha256: string;
}

type Written = readonly [path: string, uid: number, gid: number, kind: string, mode: number, content: string];

const fileOf = (state: State, id: string) => join(closedIn(state), id);

/** Ids of runs that have copies. */
export const copyIds = (state: State): readonly string[] =>
  (unlessMissing(() => readdirSync(closedIn(state))) ?? []).filter((name) => /^[\w-]{1,100}$/.test(name)).sort();

/** The copies of one run. If the disk has no room, they are not kept, and commands run all the same. */
export function openCopies(state: State, id: string) {
  let begun: number | null = null;
  let last = "";
  let held: Held | null = null;
  return {
    save(copies: Copies): void {
      begun ??= Date.now();
      noteIfRoom(() => {
        prepareState(state);
        mkdirSync(closedIn(state), { recursive: true, mode: 0o700 });
        held ??= state.takeLock(copiesLock(state, id));
        const bytes = pack(copies);
        const sha256 = digest(bytes);
        if (sha256 !== last) write(state, id, { ...copies, begun: begun ?? 0, sha256 }, bytes);
        last = sha256;
      });
      this.beat();
    },
    /** Marks the process as alive: files changed much later are not changed by its command. */
    beat(): void {
      unlessMissing(() => utimesSync(fileOf(state, id), new Date(), new Date()));
    },
    remove(): void {
      if (last !== "") dropCopies(state, id);
      held?.release();
      held = null;
    },
  };
}

/** Removes the copies and their lock, which the caller holds. */
export function dropCopies(state: State, id: string): void {
  for (const path of [fileOf(state, id), copiesLock(state, id)]) unlessMissing(() => state.disk.removeFile(path));
}

/** Held by the process that keeps the copies. */
export const copiesLock = (state: State, id: string): string => `${fileOf(state, id)}.lock`;

function write(state: State, id: string, { begun, isPart, git, sha256 }: Head & Copies, bytes: Uint8Array): void {
  const head = JSON.stringify({ begun, isPart, git, sha256 } satisfies Head);
  const seal = openSeal(state, id)?.(head) ?? "";
  const temporary = join(closedIn(state), temporaryName());
  state.disk.createClaim(temporary, Buffer.concat([Buffer.from(`${seal} ${head}\n`), bytes]));
  state.disk.rename(fileOf(state, id), temporary);
}

/** null: there are none with this pai's seal. */
export function readCopies(state: State, id: string): SavedCopies | null {
  const path = fileOf(state, id);
  const whole = unlessMissing(() => readFileSync(path));
  const beaten = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (whole === null || beaten === undefined) return null;
  const end = whole.indexOf(10);
  const line = whole.subarray(0, Math.max(0, end)).toString();
  const text = line.slice(line.indexOf(" ") + 1);
  const bytes = whole.subarray(end + 1);
  const seal = openSeal(state, id);
  if (seal === null || line !== `${seal(text)} ${text}`) return null;
  // The seal proves that `write` wrote these bytes, so their shape is not checked again.
  const { begun, isPart, git, sha256 } = JSON.parse(text) as Head;
  if (digest(bytes) !== sha256) return null;
  return { begun, beaten, isPart, git, files: unpack(bytes) };
}

function pack({ files }: Copies): Uint8Array {
  const written = [...files].map(([path, { blob, uid, gid }]): Written => {
    const mode = blob === null || blob.kind === "link" ? 0 : blob.mode;
    const content =
      blob?.kind === "file" ? Buffer.from(blob.bytes).toString("base64") : blob?.kind === "link" ? blob.target : "";
    return [path, uid, gid, blob?.kind ?? "unknown", mode, content];
  });
  return Bun.zstdCompressSync(Buffer.from(JSON.stringify(written)));
}

function unpack(bytes: Uint8Array): ReadonlyMap<RelPath, Copy> {
  const written = JSON.parse(Bun.zstdDecompressSync(bytes).toString()) as readonly Written[];
  return new Map(
    written.map(([path, uid, gid, kind, mode, content]) => [
      parseKept(path),
      { blob: blobOf(kind, mode, content), uid, gid },
    ]),
  );
}

function blobOf(kind: string, mode: number, content: string): Blob | null {
  if (kind === "file") return { kind, mode, bytes: new Uint8Array(Buffer.from(content, "base64")) };
  if (kind === "folder") return { kind, mode };
  return kind === "link" ? { kind, target: content } : null;
}
