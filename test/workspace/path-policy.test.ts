/** Which names are denied, asked about, open, whatever exists. */
import { describe, expect, test } from "bun:test";
import type { PathUse, RelPath } from "../../src/core/path.ts";
import {
  findRepositoryShape,
  isHidden,
  judgePath,
  judgeRoot,
  listBuiltInRules,
} from "../../src/workspace/path-policy.ts";

const none = { allow: [], deny: [] };
const judge = (path: string, use: PathUse = "read", rules = none as Parameters<typeof judgePath>[2]) =>
  judgePath(path as RelPath, use, rules).verdict;
const paths = (...all: string[]) => all as RelPath[];
const uses: readonly PathUse[] = ["read", "list", "write", "folder", "delete", "move"];

describe("denies for every use", () => {
  test.each([
    [[".env", ".git", "venv", "__pycache__", ".pai_history", ".idea", ".vscode", ".venv", ".hg", ".svn"]],
    [[" .env", ".env ", ".env\u00a0", ".env.", ".git. . .", ".git::$INDEX_ALLOCATION", "GIT~1", "ENV~1"]],
    [[".env.local", ".env.production", ".env.d/x", ".env~"]],
    [[".ENV", ".Git/config", ".PAI_HISTORY", "VENV/x", ".VsCode/x"]],
    [["．env", ".g\u200cit", ".vſcode", ".e\u00adnv", ".en\ufe0fv"]],
    [["packages/a/.env", "sub/.git/config", "x/.vscode/y"]],
    [
      [
        ".ssh/config",
        "id_rsa",
        "k/id_ed25519",
        "a.pem",
        "a.KEY",
        "a.p12",
        ".aws/credentials",
        ".gnupg",
        ".kube/config",
      ],
    ],
    [[".docker/config.json", ".netrc", ".git-credentials", ".pgpass", ".npmrc", ".pypirc", "credentials.json"]],
    [[".pai-0123456789abcdef.tmp"]],
    [
      [
        "prod.env",
        ".envs/a",
        ".dev.vars",
        "secrets.toml",
        "x/.streamlit/secrets.toml",
        "serviceAccountKey.json",
        "a.p8",
      ],
    ],
    [["client_secret_1.json", "x-firebase-adminsdk-1.json", "vpn.ovpn", "wg0.conf", "dev.kubeconfig"]],
    [
      [
        "id_rsa.bak",
        ".id_rsa.swp",
        "server.key.old",
        ".git-credentials~",
        ".npmrc.bak",
        "#.netrc#",
        ".jj/x",
        "_darcs/prefs",
      ],
    ],
    [["my-service-account-1.json", "prod.tfstate", "prod.tfstate.backup"]],
    [[".config/pai-code/credentials.json", ".local/state/pai-code/x", ".local/share/pai-code", ".cache/pai-code"]],
  ])("%j", (names) => {
    const open = names.flatMap((name) =>
      uses.filter((use) => judge(name, use) !== "deny").map((use) => `${use} ${name}`),
    );
    expect(open).toEqual([]);
  });
});

test("leaves ordinary names open, and the examples of .env", () => {
  const names = [
    ".env.example",
    ".env.sample",
    ".env.template",
    "example.env",
    "notes.bak",
    "secrets.ts",
    "keys.old.ts",
    "src/environment.ts",
    "git/config",
    "id_rsa.pub",
    "keys.ts",
    "docker/config.json",
    ".gitignore",
    ".github/dependabot.yml",
    "pai-code/main.ts",
    "a:b",
    "~/x",
  ];
  expect(names.filter((name) => judge(name, "write") !== "allow")).toEqual([]);
});

test("asks before writing what runs code later, at any depth, and lets it be read", () => {
  const names = [
    ".gitmodules",
    "sub/.gitattributes",
    ".husky/pre-commit",
    ".envrc",
    ".mcp.json",
    ".claude/settings.json",
    ".cursor/x",
    ".github/workflows/ci.yml",
    ".cargo/config.toml",
    ".bashrc",
    "x/.zshenv",
    "a.code-workspace",
    ".RIPGREPRC",
    "pai.json",
  ];
  expect(names.filter((name) => judge(name, "write") !== "ask" || judge(name, "move") !== "ask")).toEqual([]);
  expect(names.filter((name) => judge(name, "read") !== "allow")).toEqual([]);
  expect(judgePath(".husky/pre-commit" as RelPath, "write", none)).toEqual({
    verdict: "ask",
    why: ".husky runs code later without being asked (git or a hook manager runs it)",
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

test("a rule that opens all that a folder holds opens that folder, and no other of its name", () => {
  const rules = { allow: [".vscode/**"], deny: [] };
  const paths = [".vscode", ".vscode/a.json", "sub/.vscode", "sub/.vscode/a.json", ".idea/a.xml"];
  expect(paths.map((path) => judge(path, "write", rules))).toEqual(["allow", "allow", "deny", "deny", "deny"]);
});

test("a path that the settings spell out is open in a closed folder; its neighbours are not, and no wildcard or name does it", () => {
  const rules = { allow: [".vscode/settings.json", "/a/.ssh/known_hosts", "secrets/.env"], deny: ["secrets/**"] };
  const opened = [".vscode/settings.json", "a/.ssh/known_hosts"];
  const closed = [".vscode", ".vscode/tasks.json", "b/.vscode/settings.json", "a/.ssh/id_rsa", "secrets/.env"];
  expect(opened.map((path) => judge(path, "write", rules))).toEqual(["allow", "allow"]);
  expect(closed.filter((path) => judge(path, "write", rules) !== "deny")).toEqual([]);
  const vague = { allow: ["config", "**/config", ".git/conf*", ".vscode/../.git/config"], deny: [] };
  expect(judge(".git/config", "read", vague)).toBe("deny");
  const deeper = { allow: [".idea/x"], deny: [] };
  expect([judge(".idea/x/a.txt", "write", deeper), judge(".idea/x/.env", "write", deeper)]).toEqual(["allow", "deny"]);
});

test("hides in listings what is denied, by the folder it stands in", () => {
  expect(isHidden("a/.docker" as RelPath, "config.json", none)).toBe(true);
  expect(isHidden("a" as RelPath, "config.json", none)).toBe(false);
  expect(isHidden("" as RelPath, ".github", none)).toBe(false);
});

test("says why, without the rest of the path", () => {
  expect(judgePath("a/b/.env" as RelPath, "read", none)).toEqual({
    verdict: "deny",
    why: ".env may hold keys or passwords",
  });
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

test("what decides a denial is listed, so that an index made under other built-in rules is recognised", () => {
  const rules = listBuiltInRules();
  expect(rules).toEqual(expect.arrayContaining([".env", ".git", ".venv", ".cache/pai-code", "pem", "bak"]));
  for (const part of ["client_secret", "tfstate", "example", ".pai-"])
    expect(rules.some((rule) => rule.includes(part))).toBe(true);
});
