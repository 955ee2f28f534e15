/** Looks through a project file by file, where nothing faster can: in memory, or with staged changes on top. */
import type { RelPath } from "../path.ts";
import type { Entry, Survey, View } from "../ports.ts";
import type { CountedFile } from "./rank.ts";
import { openCounter, type Term } from "./words.ts";

export const surveyLimits = {
  entries: 200_000,
  /** Larger files are ranked by their names alone. */
  fileBytes: 1024 * 1024,
  /** Mean length of a line above which a file is not a source: minified, or data. */
  meanLine: 400,
  /** Up to so many files the history says nothing that is worth a child process. */
  filesWithoutHistory: 40,
  /** A project of more files is not shown whole. */
  wholeFiles: 60,
  /** Characters that each file that is shown costs beside its text. */
  fileCost: 60,
} as const;

const viewLimits = { entries: 200_000, bytes: 32 * 1024 * 1024 } as const;

/** Whether a text, all of it in lower case or not, is one that people write. */
export function isWritten(text: string): boolean {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.length / lines <= surveyLimits.meanLine;
}

/** A survey of what can only be read file by file: a workspace in memory, or with staged changes on top. */
export function surveyView(view: View, terms: () => readonly Term[]): Survey {
  const files: RelPath[] = [];
  return {
    async list(signal) {
      const entries: Entry[] = [];
      for await (const entry of view.walk("" as RelPath, signal)) {
        if (entries.length === viewLimits.entries) return { entries, more: true };
        entries.push(entry);
        if (entry.kind === "file") files.push(entry.path);
      }
      return { entries, more: false };
    },
    async tally(signal) {
      const count = openCounter(terms());
      const found: CountedFile[] = [];
      let [read, totalLength, at] = [0, 0, 0];
      for (; at < files.length && totalLength < viewLimits.bytes; at += 1) {
        signal.throwIfAborted();
        const path = files[at] ?? ("" as RelPath);
        const text = await readText(view, path);
        if (text === null || !isWritten(text)) continue;
        read += 1;
        totalLength += text.length;
        const counts = count(text.toLowerCase());
        if (counts !== null) found.push({ path, length: text.length, counts });
      }
      return { files: read, totalLength, found, unread: files.length - at };
    },
    history: async () => ({ commits: [], lacks: "no history here" }),
    finish: () => {},
    close: () => {},
  };
}

async function readText(view: View, path: RelPath): Promise<string | null> {
  const blob = await view.read(path, surveyLimits.fileBytes).catch(() => null);
  if (blob?.kind !== "file" || blob.bytes.subarray(0, 8000).includes(0)) return null;
  return new TextDecoder().decode(blob.bytes);
}
