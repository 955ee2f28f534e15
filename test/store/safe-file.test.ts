/** Small private files: who may write them, and how they are replaced. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { readPrivate, writePrivate } from "../../src/store/safe-file.ts";
import { makeFolder, modeOf, put } from "./temp-home.ts";

test("writes folder 0700 and file 0600, and leaves nothing else behind (R44)", () => {
  const folder = join(makeFolder(), "a", "b");
  writePrivate(join(folder, "f.json"), "one");
  expect([modeOf(folder), modeOf(join(folder, "f.json")), readdirSync(folder)]).toEqual(["700", "600", ["f.json"]]);
});

test("ends with 0600 where 0644 was", () => {
  const file = put(join(makeFolder(), "f.json"), "old", 0o644);
  writePrivate(file, "new");
  expect([modeOf(file), readFileSync(file, "utf8")]).toEqual(["600", "new"]);
});

test("writes through a link to its target (R44), and refuses a broken one", () => {
  const folder = makeFolder();
  const target = put(join(folder, "dotfiles", "f.json"), "old");
  symlinkSync(target, join(folder, "f.json"));
  writePrivate(join(folder, "f.json"), "new");
  expect([lstatSync(join(folder, "f.json")).isSymbolicLink(), readFileSync(target, "utf8")]).toEqual([true, "new"]);
  symlinkSync(join(folder, "gone"), join(folder, "dangling"));
  expect(() => writePrivate(join(folder, "dangling"), "x")).toThrow("broken link");
});

test("refuses a file or folder that others may write, with the command that mends it", () => {
  const file = put(join(makeFolder(), "my f.json"), "{}");
  chmodSync(file, 0o620);
  const refusal = { code: "config_invalid", hint: `chmod go-w '${file}'` };
  expect(() => readPrivate(file)).toThrow(expect.objectContaining(refusal));
  chmodSync(file, 0o600);
  chmodSync(join(file, ".."), 0o770);
  expect(() => readPrivate(file)).toThrow("can be written by other users");
});

test("refuses what is not a regular file, without waiting on a pipe", () => {
  const folder = makeFolder();
  execFileSync("mkfifo", [join(folder, "pipe")]);
  mkdirSync(join(folder, "dir"));
  expect(() => readPrivate(join(folder, "pipe"))).toThrow("not a regular file");
  expect(() => readPrivate(join(folder, "dir"))).toThrow("not a regular file");
  expect(readPrivate(join(folder, "none"))).toBeNull();
});
