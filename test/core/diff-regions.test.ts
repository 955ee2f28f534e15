/** A diff shows what changed and nothing else: one golden text for each kind of change. */
import { expect, test } from "bun:test";
import type { Blob } from "../../src/core/change.ts";
import { renderChanges } from "../../src/core/diff.ts";
import type { RelPath } from "../../src/core/path.ts";

const file = (text: string): Blob => ({ kind: "file", bytes: new TextEncoder().encode(text), mode: 0o644 });
const head = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n";
const twelve = Array.from({ length: 12 }, (_, at) => `${at + 1}\n`);

test.each([
  ["a line put in", "a\nb\n", "a\nx\nb\n", `${head}@@ -1,2 +1,3 @@\n a\n+x\n b\n`],
  ["a line taken out", "a\nx\nb\n", "a\nb\n", `${head}@@ -1,3 +1,2 @@\n a\n-x\n b\n`],
  [
    "two edits far from each other",
    twelve.join(""),
    ["one\n", ...twelve.slice(1, 11), "twelve\n"].join(""),
    `${head}@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -9,4 +9,4 @@\n 9\n 10\n 11\n-12\n+twelve\n`,
  ],
  ["no change is not a hunk", "a\n", "a\n", "diff --git a/a.txt b/a.txt\n"],
  [
    "a final line feed that is missing",
    "a\nb",
    "a\nb\n",
    `${head}@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n`,
  ],
])("%s", (_name, before, after, shown) => {
  const path = "a.txt" as RelPath;
  expect(renderChanges([{ path, before: file(before), after: file(after), from: null }])).toBe(shown);
});
