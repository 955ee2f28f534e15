/** Which files outside a project hold secrets of its user. */
import { expect, test } from "bun:test";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findHomeSecrets } from "../../../src/workspace/sandbox/home-secrets.ts";
import { usePlaces } from "../places.ts";

const make = usePlaces();

function open() {
  const base = realpathSync(make().work);
  const at = (path: string): string => join(base, path);
  const write = (path: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), "canary\n");
  };
  const find = (env: Readonly<Record<string, string>> = {}): readonly string[] =>
    findHomeSecrets({ workspace: at("ws"), home: at("home"), env, isRoot: false })
      .filter((path) => path.startsWith(`${base}/`))
      .map((path) => path.slice(base.length + 1))
      .sort();
  return { at, write, find };
}

test("the usual places are found, and nothing that is not there", () => {
  const { write, find } = open();
  for (const path of [".ssh/id_rsa", ".config/github-copilot/apps.json", ".local/share/keyrings/x", ".bashrc"])
    write(`home/${path}`);
  expect(find()).toEqual(["home/.config/github-copilot", "home/.local/share/keyrings", "home/.ssh"]);
});

test("places that the environment names are found", () => {
  const { at, write, find } = open();
  for (const path of [
    "xdg/gh/hosts.yml",
    "gnupg/ring",
    "kube/one",
    "kube/two",
    "cargo/credentials.toml",
    "cargo/bin/x",
    "t",
  ])
    write(path);
  const env = {
    XDG_CONFIG_HOME: at("xdg"),
    GNUPGHOME: at("gnupg"),
    KUBECONFIG: `${at("kube/one")}:${at("kube/two")}:relative`,
    CARGO_HOME: at("cargo"),
    DEPLOY_TOKEN_FILE: at("t"),
    DOCKER_CONFIG: "/",
  };
  expect(find(env)).toEqual(["cargo/credentials.toml", "gnupg", "kube/one", "kube/two", "t", "xdg/gh"]);
});

test("a link in a secret folder tells where the secret is; one into the project does not close it", () => {
  const { at, write, find } = open();
  for (const path of ["dot/key", "ws/skill.md", "ws/gh/hosts.yml", "home/.ssh/known_hosts"]) write(path);
  symlinkSync("../../dot/key", at("home/.ssh/id_ed25519"));
  symlinkSync("../../ws/skill.md", at("home/.ssh/skill.md"));
  symlinkSync("../../nowhere", at("home/.ssh/gone"));
  expect(find({ GH_CONFIG_DIR: at("ws/gh") })).toEqual(["dot/key", "home/.ssh"]);
});

test("a variable that names an unreadable place is not a failure", () => {
  const { write, find } = open();
  write("home/.netrc");
  expect(find({ TF_CLI_CONFIG_FILE: `/${"x/".repeat(2500)}` })).toEqual(["home/.netrc"]);
});
