/** What the user typed in sessions of one workspace, kept for later sessions: limited in size, private. */
import { orNull } from "../core/error.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";
import { readRegular, withLock, writePrivate } from "./safe-file.ts";

export type InputHistory = ReturnType<typeof openInputHistory>;

const limits = { entries: 1000, bytes: 256 * 1024, entry: 8 * 1024 };

function readEntries(file: string): readonly string[] {
  const lines = (orNull(() => readRegular(file, { follow: false })) ?? "").split("\n").filter((line) => line !== "");
  const entries = orNull(() => lines.map((line): unknown => JSON.parse(line))) ?? [];
  return entries.filter((entry) => typeof entry === "string");
}

function limit(entries: readonly string[]): readonly string[] {
  const recent = entries.slice(-limits.entries);
  let bytes = 0;
  const from = recent.findLastIndex((entry) => {
    bytes += Buffer.byteLength(entry);
    return bytes > limits.bytes;
  });
  return recent.slice(from + 1);
}

/** `file` null: nothing is saved. Secrets are saved masked; a message that is too long lives only in this session. */
export function openInputHistory(file: string | null) {
  let entries: readonly string[] = file === null ? [] : limit(readEntries(file));
  return {
    /** Oldest first. */
    get entries(): readonly string[] {
      return entries;
    },
    /** Adds a message unless it repeats the last one. False: it will not be saved. */
    add(text: string): boolean {
      const entry = maskSecrets(text, "plain");
      const isLong = entry.length > limits.entry;
      if (entry !== entries.at(-1)) entries = [...entries, entry].slice(-limits.entries);
      else if (!isLong) return file !== null;
      if (file === null || isLong) return false;
      try {
        withLock(file, () => {
          const all = limit([...readEntries(file), entry]);
          writePrivate(file, all.map((each) => `${JSON.stringify(each)}\n`).join(""), { lasting: false });
        });
        return true;
      } catch {
        return false;
      }
    },
  };
}
