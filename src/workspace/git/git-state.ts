/** The branch that is checked out and whether the working tree is clean, in a few words; nothing of the project is run. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSmall } from "../../system/read-small.ts";
import { type Checkout, findCheckout } from "./find-repository.ts";
import { makeFrame, runGit } from "./git-child.ts";

/** Of a working tree that takes longer to compare only the branch is reported. */
const timeoutMs = 600;

/** Bytes of the list of ignored files that a repository keeps to itself. */
const maxExclude = 1024 * 1024;

/** What `git init` writes there holds comments only. */
const anyRule = /^(?!#|\r?$)/m;

/** Other repositories within are not looked into: git would read their settings. */
const status = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all"];

export interface StateOptions {
  /** A path of folders without those of the project: a git that lies there is not the user's. */
  readonly path: string;
  /** Where the user's own list of ignored files lies; null: nowhere. */
  readonly home: string | null;
  readonly signal: AbortSignal;
}

const counted = (n: number, one: string, many: string) => (n === 0 ? [] : [`${n} ${n === 1 ? one : many}`]);

function renderStatus(text: string): string {
  const entries = text.split("\0").filter((entry) => entry !== "");
  const untracked = entries.filter((entry) => entry.startsWith("??")).length;
  const changed = entries.length - untracked;
  const told = [...counted(changed, "file changed", "files changed"), ...counted(untracked, "untracked", "untracked")];
  return told.length === 0 ? "clean" : told.join(", ");
}

/** What git says of the files below a folder, by the real index and the real files; null: it cannot be told in time. */
async function readStatus(folder: string, checkout: Checkout, options: StateOptions): Promise<string | null> {
  const { top, git, common, head } = checkout;
  const { path, home, signal } = options;
  const program = Bun.which("git", { PATH: path });
  if (program === null || head === null) return null;
  const objects = join(common, "objects");
  const frame = makeFrame({ objects, head, shallow: "", prefix: "" });
  try {
    const exclude = readSmall(join(common, "info/exclude"), maxExclude);
    if (exclude !== null && anyRule.test(exclude)) {
      mkdirSync(join(frame, "info"));
      writeFileSync(join(frame, "info/exclude"), exclude);
    }
    const own = home === null ? [] : ["-c", `core.excludesFile=${join(home, ".config/git/ignore")}`];
    const env = { GIT_WORK_TREE: top, GIT_INDEX_FILE: join(git, "index") };
    const args = [...own, ...status, "--", "."];
    const { text, why } = await runGit({
      git: program,
      path,
      frame,
      objects,
      args,
      cwd: folder,
      env,
      timeoutMs,
      signal,
    });
    return why === null ? renderStatus(text) : null;
  } finally {
    rmSync(frame, { recursive: true, force: true });
  }
}

/** "git branch main, clean"; "" without a repository that knows the folder. Never throws. */
export async function describeState(folder: string, options: StateOptions): Promise<string> {
  try {
    const checkout = findCheckout(folder);
    if (checkout?.isOwn !== true) return "";
    const { branch, head } = checkout;
    const where = branch === null ? "git, no branch" : `git branch ${branch}`;
    const state = head === null ? "no commit yet" : await readStatus(folder, checkout, options).catch(() => null);
    return state === null ? where : `${where}, ${state}`;
  } catch {
    return "";
  }
}
