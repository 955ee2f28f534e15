/** What a path may be used for, and pai's own files under any name. */
import { afterEach, describe, expect, test } from "bun:test";
import { linkSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PathUse, RelPath } from "../../src/core/path.ts";
import { openRoot } from "../../src/workspace/confine.ts";
import { findRepositoryShape, judgePath, judgeRoot } from "../../src/workspace/path-policy.ts";
import { search } from "../../src/workspace/search/search.ts";
import { noRules } from "./folder.ts";
import { at, makePlace, type Place } from "./tree.ts";

const judge = (path: string, use: PathUse = "read", rules = noRules as Parameters<typeof judgePath>[2]) =>
  judgePath(path as RelPath, use, rules).verdict;
const paths = (...all: string[]) => all as RelPath[];
const uses: readonly PathUse[] = ["read", "list", "write", "folder", "delete", "move"];

test("what is closed is denied for every use", () => {
  const paths = [".env", "sub/.git/config", "a.pem", ".pai_history"];
  expect(paths.flatMap((path) => uses.filter((use) => judge(path, use) !== "deny"))).toEqual([]);
});

test("what may run code later is asked about before it is changed, and read without a question", () => {
  const paths = [".bashrc", ".github/workflows/ci.yml", "a/AGENTS.md"];
  expect(paths.map((path) => uses.filter((use) => judge(path, use) === "ask"))).toEqual(
    paths.map(() => ["write", "folder", "move"]),
  );
  expect(judgePath(".husky/pre-commit" as RelPath, "write", noRules)).toEqual({
    verdict: "ask",
    why: ".husky may run code later or steer agents",
  });
});

test("the root itself may only be listed", () => {
  expect(uses.map((use) => judge("", use))).toEqual(["deny", "allow", "deny", "deny", "deny", "deny"]);
});

test("a path that the settings spell out is open in a closed folder; its neighbours are not, and no wildcard or name does it", () => {
  const rules = { allow: [".aws/config", "/a/.ssh/known_hosts", "secrets/.env"], deny: ["secrets/**"] };
  const opened = [".aws/config", "a/.ssh/known_hosts"];
  const closed = [".aws", ".aws/credentials", "b/.aws/config", "a/.ssh/id_rsa", "secrets/.env"];
  expect(opened.map((path) => judge(path, "write", rules))).toEqual(["allow", "allow"]);
  expect(closed.filter((path) => judge(path, "write", rules) !== "deny")).toEqual([]);
  expect(uses.filter((use) => judge(".aws", use, rules) !== "deny")).toEqual(["folder"]);
  expect(["a/.ssh", "b/.aws"].map((path) => judge(path, "folder", rules))).toEqual(["allow", "deny"]);
  const vague = { allow: ["config", "**/config", ".git/conf*", ".vscode/../.git/config"], deny: [] };
  expect(judge(".git/config", "read", vague)).toBe("deny");
  const deeper = { allow: [".aws/x"], deny: [] };
  expect([judge(".aws/x/a.txt", "write", deeper), judge(".aws/x/.env", "write", deeper)]).toEqual(["allow", "deny"]);
});

describe("finds the write that makes a folder a git repository by shape", () => {
  const holds = (tree: Record<string, string[]>) => (folder: RelPath) => tree[folder] ?? [];
  test.each([
    ["the last of three parts", ["d/HEAD"], { d: ["objects", "refs"] }, "d"],
    ["all in one batch", ["d/HEAD", "d/objects/x", "d/refs/y"], {}, "d"],
    ["at the root", ["HEAD"], { "": ["objects", "refs", "src"] }, ""],
    ["by another case", ["d/head"], { d: ["Objects", "REFS"] }, "d"],
    ["through commondir", ["d/commondir"], { d: ["HEAD"] }, "d"],
    ["its configuration afterwards", ["d/config"], { d: ["HEAD", "objects", "refs"] }, "d"],
    ["not two of three", ["d/HEAD", "d/refs/x"], {}, null],
    ["not a folder called config", ["src/config/a.ts"], { "": ["src"], src: ["objects"] }, null],
  ])("%s", (_name, created, tree, folder) => {
    expect(findRepositoryShape(paths(...created), holds(tree as never))).toBe(folder as RelPath | null);
  });
});

