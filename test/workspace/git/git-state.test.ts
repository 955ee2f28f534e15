/** The branch and whether the working tree is clean: as git says it, and nothing of the project is run for it. */
import { beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeRepository } from "../../../src/workspace/git/git-state.ts";
import { newFolder } from "../../grounds.ts";
import { git as gitIn, path } from "./git.ts";

const place = newFolder("disk", "state");
let root = "";
let made = 0;

const git = (...args: readonly string[]) => gitIn(root, ...args);
const put = (file: string, text: string) => {
  mkdirSync(join(root, file, ".."), { recursive: true });
  writeFileSync(join(root, file), text);
};

const state = (folder = root) => describeRepository(folder, { path, signal: new AbortController().signal });

beforeEach(() => {
  made += 1;
  root = join(place, `r${made}`);
  mkdirSync(root);
  git("init", "-q", "-b", "feature/x");
  put("a.txt", "one\n");
  put("src/b.txt", "two\n");
  put(".gitignore", "*.log\n");
  git("add", ".");
  git("commit", "-q", "-m", "first");
});

describe("a working tree", () => {
  test("is clean behind a commit, with ignored files too, and from a folder within", async () => {
    put("noise.log", "x\n");
    put("own.tmp", "x\n");
    put(".git/info/exclude", "*.tmp\n");
    expect(await state()).toBe("git branch feature/x, clean");
    expect(await state(join(root, "src"))).toBe("git branch feature/x, clean");
  });

  test("heeds the repository's own list of ignored files, whatever its rules begin with", async () => {
    put(".git/info/exclude", "# none yet\n\n");
    put("other.tmp", "x");
    expect(await state()).toBe("git branch feature/x, 1 untracked");
    put(".git/info/exclude", "# now there is one\r\n\n*.tmp\n");
    expect(await state()).toBe("git branch feature/x, clean");
  });

  test("tells changed, staged, deleted and new files", async () => {
    put("a.txt", "changed\n");
    expect(await state()).toBe("git branch feature/x, 1 file changed");
    git("add", "a.txt");
    expect(await state()).toBe("git branch feature/x, 1 file changed");
    rmSync(join(root, "src/b.txt"));
    put("new/c.txt", "three\n");
    expect(await state()).toBe("git branch feature/x, 2 files changed, 1 untracked");
    expect(await state(join(root, "new"))).toBe("git branch feature/x, 1 untracked");
  });

  test("without a branch, without a commit, and of a second working tree", async () => {
    git("worktree", "add", "-q", "-b", "side", join(place, `w${made}`));
    expect(await state(join(place, `w${made}`))).toBe("git branch side, clean");
    git("checkout", "-q", "--detach");
    expect(await state()).toBe("git, no branch, clean");
    git("checkout", "-q", "--orphan", "empty");
    expect(await state()).toBe("git branch empty, no commit yet");
  });

  test("is not described by a repository that does not know the folder", async () => {
    const other = join(place, `other${made}`);
    mkdirSync(other);
    writeFileSync(join(other, ".git"), `gitdir: ${root}/.git\n`);
    expect(await state(other)).toBe("");
  });

  test("runs nothing that the repository names, and writes nothing to it", async () => {
    const bad = join(root, ".git/bad.sh");
    writeFileSync(bad, `#!/bin/sh\ntouch ${place}/ran\ncat\n`);
    chmodSync(bad, 0o755);
    for (const name of ["fsmonitor", "hooksPath", "pager", "sshCommand"]) git("config", `core.${name}`, bad);
    for (const way of ["clean", "smudge", "process"]) git("config", `filter.bad.${way}`, bad);
    put(".gitattributes", "* filter=bad diff=bad\n");
    put("a.txt", "other\n");
    const index = readFileSync(join(root, ".git/index"));
    rmSync(join(place, "ran"), { force: true });
    expect(await state()).toBe("git branch feature/x, 1 file changed, 1 untracked");
    expect(existsSync(join(place, "ran"))).toBe(false);
    expect(readFileSync(join(root, ".git/index")).equals(index)).toBe(true);
  });

  test("is its branch alone where git is missing or the index cannot be read", async () => {
    const signal = new AbortController().signal;
    expect(await describeRepository(root, { path: "/nowhere", signal })).toBe("git branch feature/x");
    put(".git/index", "DIRC nonsense");
    expect(await state()).toBe("git branch feature/x");
  });
});

test("a folder that is in no repository has no state", async () => {
  rmSync(join(root, ".git"), { recursive: true, force: true });
  expect(await state()).toBe("");
});
