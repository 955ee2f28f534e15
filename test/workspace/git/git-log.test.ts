/** The history of a project is read so that nothing of the repository but its objects has a say. */
import { beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRepository, type Repository } from "../../../src/workspace/git/find-repository.ts";
import { parseLog, readHistory } from "../../../src/workspace/git/git-log.ts";
import { newFolder } from "../../grounds.ts";
import { commit, git, path } from "./git.ts";

let place = "";

function makeRepository(name: string): string {
  const folder = join(place, name);
  mkdirSync(folder);
  git(folder, "init", "-q");
  commit(folder, "a.txt", "first words");
  commit(folder, "src/b.txt", "second words\n\nwith a body");
  return folder;
}

function found(folder: string): Repository {
  const repository = findRepository(folder);
  if (repository === null || typeof repository === "string") throw new Error(`no repository: ${repository}`);
  return repository;
}

const read = (folder: string, timeoutMs = 10_000, from = path) =>
  readHistory(folder, { path: from, timeoutMs, signal: new AbortController().signal });

/** Folders that pai has made for this repository, wherever it makes such. */
const framesOf = ({ head }: Repository) =>
  ["/dev/shm", tmpdir()]
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((frame) => frame.includes("/pai-git-") && readHead(frame) === head);

const readHead = (frame: string): string | null => {
  try {
    return readFileSync(join(frame, "HEAD"), "utf8").trim();
  } catch {
    return null;
  }
};

beforeAll(() => {
  place = realpathSync(newFolder("disk", "log"));
});

describe("the history", () => {
  test("tells messages and paths, the newest first, and leaves nothing behind", async () => {
    const folder = makeRepository("plain");
    const repository = found(folder);
    const reading = read(folder);
    expect(framesOf(repository)).toHaveLength(1);
    const { commits } = await reading;
    expect(commits.map(({ subject, body, files }) => ({ subject, body: body.trim(), files }))).toEqual([
      { subject: "second words", body: "with a body", files: ["src/b.txt"] },
      { subject: "first words", body: "", files: ["a.txt"] },
    ]);
    expect(framesOf(repository)).toEqual([]);
  });

  test("is read to where it was cut off, and of a commit of very many files only some are named", () => {
    const record = (name: string, files: readonly string[]) =>
      `\x01sub ${name}\x02a\nbody\n\x02\0${files.length === 0 ? "" : "\n"}${files.map((file) => `${file}\0`).join("")}`;
    const many = Array.from({ length: 100 }, (_, at) => `src/${at}.py`);
    const text = record("a", ["src/b.py", "doc/c d.md"]) + record("b", many) + record("c", []);
    expect(parseLog(text, "").map(({ subject, body }) => [subject, body])).toEqual([
      ["sub a", "a\nbody\n"],
      ["sub b", "a\nbody\n"],
      ["sub c", "a\nbody\n"],
    ]);
    expect(parseLog(text, "").map(({ files }) => files.length)).toEqual([2, 41, 0]);
    expect(parseLog(text, "doc/").map(({ files }) => files)).toEqual([["c d.md"], [], []]);
    const first = record("a", ["src/b.py"]);
    for (let end = 0; end < first.length; end += 1) {
      const cut = parseLog(first.slice(0, end), "");
      expect(cut.every(({ subject, body }) => subject === "sub a" && body === "a\nbody\n")).toBe(true);
    }
    expect(parseLog(`\x01sub d\x02${record("a", ["x"])}`, "").map(({ subject }) => subject)).toEqual(["sub a"]);
  });

  test("of a folder in a repository tells the paths from there", async () => {
    const folder = makeRepository("deep");
    const { commits } = await read(join(folder, "src"));
    expect(commits.map(({ files }) => files)).toEqual([["b.txt"], []]);
  });

  test("runs nothing that the repository configures", async () => {
    const folder = makeRepository("hostile");
    const ran = join(place, "ran");
    const program = join(place, "evil.sh");
    writeFileSync(program, `#!/bin/sh\ntouch ${ran}\nexec false\n`);
    chmodSync(program, 0o755);
    const settings: Readonly<Record<string, string>> = {
      "log.showSignature": "true",
      "gpg.program": program,
      "gpg.ssh.program": program,
      "core.fsmonitor": program,
      "core.pager": program,
      "pager.log": program,
      "core.sshCommand": program,
      "alias.log": `!${program}`,
      "diff.external": program,
      "diff.x.textconv": program,
      "remote.origin.url": `ext::${program}`,
      "remote.origin.promisor": "true",
      "remote.origin.partialclonefilter": "blob:none",
      "protocol.ext.allow": "always",
      "extensions.partialClone": "origin",
      "core.hooksPath": place,
      "include.path": join(place, "more"),
    };
    for (const [name, value] of Object.entries(settings)) git(folder, "config", name, value);
    git(folder, "config", "core.repositoryformatversion", "1");
    writeFileSync(join(folder, ".gitattributes"), "* diff=x\n");
    writeFileSync(join(folder, ".git/info/attributes"), "* diff=x\n");
    expect((await read(folder)).commits).toHaveLength(2);
    // With an object missing, a promisor would be asked for it.
    const blob = git(makeRepository("ids"), "rev-parse", "HEAD~1^{tree}");
    rmSync(join(folder, ".git/objects", blob.slice(0, 2), blob.slice(2)), { force: true });
    const cut = await read(folder);
    expect(cut.lacks === null || cut.lacks === "git could not read all of it").toBe(true);
    expect(existsSync(ran)).toBe(false);
  });

  test("that takes too long is ended, and what came is kept", async () => {
    const folder = makeRepository("slow");
    const slow = join(place, "slow-bin");
    mkdirSync(slow);
    writeFileSync(join(slow, "git"), "#!/bin/sh\nprintf '\\001one\\002\\002\\na.txt\\000'\nexec sleep 20\n");
    chmodSync(join(slow, "git"), 0o755);
    const { commits, lacks } = await read(folder, 1000, `${slow}:${path}`);
    expect(lacks).toMatch(/^git took longer than \d+ ms$/);
    expect(commits.map(({ subject, files }) => ({ subject, files }))).toEqual([{ subject: "one", files: ["a.txt"] }]);
  });
});
