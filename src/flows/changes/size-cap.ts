/** Bounds what the calls of one reply stage: a few copies of a growing folder double it each time. */
import { replyCaps } from "../../core/caps.ts";
import type { Blob, Change } from "../../core/change.ts";

export interface SizeCap {
  /** Counts these changes; a text: why they are too much, and they are not counted. */
  take(changes: readonly Change[]): string | null;
}

const bytesOf = (blob: Blob | null): number => (blob?.kind === "file" ? blob.bytes.length : 0);

export function openSizeCap(): SizeCap {
  let paths = 0;
  let written = 0;
  let removed = 0;
  return {
    take(changes) {
      let [more, less] = [0, 0];
      for (const { before, after } of changes) {
        if (after === null) less += bytesOf(before);
        else more += bytesOf(after);
      }
      if (paths + changes.length > replyCaps.paths) return `not done: one reply may change ${replyCaps.paths} paths`;
      if (Math.max(written + more, removed + less) > replyCaps.bytes)
        return `not done: one reply may write or remove ${replyCaps.bytes / 1024 / 1024} MiB; send the rest in the next`;
      paths += changes.length;
      written += more;
      removed += less;
      return null;
    },
  };
}
