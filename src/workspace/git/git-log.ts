/** Reads commit messages and changed paths with a git child that sees only the objects of a repository. */
import { type Commit, maxFiles } from "../../core/context/similar-commits.ts";
import type { SurveyHistory } from "../../core/ports.ts";
import { findRepository } from "./find-repository.ts";
import { type GitOptions, runGit } from "./git-child.ts";

const maxCommits = 4_000;

const newline = 10;
const plain = [
  "--no-show-signature",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-mailmap",
  "--no-notes",
  "--no-decorate",
  "--no-merges",
  "--no-renames",
  "--name-only",
  "-z",
  "--format=%x01%s%x02%b%x02",
] as const;

/**
 * The newest commits of a workspace for one request, without merges, newest first; `lacks` in the result says what is
 * missing. Never throws.
 */
export async function readHistory(
  root: string,
  { timeoutMs = 2_500, ...options }: GitOptions & { readonly timeoutMs?: number },
): Promise<SurveyHistory> {
  const repository = findRepository(root);
  if (repository === null) return { commits: [], lacks: "the folder is in no git repository" };
  if (typeof repository === "string") return { commits: [], lacks: repository };
  const { head, shallow, prefix } = repository;
  try {
    const args = ["log", ...plain, "-n", `${maxCommits}`, head];
    const { text, why } = await runGit(repository, { ...options, args, timeoutMs });
    const cut = shallow === "" ? null : "older commits are not in this shallow clone";
    return { commits: parseLog(text, prefix), lacks: why ?? cut };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : "unknown";
    return { commits: [], lacks: `git cannot be run (${why})` };
  }
}

/** Paths of one commit below `prefix`, relative to it. Stops one past the limit beyond which a commit says nothing. */
function readNames(text: string, from: number, end: number, prefix: string): string[] {
  const files: string[] = [];
  for (let at = text.charCodeAt(from) === newline ? from + 1 : from; at < end && files.length <= maxFiles; ) {
    const found = text.indexOf("\0", at);
    const stop = found < 0 ? end : Math.min(found, end);
    if (stop > at + prefix.length && text.startsWith(prefix, at)) files.push(text.slice(at + prefix.length, stop));
    at = stop + 1;
    if (text.charCodeAt(at) === newline) at += 1;
  }
  return files;
}

export function parseLog(text: string, prefix: string): Commit[] {
  const commits: Commit[] = [];
  for (let at = text.indexOf("\x01"); at >= 0; ) {
    const next = text.indexOf("\x01", at + 1);
    const end = next < 0 ? text.length : next;
    const body = text.indexOf("\x02", at);
    const names = text.indexOf("\x02", body + 1);
    // A record without its last part was cut off, so it is dropped.
    if (body > 0 && names > body && names < end) {
      const files = readNames(text, names + 1, end, prefix);
      commits.push({ subject: text.slice(at + 1, body), body: text.slice(body + 1, names), files });
    }
    at = next;
  }
  return commits;
}
