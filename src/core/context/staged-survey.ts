/** Surveys a project file by file, where no faster survey works: in memory, or with staged changes on top. */
import type { RelPath } from "../path.ts";
import type { Entry, Survey, View } from "../ports.ts";
import type { CountedFile } from "./rank.ts";
import { isWritten, surveyLimits } from "./survey-limits.ts";
import { openCounter, type Term } from "./words.ts";

const viewLimits = { entries: 200_000, bytes: 32 * 1024 * 1024 } as const;

export function surveyView(view: View, terms: readonly Term[]): Survey {
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
      const count = openCounter(terms);
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
