/** What a project tells agents, and the memory that `edit` keeps: files read anew for every run. */
import { fence } from "../core/data-fence.ts";
import type { RelPath } from "../core/path.ts";
import { noteHidden } from "./hidden.ts";
import type { Run } from "./run.ts";
import { noteSent, readSource, type Source } from "./sent.ts";

/** Read in this order; the first of each row that is there. */
export const knowledgeFiles: readonly (readonly string[])[] = [["AGENTS.md", "CLAUDE.md", "GEMINI.md"], ["MEMORY.md"]];

/** Characters of one file that a conversation is told. */
const most = 16_000;

/** The files as a conversation is told them, cut to what it may hold. */
export async function readKnowledge(run: Run): Promise<readonly Source[]> {
  const found: Source[] = [];
  for (const names of knowledgeFiles) {
    for (const name of names) {
      const source = await readSource(run, name as RelPath);
      if (source === null) continue;
      found.push({ ...source, shown: source.text.slice(0, most) });
      break;
    }
  }
  return found;
}

/** Their text for the instructions of a conversation; they count as sent. */
export function renderKnowledge(run: Run, files: readonly Source[]): string {
  for (const { path, shown } of files) noteHidden(run, path, shown);
  noteSent(run, files);
  return files.map(({ path, shown }) => fence("file", { path }, shown)).join("\n\n");
}
