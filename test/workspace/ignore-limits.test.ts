/** Ignore rules of a hostile project cost no more than a moment. */
import { expect, onTestFinished, test } from "bun:test";
import { mkdirSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RelPath } from "../../src/core/path.ts";
import { openRoot } from "../../src/workspace/confine.ts";
import { walkNow } from "../../src/workspace/scan.ts";
import { expectCpu } from "../core/cpu-time.ts";
import { newFolder } from "../grounds.ts";

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
