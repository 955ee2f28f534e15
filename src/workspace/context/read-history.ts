/** The history of a workspace for one request: the kept one continued with newer commits, or read from the start. */
import type { SurveyHistory } from "../../core/ports.ts";
import { findRepository, type Repository } from "../git/find-repository.ts";
import { type LogOptions, parseLog, readLog } from "../git/git-log.ts";
import type { StoredHistory } from "../index/index-file.ts";

const most = { commits: 4_000, timeoutMs: 1_500 } as const;

type LogLimits = Omit<LogOptions, "without">;

/** The kept history, continued to the current commit; null: the current commit cannot be connected to it. */
async function continueFrom(
  kept: StoredHistory,
  repository: Repository,
  limits: LogLimits,
): Promise<SurveyHistory | null> {
  const { head, prefix } = repository;
  const known = parseLog(kept.text, prefix);
  const at = kept.head === head ? 0 : known.findIndex(({ hash }) => hash === head);
  if (at >= 0) return { commits: known.slice(at), lacks: null };
  const log = await readLog(repository, { ...limits, without: [kept.head] });
  if (log.lacks !== null) return null;
  return { commits: [...parseLog(log.text, prefix), ...known].slice(0, limits.commits), lacks: null };
}

const shallow = "the clone is shallow: what was before is not here";

/** `kept`: from the index; null: it has none. `lacks` in the result says what is missing. */
export async function readHistory(
  root: string,
  kept: StoredHistory | null,
  options: Pick<LogOptions, "path" | "signal" | "mayWait">,
): Promise<SurveyHistory> {
  const limits = { ...most, ...options };
  const repository = findRepository(root);
  if (repository === null) return { commits: [], lacks: "the folder is in no git repository" };
  if (typeof repository === "string") return { commits: [], lacks: repository };
  const cut = repository.shallow === "" ? null : shallow;
  const continued = kept === null ? null : await continueFrom(kept, repository, limits);
  if (continued !== null) return { ...continued, lacks: cut };
  const log = await readLog(repository, limits);
  return { commits: parseLog(log.text, repository.prefix), lacks: log.lacks ?? cut };
}
