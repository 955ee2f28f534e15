/** Rules of version control for what is ignored, and their limits. */
import { expect, onTestFinished, test } from "bun:test";
import { mkdirSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RelPath } from "../../src/core/path.ts";
import { openRoot } from "../../src/workspace/confine.ts";
import { walk, walkNow } from "../../src/workspace/scan.ts";
import { expectCpu } from "../core/cpu-time.ts";
import { newFolder } from "../grounds.ts";
import { type Folder, noRules, openFolder, p } from "./folder.ts";

async function files(at: Folder, folder = "") {
  const paths: string[] = [];
  for await (const entry of walk(at.root, p(folder), noRules)) {
    if (entry.kind === "file" && !entry.path.endsWith("ignore")) paths.push(entry.path);
  }
  return paths;
}

const exclude = ".git/info/exclude";
const odd = "a/g[*] !#\\/x";
/** Files of rules, what else is there, and what is shown of it. */
const rows: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[], readonly string[]])[] = [
  [
    "node_modules and what .gitignore names are left out",
    { ".gitignore": "dist/\n*.log\n!keep.log\n/top\n" },
    ["node_modules/a", "x/node_modules/b", "dist/a", "x/dist/b", "a.log", "keep.log", "top", "x/top", "DIST"],
    ["DIST", "keep.log", "x/top"],
  ],
  [
    "the rules of the nearest folder win, and hold only below it",
    { ".gitignore": "*.txt", "a/.gitignore": "!*.txt\n/only" },
    ["x.txt", "a/x.txt", "a/b/x.txt", "a/only", "a/b/only"],
    ["a/b/only", "a/b/x.txt", "a/x.txt"],
  ],
  [
    "what a nearer folder takes back is back with all that is in it",
    { ".gitignore": "gen/\n*.o\n/a/deep/x\n", "a/.gitignore": "!gen/\n" },
    ["gen/x", "a/gen/x", "a/gen/x.o", "a/gen/deep/x", "a/deep/x"],
    ["a/gen/deep/x", "a/gen/x"],
  ],
  [
    "a folder whose name has signs of patterns is taken back alone",
    { ".gitignore": "g*/\n", "a/.gitignore": "!g\\[*\n" },
    [odd, "a/gen/x"],
    [odd],
  ],
  [
    "an exception by path takes back what a farther list leaves out",
    { [exclude]: "*.local\n", ".gitignore": "*.log\n!/vis.local\n", "a/.gitignore": "!/keep.log\n" },
    ["vis.local", "b.local", "a/keep.log", "a/b.log", "a/b/keep.log"],
    ["a/keep.log", "vis.local"],
  ],
  [
    "what .paiignore leaves out stays so, whatever a .gitignore below says",
    { ".paiignore": "private/\n", "sub/.gitignore": "!private/\n!*\n" },
    ["sub/private/k", "sub/x"],
    ["sub/x"],
  ],
  [
    ".paiignore counts after .gitignore, and .git/info/exclude below both",
    { [exclude]: "private\n", ".gitignore": "gen\n", ".paiignore": "!gen\nbig\n" },
    ["private", "gen", "big", "src"],
    ["gen", "src"],
  ],
];

test.each(rows)("%s", async (_, rules, names, shown) => {
  using at = openFolder();
  for (const [name, text] of Object.entries(rules)) at.file(name, text);
  for (const name of names) at.file(name);
  expect(await files(at)).toEqual([...shown]);
});

test("an ignored folder that was named is shown, with its own rules", async () => {
  using at = openFolder();
  at.file(".gitignore", "build\n*.o\n");
  at.file("build/x.o");
  at.file("build/sub/.gitignore", "y");
  at.file("build/sub/y");
  expect(await files(at)).toEqual([]);
  expect(await files(at, "build")).toEqual(["build/x.o"]);
  at.file("node_modules/a/node_modules/b/x");
  expect(await files(at, "node_modules/a")).toEqual(["node_modules/a/node_modules/b/x"]);
});

test("follows no link to rules, and takes a pipe or nonsense for none", async () => {
  using at = openFolder();
  writeFileSync(join(at.outside, "rules"), "*\n");
  symlinkSync("../rules", join(at.path, ".gitignore"));
  at.pipe("a/.gitignore");
  at.file("b/.gitignore", "\xff\x00[\n***/\n\\\n");
  for (const name of ["a/x", "b/x"]) at.file(name);
  expect(await files(at)).toEqual(["a/x", "b/x"]);
});

/** Fails if a walk through the folder that was prepared takes longer; returns its paths. */
function walkWithin(limitMs: number, prepare: (folder: string) => void): readonly string[] {
  const folder = realpathSync(newFolder("disk", "ignore"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  prepare(folder);
  const root = openRoot(folder, { force: true, home: null });
  let found: readonly string[] = [];
  expectCpu(limitMs, () => {
    found = [...walkNow(root, "" as RelPath, { allow: [], deny: [] })].map(({ path }): string => path);
  });
  return found;
}

// F16
test.each([
  ["folders", `${"**/a/".repeat(20)}**/b\n`, "a/".repeat(60)],
  ["stars", `${"*a".repeat(40)}b\n`, `${"a".repeat(240)}/`],
  ["repeated folders", `${"**/".repeat(200)}b\n`, "a/".repeat(60)],
])("one rule with many wild %s", (_name, rule, path) => {
  const found = walkWithin(500, (folder) => {
    mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, ".gitignore"), `${rule}out/\n`);
    mkdirSync(join(folder, "out"));
  });
  expect(found).not.toContain("out");
});

test("a megabyte of rules, and a file of rules without end", () => {
  walkWithin(1000, (folder) => {
    writeFileSync(join(folder, ".gitignore"), Array.from({ length: 60_000 }, (_, at) => `name-${at}-*.txt\n`).join(""));
    for (let at = 0; at < 300; at += 1) writeFileSync(join(folder, `file-${at}`), "");
  });
  walkWithin(500, (folder) => {
    writeFileSync(join(folder, ".gitignore"), "");
    truncateSync(join(folder, ".gitignore"), 2 ** 40);
  });
});

test.each([
  ["three", "a/**/a/**/a/**/b"],
  ["two", "**/a/**/b"],
])("thousands of rules with %s wild folders in a deep folder", (_name, rule) => {
  const path = "a/".repeat(70);
  const found = walkWithin(1500, (folder) => {
    mkdirSync(join(folder, path, "b1"), { recursive: true });
    writeFileSync(
      join(folder, ".gitignore"),
      `${Array.from({ length: 4900 }, (_, at) => `${rule}${at + 1}\n`).join("")}out/\n`,
    );
    mkdirSync(join(folder, "out"));
  });
  expect([found.includes("out"), found.includes(`${path}b1`)]).toEqual([false, false]);
});

test("rules of many folders count together", () => {
  walkWithin(2000, (folder) => {
    for (let at = 0; at < 200; at += 1) {
      mkdirSync(join(folder, `f${at}`));
      writeFileSync(join(folder, `f${at}/.gitignore`), Array.from({ length: 500 }, (_, n) => `x${n}*y*z\n`).join(""));
      writeFileSync(join(folder, `f${at}/a`), "");
    }
  });
});
