/** Describes the checked-out branch and whether the working tree is clean. Runs nothing that the project names. */

import { join } from "node:path";
import { orNull } from "../../core/error.ts";
import { readSmall } from "../../system/lookups.ts";
import { type Checkout, findCheckout } from "./find-repository.ts";
import { type GitOptions, runGit } from "./git-child.ts";

/** If the comparison takes longer, only the branch is reported. Milliseconds. */
const timeoutMs = 600;

const maxExclude = 1024 * 1024;

/** Leaves submodules out: git would read their settings. */
const status = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all"];

const counted = (n: number, one: string, many: string) => (n === 0 ? [] : [`${n} ${n === 1 ? one : many}`]);

function renderStatus(text: string): string {
  const entries = text.split("\0").filter((entry) => entry !== "");
  const untracked = entries.filter((entry) => entry.startsWith("??")).length;
  const changed = entries.length - untracked;
  const parts = [...counted(changed, "file changed", "files changed"), ...counted(untracked, "untracked", "untracked")];
  return parts.length === 0 ? "clean" : parts.join(", ");
}

/** Status of the files below a folder, by the real index and files; null: unknown or too slow. */
async function readStatus(folder: string, checkout: Checkout, options: GitOptions): Promise<string | null> {
  const { top, git, common, head } = checkout;
  if (head === null) return null;
  const source = { objects: join(common, "objects"), head, shallow: "" };
  const { text, why } = await runGit(source, {
    ...options,
    args: [...status, "--", "."],
    cwd: folder,
    env: { GIT_WORK_TREE: top, GIT_INDEX_FILE: join(git, "index") },
    exclude: readSmall(join(common, "info/exclude"), maxExclude) ?? "",
    timeoutMs,
  });
  return why === null ? renderStatus(text) : null;
}

/** For example "git branch main, clean"; "" if there is no repository that names this folder. Never throws. */
export async function describeRepository(folder: string, options: GitOptions): Promise<string> {
  const checkout = orNull(() => findCheckout(folder));
  if (checkout?.isOwn !== true) return "";
  const { branch, head } = checkout;
  const where = branch === null ? "git, no branch" : `git branch ${branch}`;
  const state = head === null ? "no commit yet" : await readStatus(folder, checkout, options).catch(() => null);
  return state === null ? where : `${where}, ${state}`;
}
