/** Reads files to be shown to the model, and tells the receipt which were. */

import { digest } from "../core/digest.ts";
import type { RelPath } from "../core/path.ts";
import type { Run } from "./run.ts";

/** A file, and what of it is shown: all of it, or its beginning. */
export interface Source {
  readonly path: RelPath;
  readonly bytes: Uint8Array;
  /** Of the whole file. */
  readonly text: string;
  readonly shown: string;
}

/** A text file, shown whole; null for what is no text or cannot be read. */
export async function readSource(run: Run, path: RelPath, limit?: number): Promise<Source | null> {
  const blob = await run.overlay.read(path, limit).catch(() => null);
  if (blob?.kind !== "file" || blob.bytes.subarray(0, 8000).includes(0)) return null;
  const text = new TextDecoder().decode(blob.bytes);
  return { path, bytes: blob.bytes, text, shown: text };
}

/** Tells the receipt of files that the next call shows. */
export function noteSent(run: Run, files: readonly Pick<Source, "path" | "bytes" | "shown">[]): void {
  if (files.length === 0) return;
  const sent = files.map(({ path, bytes, shown }) => ({
    path,
    sha256: digest(bytes),
    bytes: Buffer.byteLength(shown),
  }));
  run.emit({ type: "context.sent", files: sent });
}
