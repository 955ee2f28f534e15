/** What the user ignores in every repository is left out of listings, and does not count as a change; what a repository sets is not read. */
import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { RelPath } from "../../../src/core/path.ts";
import { openBare } from "../bare.ts";

const place = realpathSync(mkdtempSync(join(tmpdir(), "pai-user-ignore-")));
afterAll(() => rmSync(place, { recursive: true, force: true }));
let made = 0;

interface Desk {
  readonly home: string;
  readonly root: string;
  /** Writes a file below the home. */
  put(name: string, text: string): string;
}

function makeDesk(): Desk {
  made += 1;
  const [home, root] = [join(place, `home${made}`), join(place, `root${made}`)];
  mkdirSync(home);
  mkdirSync(join(root, "notes"), { recursive: true });
  for (const name of ["a.txt", "mine.swp", "notes/b.txt"]) writeFileSync(join(root, name), "x\n");
  const git = (...args: readonly string[]) =>
    expect(spawnSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.c", ...args], { cwd: root }).status).toBe(0);
  git("init", "-qb", "main");
  git("add", "a.txt", "notes");
  git("commit", "-qm", "one");
  const put = (name: string, text: string) => {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
    return join(home, name);
  };
  return { home, root, put };
}

/** What both doors say: the files that a listing shows, and the state of the working tree. */
async function look({ home, root }: Desk, env: Readonly<Record<string, string>> = {}) {
  const path = process.env["PATH"] ?? "";
  const { workspace } = await openBare(root, null, { home, env: { PATH: path, ...env } });
  const files: string[] = [];
  for await (const entry of workspace.walk("" as RelPath)) if (entry.kind === "file") files.push(entry.path);
  return [files.join(" "), await workspace.repository?.(new AbortController().signal)];
}

const all = ["a.txt mine.swp notes/b.txt", "git branch main, 1 untracked"];
const without = ["a.txt notes/b.txt", "git branch main, clean"];

test("without such a file everything is listed and counts", async () => {
  expect(await look(makeDesk())).toEqual(all);
});

test.each<readonly [what: string, lay: (desk: Desk) => Readonly<Record<string, string>>]>([
  [
    "at its usual place",
    ({ put }) => {
      put(".config/git/ignore", "*.swp\n");
      return {};
    },
  ],
  [
    "below XDG_CONFIG_HOME",
    ({ put }) => {
      put(".config/git/ignore", "nothing\n");
      put("xdg/git/ignore", "*.swp\n");
      return { XDG_CONFIG_HOME: join(place, `home${made}`, "xdg") };
    },
  ],
  [
    "that ~/.gitconfig names",
    ({ put }) => {
      put(".config/git/ignore", "notes\n");
      put("own rules", "*.swp\n");
      put(".gitconfig", '[core]\n\texcludesFile = "~/own rules" # mine\n');
      return {};
    },
  ],
  [
    "that settings name which others include, behind links",
    ({ home, put }) => {
      put("dots/ignore", "*.swp\n");
      put("dots/more", "[core]\n\tExcludesFile = ~/.ignored\n");
      symlinkSync(put("dots/gitconfig", "[include]\n\tpath = ~/dots/more\n"), join(home, ".gitconfig"));
      symlinkSync(join(home, "dots/ignore"), join(home, ".ignored"));
      return {};
    },
  ],
  [
    "that the settings at GIT_CONFIG_GLOBAL name",
    ({ put }) => {
      put(".gitconfig", "[core]\n\texcludesFile =\n");
      return { GIT_CONFIG_GLOBAL: put("other", `[core]\n\texcludesFile = ${put("rules", "*.swp\n")}\n`) };
    },
  ],
])("the file %s holds for both", async (_what, lay) => {
  const desk = makeDesk();
  expect(await look(desk, lay(desk))).toEqual(without);
});

test("an empty setting means no file, a project's own rule wins, and a pipe does not hang", async () => {
  const desk = makeDesk();
  desk.put(".config/git/ignore", "*.swp\n");
  desk.put(".gitconfig", "[core]\n\texcludesFile =\n");
  expect(await look(desk)).toEqual(all);
  const other = makeDesk();
  other.put(".config/git/ignore", "*.swp\n");
  writeFileSync(join(other.root, ".gitignore"), "!mine.swp\n.gitignore\n");
  expect(await look(other)).toEqual(all);
  const last = makeDesk();
  mkdirSync(join(last.home, ".config/git"), { recursive: true });
  expect(spawnSync("mkfifo", [join(last.home, ".config/git/ignore"), join(last.home, ".gitconfig")]).status).toBe(0);
  expect((await look(last))[0]).toBe(all[0]);
});

test("a file that the repository's own settings name is not read", async () => {
  const desk = makeDesk();
  const rules = desk.put("rules", "*.swp\nnotes\n");
  for (const value of [rules, "rules"])
    expect(spawnSync("git", ["config", "--add", "core.excludesFile", value], { cwd: desk.root }).status).toBe(0);
  writeFileSync(join(desk.root, "rules"), "*.swp\nrules\n");
  writeFileSync(join(desk.root, ".git/info/exclude"), "rules\n");
  expect(await look(desk)).toEqual(all);
  desk.put(".gitconfig", "[core]\n\tpager = cat\n[alias]\n\texcludesfile = status\n");
  expect(await look(desk)).toEqual(all);
});
