/** The list of attacks, S1 to S65: the spelling of a path, links, special objects, names that are denied. */
import { chmodSync, linkSync, openSync } from "node:fs";
import { join } from "node:path";
import { type ActionName, type Case, type Expected, names } from "./drive.ts";

type Some = Partial<Record<ActionName, Expected | null>>;
type Paths = Case["paths"];
type Build = Case["build"];

const nothing = () => {};
const looksAt: Some = { TREE: "contained", LIST_PATH: "contained", SEARCH: "contained", GLOB: "contained" };
/** For names that are free: there is nothing to read, and what only looks finds nothing. */
const forNew: Some = Object.fromEntries(
  [...Object.keys(looksAt), "READ", "MODIFY", "RM", "MV from"].map((name) => [name, null]),
);
/** These actions only. */
const only = (some: Some): Some => ({ ...Object.fromEntries(names.map((name) => [name, null])), ...some });
const all = (expected: Expected, ...actions: readonly ActionName[]) =>
  only(Object.fromEntries(actions.map((name) => [name, expected])));

const refused = (id: string, paths: Paths, build: Build = nothing, actions: Some = {}): Case => ({
  ...{ id, build, paths, expected: "refused", actions },
});
const contained = (id: string, paths: Paths, build: Build = nothing, actions: Some = {}): Case => ({
  ...refused(id, paths, build, actions),
  expected: "contained",
});

const link =
  (path: string, target: string): Build =>
  (at) =>
    at.link(path, target);
const files =
  (paths: readonly string[], content?: string): Build =>
  (at) => {
    for (const path of paths) at.file(path, content);
  };
const withMode =
  (path: string, mode: number): Build =>
  (at) => {
    at.file(path, "run ANARY-7f3a\n");
    chmodSync(at.place(path), mode);
  };
const run =
  (...words: readonly string[]): Build =>
  (at) => {
    const [command = "", name = "", ...rest] = words;
    const done = Bun.spawnSync([command, at.place(name), ...rest]);
    if (!done.success) throw new Error(done.stderr.toString());
  };
/** A link may be removed: it is one of the project's own. */
const removable: Some = { RM: "contained" };

const spellings: readonly Case[] = [
  refused("S1", ["../secret", "a/../../secret", "./../secret", ".."]),
  refused("S2", ["../proj-secrets/key", "../proj-secrets"]),
  refused("S3", ({ outside, project }) => [
    ...[`${outside}/secret`, `/${outside}/secret`],
    ...[`${project}/../secret`, `${project}-secrets/key`, `${project}/${outside}/secret`],
  ]),
  // An absolute path below the root is read as relative to it.
  contained("S3", ({ project }) => [`${project}/ok`]),
  refused("S3", ({ project }) => [`${project}/.env`], files([".env"])),
  contained("S4", ["~/secret", "$HOME/secret"]),
  refused("S4", [`\${PWD}/../secret`]),
  refused("S5", ["ok\0.png", "new\0.png", "\0"]),
  refused("S6", ["a\nb", "a\rb", "a\tb", "a\x1b[2Jb", "a\x7fb", "a\x9bb", "a\u2028b"], nothing, forNew),
  refused("S7", ["a\ud800b"], nothing, forNew),
  refused("S8", [`d/${"a".repeat(256)}`, `d/${"é".repeat(128)}`, "a/".repeat(2100), "a/".repeat(70)], nothing, forNew),
  refused("S9", ["", ".", "./", "/", "././."], nothing, { ...looksAt, MKDIR: null }),
  refused("S10", ["ok/", "ok/.", "ok//"], nothing, { "MV to": null }),
  refused("S11", ["..\\secret", "a\\b", "C:\\x", "\\\\?\\x", "C:/x"]),
  refused("S11", ({ outside }) => [`file://${outside}/secret`]),
  contained("S11", ["%2e%2e/secret", "%2e%2e%2fsecret", "a:b"]),
  refused("S12", [" .env", ".env ", ".env\u00a0", ".env.", ".env. . .", ".env::$DATA", "ENV~1"], files([".env"])),
  refused("S12", [".git. . ./config", ".git::$INDEX_ALLOCATION/config", "GIT~1/config"], files([".git/config"])),
  contained("S13", ["-rf", "*", "$(id)", "`id`", "a;b", "a b", "{a,b}", "a|b", "&"]),
];

const links: readonly Case[] = [
  refused("S17", ["link"], link("link", "../secret"), removable),
  refused("S18", ["d/f", "d/new", "d/x/y"], link("d", "../dir")),
  refused("S18", ["a/b/d/f", "a/b/d/new", "a/b/d/../d/f"], link("a/b/d", "../../../dir")),
  refused(
    "S19",
    ["notes"],
    (at) => {
      at.file(".env");
      at.link("notes", ".env");
    },
    removable,
  ),
  refused("S20", ["x"], link("x", "../authorized_keys"), removable),
  refused(
    "S21",
    ({ outside }) => [`m${outside}/secret`, "n/secret", "o/f", "n/new", "m/proc/self/environ"],
    (at) => {
      at.link("m", "/proc/self/root");
      at.link("n", `/proc/self/fd/${openSync(at.outside, "r")}`);
      at.link("o", `/dev/fd/${openSync(join(at.outside, "dir"), "r")}`);
    },
  ),
  refused(
    "S26",
    ["a", "a/x", "l38"],
    (at) => {
      at.link("a", "b");
      at.link("b", "a");
      at.link("l0", "../secret");
      for (let n = 1; n <= 38; n += 1) at.link(`l${n}`, `l${n - 1}`);
      at.link("self", ".");
    },
    { RM: null },
  ),
  contained(
    "S27",
    ["", "sub"],
    (at) => {
      at.link("out", "../dir");
      at.link("sub/out", "../../dir");
      at.link("sub/loop", "..");
    },
    only(looksAt),
  ),
  contained(
    "S28",
    ["out", "sub"],
    (at) => {
      at.link("out", "../dir");
      at.link("sub/out", "../../dir");
      at.link("sub/secret", "../../secret");
    },
    all("contained", "RM"),
  ),
  refused("S30", [".pai_history", ".pai_history/f"], link(".pai_history", "../dir")),
  refused("S31", ["video.mp4"], link("video.mp4", "../config/credentials.json"), removable),
  refused("S32", [".git", ".git/config"], files([".git"], "gitdir: ../dir CANARY-7f3a\n")),
];

