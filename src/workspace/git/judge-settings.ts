/** Refuses to commit where a repository's own settings make git run a program; users then commit themselves. */
import { PaiError } from "../../core/error.ts";
import { type Git, readGit } from "./call-git.ts";

const programs =
  "^(filter\\..*\\.(clean|process)|gpg\\.(.*\\.)?(program|defaultkeycommand)|hook\\..*\\.command|extensions\\.worktreeconfig)$";

/** Keys of one settings file and the files that it includes. */
async function keysIn(git: Git, scope: "--local" | "--worktree"): Promise<readonly string[]> {
  const args = ["config", scope, "--includes", "-z", "--name-only", "--get-regexp", programs];
  const { exit, stdout, stderr } = await git(args);
  if (exit === 0) return stdout.split("\0").filter((key) => key !== "");
  if (exit === 1) return [];
  throw new PaiError("commit_failed", `the settings of the repository cannot be read: ${stderr.trim()}`);
}

/** Filter drivers that the repository's attributes assign to these paths. */
async function filtersOf(git: Git, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const answer = await readGit(git, ["check-attr", "-z", "--stdin", "filter"], { input: paths.join("\0") });
  const fields = answer.split("\0");
  return new Set(fields.filter((_, at) => at % 3 === 2));
}

/**
 * Throws commit_failed when the repository's own settings name a program that git would run for these paths. Programs
 * in the user's own settings are allowed.
 */
export async function refuseOwnPrograms(git: Git, paths: readonly string[]): Promise<void> {
  const local = await keysIn(git, "--local");
  const more = local.includes("extensions.worktreeconfig") ? await keysIn(git, "--worktree") : [];
  const keys = [...local, ...more];
  const filters = keys.some((key) => key.startsWith("filter.")) ? await filtersOf(git, paths) : new Set<string>();
  const signs = (await git(["config", "--type=bool", "commit.gpgSign"])).stdout.trim() === "true";
  const found = keys.find((key) => {
    if (key.startsWith("gpg.")) return signs;
    // From version 2.54 on git runs hooks that settings name, wherever core.hooksPath leads.
    if (key.startsWith("hook.")) return true;
    return key.startsWith("filter.") && filters.has(key.split(".").slice(1, -1).join("."));
  });
  if (found === undefined) return;
  throw new PaiError("commit_failed", `the repository's own setting ${found} would run a program`, {
    hint: "commit it yourself, or put the setting into your own: git config --global",
  });
}
