/** Ignore rules as git reads them, and pai's own file beside them. */
import { expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { walk } from "../../src/workspace/scan.ts";
import { type Folder, noRules, openFolder, p } from "./folder.ts";

async function files(at: Folder, folder = "") {
  const paths: string[] = [];
  for await (const entry of walk(at.root, p(folder), noRules)) {
    if (entry.kind === "file" && !entry.path.endsWith("ignore")) paths.push(entry.path);
  }
  return paths;
}

test("leaves out node_modules and what .gitignore names", async () => {
  using at = openFolder();
  at.file(".gitignore", "dist/\n*.log\n!keep.log\n/top\n");
  for (const name of [
    "node_modules/a",
    "x/node_modules/b",
    "dist/a",
    "x/dist/b",
    "a.log",
    "keep.log",
    "top",
    "x/top",
    "DIST",
  ]) {
    at.file(name);
  }
  expect(await files(at)).toEqual(["DIST", "keep.log", "x/top"]);
});

test("the rules of the nearest folder win, and hold only below it", async () => {
  using at = openFolder();
  at.file(".gitignore", "*.txt");
  at.file("a/.gitignore", "!*.txt\n/only");
  for (const name of ["x.txt", "a/x.txt", "a/b/x.txt", "a/only", "a/b/only"]) at.file(name);
  expect(await files(at)).toEqual(["a/b/only", "a/b/x.txt", "a/x.txt"]);
  expect(await files(at, "a/b")).toEqual(["a/b/only", "a/b/x.txt"]);
});

test("what a nearer folder takes back is back with all that is in it", async () => {
  using at = openFolder();
  at.file(".gitignore", "gen/\n*.o\n/a/deep/x\n");
  at.file("a/.gitignore", "!gen/\n");
  for (const name of ["gen/x", "a/gen/x", "a/gen/x.o", "a/gen/deep/x", "a/deep/x"]) at.file(name);
  expect(await files(at)).toEqual(["a/gen/deep/x", "a/gen/x"]);
});

test("a folder whose name has signs of patterns is taken back alone", async () => {
  using at = openFolder();
  at.file(".gitignore", "g*/\n");
  at.file("a/.gitignore", "!g\\[*\n");
  for (const name of ["a/g[*] !#\\/x", "a/gen/x"]) at.file(name);
  expect(await files(at)).toEqual(["a/g[*] !#\\/x"]);
});

test("an exception by path takes back what a farther list leaves out", async () => {
  using at = openFolder();
  at.file(".git/info/exclude", "*.local\n");
  at.file(".gitignore", "*.log\n!/vis.local\n");
  at.file("a/.gitignore", "!/keep.log\n");
  for (const name of ["vis.local", "b.local", "a/keep.log", "a/b.log", "a/b/keep.log"]) at.file(name);
  expect(await files(at)).toEqual(["a/keep.log", "vis.local"]);
});

test("what .paiignore leaves out stays so, whatever a .gitignore below says", async () => {
  using at = openFolder();
  at.file(".paiignore", "private/\n");
  at.file("sub/.gitignore", "!private/\n!*\n");
  for (const name of ["sub/private/k", "sub/x"]) at.file(name);
  expect(await files(at)).toEqual(["sub/x"]);
});

test("reads .paiignore after .gitignore, and .git/info/exclude below both", async () => {
  using at = openFolder();
  at.file(".git/info/exclude", "private\n");
  at.file(".gitignore", "gen\n");
  at.file(".paiignore", "!gen\nbig\n");
  for (const name of ["private", "gen", "big", "src"]) at.file(name);
  expect(await files(at)).toEqual(["gen", "src"]);
  at.file(".gitignore", "!private\n");
  expect(await files(at)).toEqual(["gen", "private", "src"]);
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
