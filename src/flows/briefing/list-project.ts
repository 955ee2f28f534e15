/** Lists the project for one request. Files are searched only for a ranking, which a small project does not need. */

import { isAside } from "../../core/context/kind.ts";
import type { Asked, RankedProject } from "../../core/context/project.ts";
import { rankProject, wordsOf } from "../../core/context/project.ts";
import { surveyView } from "../../core/context/survey-view.ts";
import type { RelPath } from "../../core/path.ts";
import type { Entry } from "../../core/ports.ts";
import type { Run } from "../run.ts";
import { knowledgeFiles, type ReadText } from "./sources.ts";

/** The entries of the project, before any file is read. */
export interface ListedProject {
  readonly entries: readonly Entry[];
  /** The files among them, by path. */
  readonly files: ReadonlyMap<string, Entry>;
  /** The files that can be ranked. */
  readonly paths: readonly string[];
  /** There are more entries, which were not listed. */
  readonly more: boolean;
  /** Searches the files and ranks them. Call this or `close`, once. */
  rank(): Promise<RankedProject>;
  close(): void;
}

/** Lists the workspace. `shown`: paths that are shown anyway and are not ranked. */
export async function listProject(
  run: Run,
  asked: Asked,
  readText: ReadText,
  shown: ReadonlySet<string>,
): Promise<ListedProject> {
  const { overlay, signal, workspace } = run;
  const words = wordsOf(asked);
  const survey = workspace.survey?.(words.terms) ?? surveyView(overlay, words.terms);
  const { entries, more } = await survey.list(signal);
  const files = new Map<string, Entry>();
  const paths: string[] = [];
  const unranked = new Set([...knowledgeFiles.flat(), ...shown]);
  for (const entry of entries) {
    const { path, kind } = entry;
    if (kind !== "file") continue;
    files.set(path, entry);
    if (isAside(path, asked.request)) unranked.add(path);
    if (!unranked.has(path)) paths.push(path);
  }
  const read = async (path: string) => (await readText(path as RelPath))?.text ?? null;
  return {
    entries,
    files,
    paths,
    more,
    async rank() {
      return rankProject({ survey, words, asked, paths, more, unranked, read, signal });
    },
    close: () => survey.close(),
  };
}