test("knows which folders are no place for a project", () => {
  const refused = "/ /etc /etc/ssl /usr /usr/bin /proc/1 /sys /dev /home /root /home/ann".split(" ");
  expect(refused.filter((path) => judgeRoot(path, "/home/ann") === null)).toEqual([]);
  const fine = "/home/ann/x /root/x /usr/src/app /srv/app /opt/app /tmp/x /dev/shm/x /var/www/x /etcetera".split(" ");
  expect(fine.filter((path) => judgeRoot(path, "/home/ann") !== null)).toEqual([]);
});

let place: Place = makePlace();
afterEach(() => place.remove());

test("a second name of a key file is not read, a second name of any other file is", () => {
  place = makePlace({ "a.txt": "a" });
  const own = join(place.base, "pai-code");
  mkdirSync(join(own, "deep"), { recursive: true });
  writeFileSync(join(own, "deep", "credentials"), "secret");
  linkSync(join(own, "deep", "credentials"), join(place.work, "notes.txt"));
  linkSync(join(place.work, "a.txt"), join(place.work, "b.txt"));
  const root = openRoot(place.work, { force: false, home: null, own: [own] });
  expect(() => root.readBytes(at("notes.txt"), 100)).toThrow(expect.objectContaining({ code: "path_refused" }));
  expect(root.readBytes(at("b.txt"), 100)?.bytes).toEqual(new TextEncoder().encode("a"));
  root.close();
});

test("a folder of pai's own is not a root, a folder beside it that shares the prefix is one", () => {
  place = makePlace();
  const own = join(place.base, "pai");
  for (const folder of ["pai/deep", "pai-project"]) mkdirSync(join(place.base, folder), { recursive: true });
  for (const folder of ["pai", "pai/deep"]) {
    expect(() => openRoot(join(place.base, folder), { force: true, home: null, own: [own] })).toThrow(
      expect.objectContaining({ code: "root_refused" }),
    );
  }
  openRoot(join(place.base, "pai-project"), { force: false, home: null, own: [own] }).close();
});

test("a second name of a denied file of the root is not read or found, unless the settings allow its first one", async () => {
  place = makePlace({ ".env": "TOKEN=1", "a.txt": "TOKEN=2" });
  linkSync(join(place.work, ".env"), join(place.work, "notes.txt"));
  linkSync(join(place.work, "a.txt"), join(place.work, "b.txt"));
  const open = (allow: readonly string[]) =>
    openRoot(place.work, { force: false, home: null, rules: { allow, deny: [] } });
  const [strict, free] = [open([]), open([".env"])];
  expect(() => strict.readBytes(at("notes.txt"), 100)).toThrow("notes.txt is a second name of .env, which is denied");
  expect(strict.readBytes(at("b.txt"), 100)?.bytes).toEqual(new TextEncoder().encode("TOKEN=2"));
  expect(free.readBytes(at("notes.txt"), 100)?.bytes).toEqual(new TextEncoder().encode("TOKEN=1"));
  const query = { pattern: "TOKEN", ignoreCase: false, under: at(""), include: null, maxHits: 9, staged: new Map() };
  const { hits, skipped } = await search(strict, query, noRules);
  expect([hits.map(({ path }) => path as string), skipped]).toEqual([["a.txt", "b.txt"], 1]);
  for (const root of [strict, free]) root.close();
});

test("nor is that of one far below the root, or in a denied folder", () => {
  place = makePlace({ "packages/a/.env": "x", "deploy/.aws/credentials": "x", "b/c/x.pem": "x", "d.txt": "d" });
  for (const [at, name] of ["packages/a/.env", "deploy/.aws/credentials", "b/c/x.pem", "d.txt"].entries())
    linkSync(join(place.work, name), join(place.work, `name${at}`));
  const root = openRoot(place.work, { force: false, home: null });
  for (const name of ["name0", "name1", "name2"])
    expect(() => root.readBytes(at(name), 100)).toThrow(expect.objectContaining({ code: "path_refused" }));
  expect(root.readBytes(at("name3"), 100)?.bytes).toEqual(new TextEncoder().encode("d"));
  root.close();
});
