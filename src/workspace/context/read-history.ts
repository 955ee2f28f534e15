/** The history of a workspace for one request: the kept one continued with newer commits, or read from the start. */
import type { SurveyHistory } from "../../core/ports.ts";
import { findRepository, type Repository } from "../git/find-repository.ts";
import { historyCommits, type LogOptions, parseLog, readLog, readOwn } from "../git/git-log.ts";
import type { StoredHistory } from "../index/index-file.ts";

const defaults = { commits: historyCommits.used, timeoutMs: 1_500 } as const;

type LogLimits = Omit<LogOptions, "without">;

/**
 * The kept history as the current commit has it: with commits it adds, without those it lacks; null: git cannot tell, or too
 * few are left.
 */
async function continueFrom(
  kept: StoredHistory,
  repository: Repository,
  limits: LogLimits,
): Promise<SurveyHistory | null> {
  const { head, prefix } = repository;
  const known = parseLog(kept.text, prefix);
  if (kept.head === head) return { commits: known.slice(0, limits.commits), lacks: null };
  const [added, gone] = await Promise.all([
    readLog(repository, { ...limits, without: [kept.head] }),
    readOwn(repository, kept.head, { ...limits, commits: known.length }),
  ]);
  if (added.lacks !== null || gone.lacks !== null) return null;
  const without = new Set(gone.text.split("\n"));
  const still = known.filter(({ hash }) => !without.has(hash));
  const commits = [...parseLog(added.text, prefix), ...still].slice(0, limits.commits);
  const isCut = known.length >= historyCommits.kept && commits.length < limits.commits;
  return isCut ? null : { commits, lacks: null };
}

const shallow = "older commits are not in this shallow clone";

/** `kept`: from the index; null: it has none. `lacks` in the result says what is missing. */
export async function readHistory(
  root: string,
  kept: StoredHistory | null,
  options: Pick<LogOptions, "path" | "signal" | "mayWait">,
): Promise<SurveyHistory> {
  const limits = { ...defaults, ...options };
  const repository = findRepository(root);
  if (repository === null) return { commits: [], lacks: "the folder is in no git repository" };
  if (typeof repository === "string") return { commits: [], lacks: repository };
  const cut = repository.shallow === "" ? null : shallow;
  const continued = kept === null ? null : await continueFrom(kept, repository, limits);
  if (continued !== null) return { ...continued, lacks: cut };
  const log = await readLog(repository, limits);
  return { commits: parseLog(log.text, repository.prefix), lacks: log.lacks ?? cut };
}
