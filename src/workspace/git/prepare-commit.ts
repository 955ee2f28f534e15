/** Commits exactly the paths of a run, like `git commit --only -- PATHS`; the caller runs its hooks first. */

import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { quoteForShell } from "../../core/command/quote.ts";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { PreparedCommit } from "../../core/ports.ts";
import { showName } from "../parse-path.ts";
import { findGit, type Git, type GitPlace, openGit, readGit } from "./call-git.ts";
import { findCheckout, findTop, isOwnRepository } from "./find-repository.ts";

/** Throws usage where no commit can be made, whatever the run does. */
export function requireRepository(place: GitPlace): void {
  if (findGit(place) === null) throw new PaiError("usage", "--commit needs git, which was not found in PATH");
  const found = findTop(place.root);
  if (found === null)
    throw new PaiError("usage", `--commit needs a git repository, and ${place.root} is in none`, { hint: "git init" });
  if (isOwnRepository(found)) return;
  const hint = "commit it yourself, or make it a worktree: git worktree repair";
  throw new PaiError("usage", `--commit: ${found.git} is the repository of another folder than ${found.top}`, { hint });
}

const readWhole = ["HEAD", "config", "config.worktree", "commondir", "gitdir", "index", "packed-refs", "shallow"];
const readInfo = ["info/exclude", "info/attributes", "info/grafts", "info/sparse-checkout", "objects/info/alternates"];

/** Throws commit_failed for a pipe or a device among git's own files: git waits for it, or reads it into memory. */
function requirePlainFiles(root: string): void {
  const checkout = findCheckout(root);
  if (checkout === null) return;
  const { git, common } = checkout;
  const files = [...new Set([git, common])].flatMap((folder) =>
    [...readWhole, ...readInfo].map((name) => join(folder, name)),
  );
  const found = files.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === false);
  if (found !== undefined) throw new PaiError("commit_failed", `${showName(found)} is not a regular file`);
}

type Places = Awaited<ReturnType<typeof findPlaces>>;

