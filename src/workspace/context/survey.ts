/** Surveys a workspace for one request: lists it, and counts terms and reads the history meanwhile. */

import { closedNameIn, type PathRules } from "../../core/closed-names.ts";
import { surveyLimits } from "../../core/context/survey-limits.ts";
import type { Term } from "../../core/context/words.ts";
import { joinPath, type RelPath } from "../../core/path.ts";
import type { Entry, Survey, SurveyHistory } from "../../core/ports.ts";
import type { Root } from "../confine.ts";
import { readHistory } from "../git/git-log.ts";
import { ignoreFiles, openIgnore } from "../ignore.ts";
import { parsePath } from "../parse-path.ts";
import { walk } from "../scan.ts";
import { addTo, type Bunch } from "../search/search-files.ts";
import { openCounting } from "./count-files.ts";

const batchFiles = 128;
/** Files not read within this time are ranked by name alone. On a busy machine wall time may reach `maxMs`. */
const budget = { wallMs: 2_500, cpuMs: 1_500, maxMs: 5_000 } as const;

function openBudget(): () => boolean {
  const started = performance.now();
  const before = process.cpuUsage();
  return () => {
    const wall = performance.now() - started;
    if (wall < budget.wallMs || wall > budget.maxMs) return wall > budget.maxMs;
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 > budget.cpuMs;
  };
}

/** `path`: PATH for finding git, without folders of the project. */
export function openSurvey(
  { root, rules, path }: { readonly root: Root; readonly rules: PathRules; readonly path: string },
  terms: readonly Term[],
): Survey {
  const isLate = openBudget();
  const counting = openCounting(root, terms);
  let batch: Bunch[] = [];
  const flush = (): void => {
    if (batch.length > 0) counting.add(batch);
    batch = [];
  };
  let past: Promise<SurveyHistory> | null = null;
  const startHistory = (signal: AbortSignal): Promise<SurveyHistory> => {
    past ??= readHistory(root.path, { path, signal });
    // The failure is thrown to the code that awaits it later.
    past.catch(() => {});
    return past;
  };
  return {
    async list(signal) {
      const entries: Entry[] = [];
      const shares = openShares(() => entries.length);
      const isFull = () => entries.length >= surveyLimits.entries || (entries.length % 64 === 0 && isLate());
      let files = 0;
      const note = (entry: Entry): void => {
        entries.push(entry);
        if (entry.kind !== "file") return;
        addTo(batch, entry.path);
        files += 1;
        if (files % batchFiles === 0) flush();
        if (files === surveyLimits.filesWithoutHistory + 1) void startHistory(signal);
      };
      const walkFrom = async (folder: RelPath, enters?: (folder: RelPath) => boolean): Promise<boolean> => {
        for await (const entry of walk(root, folder, rules, { signal, enters })) {
          if (isFull()) return false;
          note(entry);
        }
        return true;
      };
      let isAll = await walkFrom("" as RelPath, shares.enters);
      for (const folder of isAll ? shares.later : []) isAll &&= await walkFrom(folder);
      return { entries, more: !isAll };
    },
    async tally(signal) {
      try {
        flush();
        const { replies, unread } = await counting.finish(isLate, signal);
        const files = replies.reduce((sum, reply) => sum + reply.files, 0);
        const totalLength = replies.reduce((sum, reply) => sum + reply.totalLength, 0);
        return { files, totalLength, found: replies.flatMap(({ found }) => found), unread };
      } finally {
        counting.close();
      }
    },
    close: counting.close,
    history: startHistory,
    find: (written) => findFile(root, rules, written),
    finish() {},
  };
}

/** How many entries a top-level folder of a large project may contribute before all others were looked at. */
const share = { from: 20_000, entries: 1_000 } as const;

/**
 * Decides which folders the first round enters and which are left for later: in a very large project no top-level
 * folder may use up all the time before the others are seen. `count`: entries so far.
 */
function openShares(count: () => number) {
  const later: RelPath[] = [];
  let [top, before] = ["", 0];
  return {
    later,
    enters(folder: RelPath): boolean {
      const own = folder.slice(0, folder.indexOf("/") + 1);
      if (own !== top) [top, before] = [own, count()];
      const isFull = own !== "" && count() > share.from && count() - before > share.entries;
      if (isFull) later.push(folder);
      return !isFull;
    },
  };
}

/** The path as a walk would give it; null: there is no such file, or a walk leaves out the file or a folder above it. */
function findFile(root: Root, rules: PathRules, written: string): RelPath | null {
  try {
    const { path } = parsePath(written, [root.path]);
    let ignored = openIgnore(root, "" as RelPath);
    let folder = "" as RelPath;
    const names = path.split("/");
    for (const [at, name] of names.entries()) {
      const isFolder = at < names.length - 1;
      if (closedNameIn(folder, name, rules, isFolder) !== null || ignored.ignores(name, isFolder)) return null;
      folder = joinPath(folder, name);
      if (isFolder) ignored = ignored.inside(name, ignoreFiles);
    }
    return root.stat(path)?.kind === "file" ? path : null;
  } catch {
    // Not a path below the root, or not readable: a walk would not give it either.
    return null;
  }
}
