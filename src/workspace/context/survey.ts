/** Looks through a workspace for one request: lists it, counts the terms while it does, and reads the history beside that. */
import type { CountedFile } from "../../core/context/rank.ts";
import { surveyLimits } from "../../core/context/survey.ts";
import type { Term } from "../../core/context/words.ts";
import type { RelPath } from "../../core/path.ts";
import type { Entry, Survey, SurveyHistory } from "../../core/ports.ts";
import type { Env } from "../command/command-env.ts";
import type { Root } from "../confine.ts";
import { nameOf, parentOf } from "../parse-path.ts";
import type { PathRules } from "../policy.ts";
import { walkNow } from "../scan.ts";
import type { Bunch } from "../search/search-files.ts";
import { type CountPool, openCountPool } from "./count-pool.ts";
import { findRepository } from "./find-repository.ts";
import { parseLog, readLog } from "./git-log.ts";

const batchFiles = 128;
/** What is not read by then is ranked by its name alone. */
const budgetMs = 2_500;
const history = { commits: 4_000, timeoutMs: 1_500 } as const;
/** The history is worth a child process as soon as there are so many files. */
const filesForHistory = 40;

export interface SurveyParts {
  readonly root: Root;
  readonly rules: PathRules;
  readonly env: Env;
}

/** A survey without an index: everything is read. */
export function openSurvey({ root, rules, env }: SurveyParts, terms: readonly Term[]): Survey {
  const deadline = performance.now() + budgetMs;
  const pool = openCountPool(root, terms);
  let past: Promise<SurveyHistory> | null = null;
  const startHistory = (signal: AbortSignal) => {
    past ??= readHistory(root.path, env, signal);
    return past;
  };
  return {
    async list(signal) {
      const batches = openBatches(pool);
      const entries: Entry[] = [];
      let pause = performance.now();
      for (const entry of walkNow(root, "" as RelPath, rules)) {
        if (performance.now() > deadline || entries.length >= surveyLimits.entries) return { entries, more: true };
        if (performance.now() - pause > 20) {
          await Bun.sleep(0);
          signal.throwIfAborted();
          pause = performance.now();
        }
        entries.push(entry);
        if (entry.kind === "file") batches.add(entry.path);
        // Whoever asks for it later hears of a failure.
        if (batches.count === filesForHistory) startHistory(signal).catch(() => {});
      }
      batches.flush();
      return { entries, more: false };
    },
    async tally(signal) {
      try {
        const { replies, unread } = await pool.finish(deadline, signal);
        const found: CountedFile[] = replies.flatMap((reply) => reply.found);
        const sum = (of: (reply: (typeof replies)[number]) => number) =>
          replies.reduce((all, each) => all + of(each), 0);
        return { files: sum(({ files }) => files), totalLength: sum(({ totalLength }) => totalLength), found, unread };
      } finally {
        pool.close();
      }
    },
    history: startHistory,
    finish: () => {},
  };
}

/** Files on their way to the pool, those of one folder together. */
function openBatches(pool: CountPool) {
  let batch: Bunch[] = [];
  let size = 0;
  let count = 0;
  const flush = (): void => {
    if (size > 0) pool.add(batch);
    [batch, size] = [[], 0];
  };
  return {
    get count() {
      return count;
    },
    add(path: RelPath) {
      const [last, folder, name] = [batch.at(-1), parentOf(path), nameOf(path)];
      if (last !== undefined && "names" in last && last.folder === folder) last.names.push(name);
      else batch.push({ folder, names: [name] });
      size += 1;
      count += 1;
      if (size >= batchFiles) flush();
    },
    flush,
  };
}

/** Folders of a PATH that are absolute and not the project's own. */
const pathOutside = (env: Env, root: string) =>
  (env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")
    .split(":")
    .filter((folder) => folder.startsWith("/") && folder !== root && !folder.startsWith(`${root}/`))
    .join(":");

async function readHistory(root: string, env: Env, signal: AbortSignal): Promise<SurveyHistory> {
  const repository = findRepository(root);
  if (repository === null) return { commits: [], lacks: null };
  if (typeof repository === "string") return { commits: [], lacks: repository };
  const log = await readLog(repository, { ...history, path: pathOutside(env, root), signal });
  return { commits: parseLog(log.text, repository.prefix), lacks: log.lacks };
}