async function findPlaces(git: Git, root: string) {
  const args = ["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
  const [top = "", folder = "", common = "", end] = (await readGit(git, args)).split("\n");
  if (end !== "" || (root !== top && !root.startsWith(top === "/" ? top : `${top}/`)))
    throw new PaiError("commit_failed", "the repository keeps its files somewhere else (core.worktree)");
  // The last value is pai's own, which keeps git from running hooks.
  const { stdout } = await git(["config", "--type=path", "-z", "--get-all", "core.hooksPath"]);
  const named = stdout.split("\0").slice(0, -2).at(-1);
  return { top, folder, hooks: named === undefined ? join(resolve(root, common), "hooks") : resolve(top, named) };
}

const unfinished = [
  ["MERGE_HEAD", "a merge"],
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
] as const;

function refuseUnfinished(folder: string): void {
  const found = unfinished.find(([name]) => existsSync(join(folder, name)));
  if (found !== undefined) throw new PaiError("commit_failed", `${found[1]} is in progress`);
}

async function requireIdentity(git: Git): Promise<void> {
  for (const name of ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"]) {
    if ((await git(["-c", "user.useConfigOnly=true", "var", name])).exit === 0) continue;
    const hint = 'git config --global user.name "Your Name"; git config --global user.email you@example.com';
    throw new PaiError("commit_failed", "git does not know who you are", { hint });
  }
}

/** Throws commit_failed for a path in another repository: a submodule or a nested one. */
function refuseForeign({ top }: Places, root: string, paths: readonly RelPath[]): void {
  const found = paths.find((path) => findTop(dirname(join(root, path)))?.top !== top);
  if (found !== undefined) throw new PaiError("commit_failed", `${showName(found)} belongs to another repository`);
}

/** More paths than this are filtered here instead of by git, as the length of a command line is limited. */
const maxNamed = 500;

type Dirty = Awaited<ReturnType<typeof findDirty>>;

async function findDirty(git: Git, { top }: Places, root: string, paths: readonly RelPath[]) {
  const named = paths.length > maxNamed ? [] : ["--", ...paths];
  const args = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"];
  const prefix = top === root ? "" : `${relative(top, root)}/`;
  const wanted: ReadonlySet<string> = new Set(paths);
  const entries = (await readGit(git, [...args, ...named])).split("\0").flatMap((entry) => {
    const path = entry.slice(3 + prefix.length);
    return entry.slice(3).startsWith(prefix) && wanted.has(path) ? [{ path, isNew: entry.startsWith("??") }] : [];
  });
  return {
    /** Changed paths of the run since the last commit, spelled relative to the root. */
    paths: entries.map(({ path }) => path),
    untracked: entries.flatMap(({ path, isNew }) => (isNew ? [path] : [])),
  };
}

/** The hooks that judge a commit, as commands whose index holds exactly this commit. */
async function findHooks(
  git: Git,
  places: Places,
  dirty: Dirty,
  { index, message }: { readonly index: string; readonly message: string },
): Promise<PreparedCommit["hooks"]> {
  const hooks = [
    ["pre-commit", ""],
    ["commit-msg", ` ${quoteForShell(message)}`],
  ].flatMap(([name = "", more = ""]) => {
    const path = join(places.hooks, name);
    const command = `cd ${quoteForShell(places.top)} && GIT_INDEX_FILE=${quoteForShell(index)} ${quoteForShell(path)}${more}`;
    return Bun.which(path) === null ? [] : [{ name, command }];
  });
  if (hooks.length === 0) return [];
  if ((await git(["rev-parse", "--verify", "-q", "HEAD"])).exit === 0)
    await readGit(git, ["read-tree", "HEAD"], { index });
  const input = dirty.paths.join("\0");
  await readGit(git, ["update-index", "--add", "--remove", "-z", "--stdin"], { index, input });
  return hooks;
}

async function make(git: Git, { paths, untracked }: Dirty, message: string): Promise<string> {
  const listed = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  const names = untracked.join("\0");
  if (names !== "") await readGit(git, ["add", "--intent-to-add", ...listed], { input: names });
  try {
    const args = ["commit", "-q", "--only", "--no-verify", "--cleanup=verbatim", "-F", message, ...listed];
    await readGit(git, args, { input: paths.join("\0") });
  } catch (thrown) {
    if (names !== "") await git(["update-index", "--force-remove", "-z", "--stdin"], { input: names });
    throw thrown;
  }
  return (await readGit(git, ["rev-parse", "HEAD"])).trim();
}

/**
 * Checks whether these paths can be committed. null: git sees no change in them. Throws commit_failed during a merge or
 * rebase, without an identity, and where the repository would run a program of its own.
 */
export async function prepareCommit(
  place: GitPlace,
  paths: readonly RelPath[],
  message: string,
  signal: AbortSignal,
): Promise<PreparedCommit | null> {
  requirePlainFiles(place.root);
  const git = openGit(place, signal);
  const places = await findPlaces(git, place.root);
  refuseUnfinished(places.folder);
  await requireIdentity(git);
  refuseForeign(places, place.root, paths);
  await refuseOwnPrograms(git, paths);
  const dirty = await findDirty(git, places, place.root, paths);
  if (dirty.paths.length === 0) return null;
  const scratch = mkdtempSync(join(places.folder, "pai-commit-"));
  const close = () => rmSync(scratch, { recursive: true, force: true });
  try {
    const written = { index: join(scratch, "index"), message: join(scratch, "message") };
    writeFileSync(written.message, message);
    const hooks = await findHooks(git, places, dirty, written);
    const files = dirty.paths.length;
    const commit = () => make(openGit(place, null), dirty, written.message);
    return { files, others: paths.length - files, hooks, make: commit, close };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

const programs =
  "^(filter\\..*\\.(clean|process)|gpg\\.(.*\\.)?(program|defaultkeycommand)|hook\\..*\\.command|extensions\\.worktreeconfig)$";

async function keysIn(git: Git, scope: "--local" | "--worktree"): Promise<readonly string[]> {
  const args = ["config", scope, "--includes", "-z", "--name-only", "--get-regexp", programs];
  const { exit, stdout, stderr } = await git(args);
  if (exit === 0) return stdout.split("\0").filter((key) => key !== "");
  if (exit === 1) return [];
  throw new PaiError("commit_failed", `the settings of the repository cannot be read: ${stderr.trim()}`);
}

async function filtersOf(git: Git, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const answer = await readGit(git, ["check-attr", "-z", "--stdin", "filter"], { input: paths.join("\0") });
  const fields = answer.split("\0");
  return new Set(fields.filter((_, at) => at % 3 === 2));
}

/**
 * Throws commit_failed when the repository's own settings name a program that git would run for these paths. Programs
 * in the user's own settings are allowed.
 */
async function refuseOwnPrograms(git: Git, paths: readonly string[]): Promise<void> {
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
  const hint = "commit it yourself, or put the setting into your own: git config --global";
  throw new PaiError("commit_failed", `the repository's own setting ${found} would run a program`, { hint });
}