const credentials: Build = (at) => linkSync(join(at.outside, "config/credentials.json"), at.place("notes.json"));

const objects: readonly Case[] = [
  contained(
    "S24",
    ["x"],
    (at) => linkSync(join(at.outside, "plain"), at.place("x")),
    all("contained", "WRITE", "MODIFY", "RM", "TOUCH", "MV from"),
  ),
  refused(
    "S25",
    ["notes.json", "audit.txt"],
    (at) => {
      credentials(at);
      linkSync(join(at.outside, "state/audit"), at.place("audit.txt"));
    },
    all("refused", "READ", "WRITE", "MODIFY", "MV from", "RM"),
  ),
  contained("S25", [""], credentials, only(looksAt)),
  refused("S33", ["p", "p/x"], run("mkfifo", "p"), { "MV to": "refused" }),
  contained("S33", [""], run("mkfifo", "p"), only(looksAt)),
  { ...refused("S34", ["null", "null/x"], run("mknod", "null", "c", "1", "3")), root: true },
  refused("S34", ["s"], (at) => Bun.listen({ unix: at.place("s"), socket: { data() {} } }).unref()),
  contained("S38", ["tool"], withMode("tool", 0o4755), all("contained", "WRITE", "MODIFY")),
  contained("S39", ["frozen"], withMode("frozen", 0o444), all("contained", "WRITE", "MODIFY")),
  contained("S64", ["ok"], nothing, all("contained", "TOUCH")),
  refused("S65", ["ok/x", "ok/x/y"], nothing, { RM: "refused" }),
  refused("S65", ["d", "d/e"], files(["d/e"], "fine\n"), all("refused", "MV to")),
];

const secrets = [
  ...[".ssh/config", "id_rsa", "id_ed25519", "a.pem", "a.key", "a.p12", ".aws/credentials", ".gnupg/x", ".kube/config"],
  ...[".docker/config.json", ".netrc", ".git-credentials", ".pgpass", ".npmrc", ".pypirc", "credentials.json"],
  ...["my-service-account-1.json", "main.tfstate"],
];
const own = [".config/pai-code/credentials.json", ".local/state/pai-code/log", "own*data/x"];

const below = ["packages/a/.env", "sub/.git/config", "x/.aws/y"];
const environments = [".env.local", ".env.production", ".env.d/x"];

const denied: readonly Case[] = [
  refused("S41", [...environments, ".env.d"], files(environments)),
  contained("S41", [".env.example", ".env.sample", ".env.template"], files([".env.example", ".env.sample"], "KEY=\n")),
  refused(
    "S42",
    [".ENV", ".Git/config", ".PAI_HISTORY/x", "ID_RSA", ".AwS/x", ".eNv"],
    files([".env", ".git/config", ".pai_history/x", "id_rsa", ".aws/x"]),
  ),
  refused(
    "S43",
    ["\uff0eenv", ".g\u200cit/config", ".aw\u017f/x", ".\u017fsh/id", ".e\u00adnv", "\ufeff.env"],
    files([".env", ".git/config", ".aws/x", ".ssh/id"]),
  ),
  refused("S44", [...below, "sub/.git"], files(below)),
  refused("S45", [".git/hooks/x", ".git", ".aws/config", ".env", "a/b/.env", ".ssh/authorized_keys"], nothing, forNew),
  refused(
    "S46",
    [".env", ".git/hooks/pre-commit", ".git"],
    (at) => {
      at.file(".env");
      at.file("x", "fine\n");
      at.file("fixtures/HEAD", "x");
    },
    all("refused", "MV from", "MV to"),
  ),
  refused(
    "S47",
    ["sub", "sub2", "sub3", "sub3/deep"],
    files(["sub/a/.env", "sub2/.git/config", "sub3/deep/er/id_rsa"]),
    all("refused", "RM", "MV from"),
  ),
  refused(
    "S48",
    ["d/HEAD", "HEAD"],
    files(["d/objects/x", "d/refs/x", "objects/x", "refs/x"], ""),
    all("refused", "WRITE", "TOUCH", "MV to"),
  ),
  refused("S48", ["d/refs", "d/refs/heads"], files(["d/HEAD", "d/objects/x"], ""), all("refused", "MKDIR")),
  refused("S49", secrets, files(secrets)),
  refused("S50", [...own, "own*data"], files(own)),
  contained("S53", ["", "sub"], files([".env", "sub/.env", "node/.ssh/id", "own*data/x", ".ENV"]), only(looksAt)),
];

export const cases = [...spellings, ...links, ...objects, ...denied];
