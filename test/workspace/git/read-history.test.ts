/** Whatever form a repository has, its history is read, or a clause says why not. */
import { beforeAll, describe, expect, test } from "bun:test";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readHistory } from "../../../src/workspace/git/git-log.ts";
import { newFolder } from "../../grounds.ts";
import { commit, git, path } from "./git.ts";

const signal = new AbortController().signal;
let place = "";

async function told(name: string, from = path) {
  const { commits, lacks } = await readHistory(join(place, name), { path: from, signal });
  return { subjects: commits.map(({ subject }) => subject), lacks };
}

const both = ["round the total", "add the cart"];

beforeAll(() => {
  place = realpathSync(newFolder("disk", "history"));
  git(place, "init", "-q", "full");
  const full = join(place, "full");
  commit(full, "cart.py", "add the cart");
  commit(full, "total.py", "round the total");
  git(full, "worktree", "add", "-q", "-b", "other", join(place, "tree"));
  git(place, "clone", "-q", "--depth", "1", `file://${full}`, "shallow");
  git(place, "clone", "-q", "--bare", full, "bare");
  git(place, "clone", "-q", "--shared", full, "shared");
  git(place, "clone", "-q", full, "packed");
  git(join(place, "packed"), "pack-refs", "--all");
  git(place, "clone", "-q", full, "detached");
  git(join(place, "detached"), "checkout", "-q", "--detach");
  git(place, "init", "-q", "outer");
  git(join(place, "outer"), "submodule", "--quiet", "add", full, "inner");
  git(place, "init", "-q", "empty");
  git(place, "clone", "-q", "--no-hardlinks", full, "broken");
  const objects = join(place, "broken/.git/objects");
  for (const name of readdirSync(objects)) rmSync(join(objects, name), { recursive: true });
  git(place, "clone", "-q", full, "headless");
  writeFileSync(join(place, "headless/.git/HEAD"), "nothing that git writes\n");
  git(place, "init", "-q", "odd");
  writeFileSync(join(place, "odd/.git/HEAD"), "ref: refs/../../../etc/passwd\n");
  mkdirSync(join(place, "plain"));
  mkdirSync(join(place, "foreign"));
  writeFileSync(join(place, "foreign/.git"), `gitdir: ${full}/.git\n`);
  mkdirSync(join(place, "foreign-link"));
  symlinkSync(join(full, ".git"), join(place, "foreign-link/.git"));
  mkdirSync(join(place, "broken-link"));
  symlinkSync("nowhere", join(place, "broken-link/.git"));
  git(place, "clone", "-q", full, "linked");
  renameSync(join(place, "linked/.git"), join(place, "linked.git"));
  symlinkSync("../linked.git", join(place, "linked/.git"));
  git(join(place, "linked"), "config", "core.worktree", join(place, "linked"));
  mkdirSync(join(place, "foreign-tree"));
  writeFileSync(join(place, "foreign-tree/.git"), `gitdir: ${full}/.git/worktrees/tree\n`);
  git(place, "init", "-q", "foreign-common");
  writeFileSync(join(place, "foreign-common/.git/commondir"), `${full}/.git\n`);
  writeFileSync(join(place, "foreign-common/.git/HEAD"), readFileSync(join(full, ".git/HEAD")));
});

describe("the history of", () => {
  test.each(["full", "tree", "outer/inner", "linked", "shared", "packed", "detached"])("%s is read", async (name) => {
    expect(await told(name)).toEqual({ subjects: both, lacks: null });
  });

  test.each([
    ["shallow", ["round the total"], "older commits are not in this shallow clone"],
    ["plain", [], "the folder is in no git repository"],
    ["bare", [], "the folder is in no git repository"],
    ["empty", [], "there is no commit yet, or HEAD has a format that pai does not read"],
    ["odd", [], "there is no commit yet, or HEAD has a format that pai does not read"],
    ["headless", [], "there is no commit yet, or HEAD has a format that pai does not read"],
    ["broken", [], "git could not read all of it"],
    ["foreign", [], "`.git` names a repository that does not list this folder"],
    ["foreign-link", [], "`.git` names a repository that does not list this folder"],
    ["broken-link", [], "the folder is in no git repository"],
    ["foreign-tree", [], "`.git` names a repository that does not list this folder"],
    ["foreign-common", [], "`.git` names a repository that does not list this folder"],
  ] as const)("%s is read as far as it goes, and what is lacking is said", async (name, subjects, lacks) => {
    expect(await told(name)).toEqual({ subjects: [...subjects], lacks });
  });

  test("full is not read where there is no git, and a note says so", async () => {
    expect(await told("full", "/nonexistent")).toEqual({ subjects: [], lacks: "git was not found" });
  });
});
