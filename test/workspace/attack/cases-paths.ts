/** Attacks by the spelling of a path: S1 to S13. */
import type { Case } from "./drive.ts";
import { forNew, looksAt, nothing, withFiles } from "./expect.ts";

export const paths: readonly Case[] = [
  { id: "S1", build: nothing, paths: ["../secret", "a/../../secret", "./../secret", ".."], expected: "refused" },
  { id: "S2", build: nothing, paths: ["../proj-secrets/key", "../proj-secrets"], expected: "refused" },
  {
    id: "S3",
    build: nothing,
    paths: ({ outside, project }) => [
      `${outside}/secret`,
      `/${outside}/secret`,
      `${project}/../secret`,
      `${project}-secrets/key`,
      `${project}/${outside}/secret`,
    ],
    expected: "refused",
  },
  // An absolute path below the root is read as relative to it.
  { id: "S3", build: nothing, paths: ({ project }) => [`${project}/ok`], expected: "contained" },
  { id: "S3", build: withFiles([".env"]), paths: ({ project }) => [`${project}/.env`], expected: "refused" },
  { id: "S4", build: nothing, paths: ["~/secret", "$HOME/secret"], expected: "contained" },
  { id: "S4", build: nothing, paths: [`\${PWD}/../secret`], expected: "refused" },
  { id: "S5", build: nothing, paths: ["ok\0.png", "new\0.png", "\0"], expected: "refused" },
  {
    id: "S6",
    build: nothing,
    paths: ["a\nb", "a\rb", "a\tb", "a\x1b[2Jb", "a\x7fb", "a\x9bb", "a\u2028b"],
    expected: "refused",
    actions: forNew,
  },
  { id: "S7", build: nothing, paths: ["a\ud800b"], expected: "refused", actions: forNew },
  {
    id: "S8",
    build: nothing,
    paths: [`d/${"a".repeat(256)}`, `d/${"é".repeat(128)}`, "a/".repeat(2100), "a/".repeat(70)],
    expected: "refused",
    actions: forNew,
  },
  {
    id: "S9",
    build: nothing,
    paths: ["", ".", "./", "/", "././."],
    expected: "refused",
    actions: { ...looksAt, MKDIR: null },
  },
  { id: "S10", build: nothing, paths: ["ok/", "ok/.", "ok//"], expected: "refused", actions: { "MV to": null } },
  {
    id: "S11",
    build: nothing,
    paths: ["..\\secret", "a\\b", "C:\\x", "\\\\?\\x", "C:/x"],
    expected: "refused",
  },
  { id: "S11", build: nothing, paths: ({ outside }) => [`file://${outside}/secret`], expected: "refused" },
  { id: "S11", build: nothing, paths: ["%2e%2e/secret", "%2e%2e%2fsecret", "a:b"], expected: "contained" },
  {
    id: "S12",
    build: withFiles([".env"]),
    paths: [" .env", ".env ", ".env\u00a0", ".env.", ".env. . .", ".env::$DATA", "ENV~1"],
    expected: "refused",
  },
  {
    id: "S12",
    build: withFiles([".git/config"]),
    paths: [".git. . ./config", ".git::$INDEX_ALLOCATION/config", "GIT~1/config"],
    expected: "refused",
  },
  {
    id: "S13",
    build: nothing,
    paths: ["-rf", "*", "$(id)", "`id`", "a;b", "a b", "{a,b}", "a|b", "&"],
    expected: "contained",
  },
];
