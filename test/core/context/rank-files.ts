/** Ranks a project of these files for a request, as if they were read. */
import { rankProject, wordsOf } from "../../../src/core/context/project.ts";
import { openCounter } from "../../../src/core/context/words.ts";
import type { Survey, SurveyHistory } from "../../../src/core/ports.ts";

interface Given {
  readonly output?: string;
  /** Read only in a project of more than 40 files. */
  readonly commits?: SurveyHistory["commits"];
  /** Finds a file that was not listed; absent: all were. */
  readonly find?: Survey["find"];
}

export async function rankFor(request: string, files: Readonly<Record<string, string>>, given: Given = {}) {
  const { output = "", commits = [], find } = given;
  const asked = { request, output };
  const words = wordsOf(asked);
  const paths = Object.keys(files);
  const count = openCounter(words.terms);
  const found = Object.entries(files).flatMap(([path, text]) => {
    const counts = count(text.toLowerCase());
    return counts === null ? [] : [{ path, length: text.length, counts }];
  });
  const totalLength = Object.values(files).join("").length;
  const more = find !== undefined;
  const survey: Survey = {
    list: async () => ({ entries: [], more }),
    tally: async () => ({ files: paths.length, totalLength, found, unread: 0 }),
    history: async () => ({ commits, lacks: null }),
    ...(more ? { find } : {}),
    finish: () => {},
    close: () => {},
  };
  const read = async (path: string) => files[path] ?? null;
  const { signal } = new AbortController();
  const parts = { survey, words, asked, paths, unranked: new Set<string>(), more, read, signal };
  return (await rankProject(parts)).ranking.files;
}
