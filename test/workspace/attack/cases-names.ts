/** Attacks by names that are denied, however they are written: S41 to S53. */
import type { Case } from "./drive.ts";
import { forNew, looksAt, nothing, only, withFiles } from "./expect.ts";

export const denied: readonly Case[] = [
  {
    id: "S41",
    build: withFiles([".env.local", ".env.production", ".env.d/x"]),
    paths: [".env.local", ".env.production", ".env.d/x", ".env.d"],
    expected: "refused",
  },
  {
    id: "S41",
    build: withFiles([".env.example", ".env.sample"], "KEY=\n"),
    paths: [".env.example", ".env.sample", ".env.template"],
    expected: "contained",
  },
  {
    id: "S42",
    build: withFiles([".env", ".git/config", ".pai_history/x", "id_rsa", ".aws/x"]),
    paths: [".ENV", ".Git/config", ".PAI_HISTORY/x", "ID_RSA", ".AwS/x", ".eNv"],
    expected: "refused",
  },
  {
    id: "S43",
    build: withFiles([".env", ".git/config", ".aws/x", ".ssh/id"]),
    paths: ["\uff0eenv", ".g\u200cit/config", ".aw\u017f/x", ".\u017fsh/id", ".e\u00adnv", "\ufeff.env"],
    expected: "refused",
  },
  {
    id: "S44",
    build: withFiles(["packages/a/.env", "sub/.git/config", "x/.aws/y"]),
    paths: ["packages/a/.env", "sub/.git/config", "sub/.git", "x/.aws/y"],
    expected: "refused",
  },
  {
    id: "S45",
    build: nothing,
    paths: [".git/hooks/x", ".git", ".aws/config", ".env", "a/b/.env", ".ssh/authorized_keys"],
    expected: "refused",
    actions: forNew,
  },
  {
    id: "S46",
    build(at) {
      at.file(".env");
      at.file("x", "fine\n");
      at.file("fixtures/HEAD", "x");
    },
    paths: [".env", ".git/hooks/pre-commit", ".git"],
    expected: "refused",
    actions: only({ "MV from": "refused", "MV to": "refused" }),
  },
  {
    id: "S47",
    build: withFiles(["sub/a/.env", "sub2/.git/config", "sub3/deep/er/id_rsa"]),
    paths: ["sub", "sub2", "sub3", "sub3/deep"],
    expected: "refused",
    actions: only({ RM: "refused", "MV from": "refused" }),
  },
  {
    id: "S48",
    build: withFiles(["d/objects/x", "d/refs/x", "objects/x", "refs/x"], ""),
    paths: ["d/HEAD", "HEAD"],
    expected: "refused",
    actions: only({ WRITE: "refused", TOUCH: "refused", "MV to": "refused" }),
  },
  {
    id: "S48",
    build: withFiles(["d/HEAD", "d/objects/x"], ""),
    paths: ["d/refs", "d/refs/heads"],
    expected: "refused",
    actions: only({ WRITE: null, MKDIR: "refused" }),
  },
  {
    id: "S49",
    build: withFiles(secrets()),
    paths: secrets(),
    expected: "refused",
  },
  {
    id: "S50",
    build: withFiles([".config/pai-code/credentials.json", ".local/state/pai-code/log", "own*data/x"]),
    paths: [".config/pai-code/credentials.json", ".local/state/pai-code/log", "own*data/x", "own*data"],
    expected: "refused",
  },
  {
    id: "S53",
    build: withFiles([".env", "sub/.env", "node/.ssh/id", "own*data/x", ".ENV"]),
    paths: ["", "sub"],
    expected: "contained",
    actions: only(looksAt),
  },
];

function secrets(): readonly string[] {
  return [
    ".ssh/config",
    "id_rsa",
    "id_ed25519",
    "a.pem",
    "a.key",
    "a.p12",
    ".aws/credentials",
    ".gnupg/x",
    ".kube/config",
  ].concat(
    [".docker/config.json", ".netrc", ".git-credentials", ".pgpass", ".npmrc", ".pypirc", "credentials.json"],
    ["my-service-account-1.json", "main.tfstate"],
  );
}
