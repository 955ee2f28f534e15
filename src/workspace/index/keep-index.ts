/** Refreshes the index at a path: one that is damaged is made anew, and a new one that cannot be finished is removed. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { PaiError } from "../../core/error.ts";
import { openIndex } from "./index-file.ts";
import { isBusy, isDamage, removeIndex } from "./index-name.ts";
import { type Refreshed, type RefreshOptions, refreshIndex } from "./refresh.ts";

export interface KeepOptions extends Omit<RefreshOptions, "index"> {
  readonly file: string;
  /** Digest of the settings that decide which files are scanned. */
  readonly digest: string;
}

async function refreshAt({ file, digest, ...options }: KeepOptions): Promise<Refreshed> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const index = openIndex(file, digest, true);
  if (index === null) throw new Error("it cannot be made");
  try {
    return await refreshIndex({ ...options, index });
  } finally {
    index.close();
  }
}

/** Throws io_failed where it cannot be kept or updated; the message says whether there still is one. */
export async function keepIndex(options: KeepOptions): Promise<Refreshed> {
  const { file, signal } = options;
  const isNew = !existsSync(file);
  try {
    return await refreshAt(options);
  } catch (thrown) {
    signal.throwIfAborted();
    if (isBusy(thrown) || (!isNew && !isDamage(thrown)))
      throw explain("the index stays, but could not be updated", file, thrown);
    removeIndex(file);
    if (isNew) throw explain("no index can be kept", file, thrown);
  }
  try {
    return await refreshAt(options);
  } catch (thrown) {
    signal.throwIfAborted();
    removeIndex(file);
    throw explain("the index was damaged and is removed, and no new one can be kept", file, thrown);
  }
}

function explain(what: string, file: string, cause: unknown): PaiError {
  if (cause instanceof PaiError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  const hint = "is the disk full, or the folder read-only? Without an index everything works, only slower";
  return new PaiError("io_failed", `${what}: ${why} (${file})`, { cause, hint });
}
