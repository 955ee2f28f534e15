/** Which names are denied, asked about, open, whatever exists. */
import { describe, expect, test } from "bun:test";
import type { PathUse, RelPath } from "../../src/core/path.ts";
import { findRepositoryShape, judgePath, judgeRoot } from "../../src/workspace/path-policy.ts";

const none = { allow: [], deny: [] };
const judge = (path: string, use: PathUse = "read", rules = none as Parameters<typeof judgePath>[2]) =>
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
  expect(judgePath(".husky/pre-commit" as RelPath, "write", none)).toEqual({
    verdict: "ask",
    why: ".husky may run code later or steer agents",
  });
});

test("the root itself may only be listed", () => {
  expect(uses.map((use) => judge("", use))).toEqual(["deny", "allow", "deny", "deny", "deny", "deny"]);
});

test("settings may open what is built in and deny more; deny wins", () => {
  const rules = { allow: [".npmrc", "certs/*.pem"], deny: ["*.sql", "private/**"] };
  expect(judge("a/.npmrc", "read", rules)).toBe("allow");
  expect(judge("certs/a.pem", "read", rules)).toBe("allow");
  expect(judge("a.pem", "read", rules)).toBe("deny");
  expect(judge("db/DUMP.SQL", "read", rules)).toBe("deny");
  expect(judge("private/x/y", "list", rules)).toBe("deny");
  expect(judge(".npmrc", "read", { allow: [".npmrc"], deny: [".npmrc"] })).toBe("deny");
});

test("a path that the settings spell out is open in a closed folder; its neighbours are not, and no wildcard or name does it", () => {
  const rules = { allow: [".aws/config", "/a/.ssh/known_hosts", "secrets/.env"], deny: ["secrets/**"] };
  const opened = [".aws/config", "a/.ssh/known_hosts"];
  const closed = [".aws", ".aws/credentials", "b/.aws/config", "a/.ssh/id_rsa", "secrets/.env"];
  expect(opened.map((path) => judge(path, "write", rules))).toEqual(["allow", "allow"]);
  expect(closed.filter((path) => judge(path, "write", rules) !== "deny")).toEqual([]);
  const uses = ["read", "list", "write", "folder", "delete", "move"] as const;
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
  const refused = [
    "/",
    "/etc",
    "/etc/ssl",
    "/usr",
    "/usr/bin",
    "/proc/1",
    "/sys",
    "/dev",
    "/home",
    "/root",
    "/home/ann",
  ];
  expect(refused.filter((path) => judgeRoot(path, "/home/ann") === null)).toEqual([]);
  const fine = [
    "/home/ann/x",
    "/root/x",
    "/usr/src/app",
    "/srv/app",
    "/opt/app",
    "/tmp/x",
    "/dev/shm/x",
    "/var/www/x",
    "/etcetera",
  ];
  expect(fine.filter((path) => judgeRoot(path, "/home/ann") !== null)).toEqual([]);
});
