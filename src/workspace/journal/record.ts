/** The record file of a run: one JSON line per promise, read back even when the last line was torn. */
import { readFileSync } from "node:fs";
import type { Holder } from "../../system/holder.ts";
import type { Traits } from "../traits.ts";
import type { Seal } from "./seal.ts";

/** Offset and length of a compressed content in the images file. */
export type Where = readonly [at: number, length: number];

/** A Blob by the hash of its bytes. */
export type KeptBlob =
  | { readonly kind: "file"; readonly mode: number; readonly hash: string; readonly size: number }
  | { readonly kind: "folder"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string };

export interface Kept {
  readonly path: string;
  readonly before: KeptBlob | null;
  readonly after: KeptBlob | null;
  readonly from: string | null;
}

export interface Intent {
  /** `watch`: no change is intended; a command begins, and these are the files before it. */
  readonly by: "plan" | "command" | "watch";
  readonly changes: readonly Kept[];
  readonly images: Readonly<Record<string, Where>>;
  readonly temps: Readonly<Record<string, string>>;
  readonly traits: Readonly<Record<string, Traits>>;
}

export type Line =
  | {
      readonly type: "begin";
      readonly v: 1;
      readonly kind: "run" | "undo" | "redo";
      readonly task: string;
      readonly at: string;
      readonly holder: Holder;
    }
  | (Intent & {
      readonly type: "intend";
      /** `watch`: paths of files that were not kept, folders left out. */
      readonly others?: readonly string[];
    })
  | { readonly type: "applied" }
  | { readonly type: "temps"; readonly temps: Readonly<Record<string, string>> }
  | {
      readonly type: "end";
      readonly how: "applied" | "rolled_back";
      readonly left: readonly string[];
      readonly at: string;
      /**
       * Work beyond the batches, found by a recovery: kept in this line, so that it is recorded whole or not at all.
       */
      readonly work?: readonly Intent[];
    };

export interface RecordLines {
  readonly lines: readonly Line[];
  /** How many others there are: torn, changed, or foreign. */
  readonly damaged: number;
  /** How many of those are whole and bear another seal: an older pai wrote them, or somebody else. */
  readonly foreign: number;
}

/** A line begins with a line feed, so that it is never appended to a torn one, and carries its seal. */
export function writeLine(line: Line, seal: Seal): Uint8Array {
  const text = JSON.stringify(line);
  return Buffer.from(`\n${seal(text)} ${text}\n`);
}

/** Lines that are whole and that this pai has written. `seal` null: none are. */
export function readRecordLines(path: string, seal: Seal | null): RecordLines {
  const texts = Buffer.from(unlessMissing(() => readFileSync(path)) ?? [])
    .toString()
    .split("\n");
  const lines: Line[] = [];
  let [damaged, foreign] = [0, 0];
  for (const text of texts) {
    if (text === "") continue;
    const json = text.slice(text.indexOf(" ") + 1);
    // The seal proves that these bytes are what writeLine wrote, so their shape needs no second proof.
    if (seal !== null && text === `${seal(json)} ${json}`) lines.push(JSON.parse(json) as Line);
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

/** null: what was looked for is not there. Any other failure is thrown: what cannot be read is not missing. */
export function unlessMissing<T>(look: () => T): T | null {
  try {
    return look();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  }
}
