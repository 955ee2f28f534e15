/** The record of a run: one sealed JSON line a promise; a torn last line does not make it unreadable. */

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { orNull, unless } from "../../core/error.ts";
import { temporaryName } from "../atomic-write.ts";
import type { Disk } from "../system/disk.ts";
import type { Traits } from "../traits.ts";

/** Offset and length of a compressed content in the file of images. */
export type Where = readonly [at: number, length: number];

/** A Blob with a hash instead of its bytes. */
export type HashedBlob =
  | { readonly kind: "file"; readonly mode: number; readonly hash: string; readonly size: number }
  | { readonly kind: "folder"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string };

export type KeptBlob =
  | (Extract<HashedBlob, { kind: "file" }> & { readonly where: Where })
  | Exclude<HashedBlob, { kind: "file" }>;

export type EpisodeKind = "run" | "undo" | "redo";
export type Ending = "applied" | "rolled_back";

export interface KeptChange {
  readonly path: string;
  readonly before: KeptBlob | null;
  readonly after: KeptBlob | null;
  readonly from: string | null;
}

/** Before a command; `blob` null: it is no longer there. */
export interface KeptFile {
  readonly path: string;
  readonly blob: KeptBlob | null;
  /** null: it is not closed to actions. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

export interface ClosedLook {
  /** Commands may write `.git`, so it was left out. */
  readonly git: boolean;
  readonly isPart: boolean;
}

export interface Intent {
  readonly by: "plan" | "command";
  readonly changes: readonly KeptChange[];
  readonly temps: readonly (readonly [path: string, temp: string])[];
  readonly traits: readonly (readonly [path: string, traits: Traits])[];
}

export type RecordLine =
  | {
      readonly type: "begin";
      readonly kind: EpisodeKind;
      readonly task: string;
      readonly at: string;
      readonly also?: readonly string[];
    }
  | (Intent & { readonly type: "intend" })
  | {
      readonly type: "watch";
      /** Epoch milliseconds. */
      readonly at: number;
      /** What is new since the last such line. The contents lie in a file that goes when the run ends. */
      readonly files: readonly KeptFile[];
      readonly others: readonly string[];
      /** null: a sandbox keeps the command off what is closed. */
      readonly closed: ClosedLook | null;
    }
  | { readonly type: "applied" }
  | { readonly type: "temps"; readonly temps: Intent["temps"] }
  | {
      readonly type: "end";
      readonly how: Ending;
      readonly left: readonly string[];
      readonly at: string;
      /** What a recovery found; in this line, so that it is recorded with it or not at all. */
      readonly work?: readonly Intent[];
    };

/** It begins with a line feed, so that it never continues a torn one. */
export function writeLine(line: RecordLine, seal: Seal): Uint8Array {
  const text = JSON.stringify(line);
  return Buffer.from(`\n${seal(text)} ${text}\n`);
}

/** `foreign`: how many intact lines bear another seal, of another pai or of somebody else. */
export function readRecordLines(path: string, seal: Seal | null) {
  // An unreadable file is not a missing one.
  const texts = (unless(["ENOENT"], () => readFileSync(path, "utf8")) ?? "").split("\n");
  const lines: RecordLine[] = [];
  let foreign = 0;
  for (const text of texts) {
    if (text === "") continue;
    const json = text.slice(text.indexOf(" ") + 1);
    // The seal proves that writeLine wrote these bytes, so their shape is not checked again.
    if (seal !== null && text === `${seal(json)} ${json}`) lines.push(JSON.parse(json) as RecordLine);
    else if (isWhole(json)) foreign++;
  }
  return { lines, foreign };
}

const isWhole = (json: string): boolean => orNull(() => [JSON.parse(json)]) !== null;

/** Part of each seal: records of another format count as foreign. */
const format = 3;
const keyBytes = 32;
const sealedCharacters = 22;

type Seal = (text: string) => string;

type Sealed = { readonly folder: string; readonly disk: Disk };

const keyOf = ({ folder }: Sealed) => join(folder, "seal");

/** null: none, or other users could have written it. */
function readKey(state: Sealed): Buffer | null {
  const stat = lstatSync(keyOf(state), { throwIfNoEntry: false });
  const isOwn = stat?.isFile() === true && stat.uid === process.geteuid?.() && (stat.mode & 0o022) === 0;
  return isOwn && stat.size === keyBytes ? readFileSync(keyOf(state)) : null;
}

/** Lines sealed with an earlier key count as foreign from then on. */
export function prepareSeal(state: Sealed): void {
  if (readKey(state) !== null) return;
  const { disk } = state;
  const path = keyOf(state);
  const temporary = `${path}-${temporaryName()}`;
  disk.createFile(temporary, crypto.getRandomValues(new Uint8Array(keyBytes)), 0o600, null, Date.now() / 1000);
  try {
    takeName(state, path, temporary);
  } finally {
    if (lstatSync(temporary, { throwIfNoEntry: false }) !== undefined) disk.removeFile(temporary);
  }
  disk.syncFolder(state.folder);
}

/** If another pai was faster, its key stays, since it has used it already. */
function takeName(state: Sealed, path: string, temporary: string): void {
  const { disk } = state;
  if (unless(["EEXIST"], () => disk.renameNew(path, temporary)) === true) return;
  if (readKey(state) === null) disk.rename(path, temporary);
}

/** Valid for no other run; null: there is no key. */
export function openSeal(state: Sealed, id: string): Seal | null {
  const key = readKey(state);
  if (key === null) return null;
  return (text) =>
    new Bun.CryptoHasher("sha256", key)
      .update(`${format}\n${id}\n${text}`)
      .digest("base64url")
      .slice(0, sealedCharacters);
}
