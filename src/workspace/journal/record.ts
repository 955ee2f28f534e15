/** The record file of a run: one sealed JSON line a promise; a torn last line does not make it unreadable. */
import { readFileSync } from "node:fs";
import type { Traits } from "../traits.ts";
import type { Seal } from "./seal.ts";

/** Offset and length of a compressed content in the file of images. */
export type Where = readonly [at: number, length: number];

/** A Blob with a hash instead of its bytes. */
export type KeptBlob =
  | { readonly kind: "file"; readonly mode: number; readonly hash: string; readonly size: number }
  | { readonly kind: "folder"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string };

export interface KeptChange {
  readonly path: string;
  readonly before: KeptBlob | null;
  readonly after: KeptBlob | null;
  readonly from: string | null;
}

/** A file as it is before a command; `blob` null: it is no longer there. */
export interface KeptFile {
  readonly path: string;
  readonly blob: KeptBlob | null;
  /** Of a file that is closed to actions; null: it is not. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

/** How the files that are closed to actions were looked at. */
export interface ClosedLook {
  /** Commands were allowed to write `.git`, so it was left out. */
  readonly git: boolean;
  /** There were more files than were looked at. */
  readonly isPart: boolean;
}

export interface Intent {
  readonly by: "plan" | "command";
  readonly changes: readonly KeptChange[];
  readonly images: Readonly<Record<string, Where>>;
  readonly temps: Readonly<Record<string, string>>;
  readonly traits: Readonly<Record<string, Traits>>;
  /** `command`: how many names (hard links) changed files had after it, if more than one; absent: not known. */
  readonly names?: Readonly<Record<string, number>>;
}

export type RecordLine =
  | {
      readonly type: "begin";
      readonly kind: "run" | "undo" | "redo";
      readonly task: string;
      readonly at: string;
    }
  | (Intent & { readonly type: "intend" })
  | {
      /** A command begins in place. */
      readonly type: "watch";
      /** Epoch milliseconds. */
      readonly at: number;
      /** What is new since the last such line. The contents lie in a file of their own, which goes when the run ends. */
      readonly files: readonly KeptFile[];
      readonly images: Readonly<Record<string, Where>>;
      /** Paths of files whose content was not kept. */
      readonly others: readonly string[];
      /** null: a sandbox keeps the command off what is closed. */
      readonly closed: ClosedLook | null;
    }
  | { readonly type: "applied" }
  | { readonly type: "temps"; readonly temps: Readonly<Record<string, string>> }
  | {
      readonly type: "end";
      readonly how: "applied" | "rolled_back";
      readonly left: readonly string[];
      readonly at: string;
      /** Further changes that a recovery found; in this line, so that they are recorded with it or not at all. */
      readonly work?: readonly Intent[];
    };

export interface RecordLines {
  readonly lines: readonly RecordLine[];
  /** Number of other lines: torn, altered, or with another seal. */
  readonly damaged: number;
  /** Those of them that are intact and bear another seal: an older pai or somebody else wrote them. */
  readonly foreign: number;
}

/** A line begins with a line feed, so that it never continues a torn one, and with its seal. */
export function writeLine(line: RecordLine, seal: Seal): Uint8Array {
  const text = JSON.stringify(line);
  return Buffer.from(`\n${seal(text)} ${text}\n`);
}

/** Lines that are intact and bear this pai's seal. `seal` null: there are none. */
export function readRecordLines(path: string, seal: Seal | null): RecordLines {
  const texts = Buffer.from(unlessMissing(() => readFileSync(path)) ?? [])
    .toString()
    .split("\n");
  const lines: RecordLine[] = [];
  let [damaged, foreign] = [0, 0];
  for (const text of texts) {
    if (text === "") continue;
    const json = text.slice(text.indexOf(" ") + 1);
    // The seal proves that writeLine wrote these bytes, so their shape is not checked again.
    if (seal !== null && text === `${seal(json)} ${json}`) lines.push(JSON.parse(json) as RecordLine);
    else {
      damaged++;
      if (isWhole(json)) foreign++;
    }
  }
  return { lines, damaged, foreign };
}

function isWhole(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

/** null: the file is missing. Throws any other failure: an unreadable file is not a missing one. */
export function unlessMissing<T>(look: () => T): T | null {
  try {
    return look();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  }
}
