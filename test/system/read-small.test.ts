/** Small files that others put there: read whole and bounded, or not at all; nothing of them can hold pai up. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSmall } from "../../src/system/read-small.ts";
import { newFolder } from "../grounds.ts";

const folder = newFolder("disk", "small");
const at = (name: string) => join(folder, name);

test("a file is read whole up to the limit; what is larger counts as none", () => {
  writeFileSync(at("file"), "grün\n");
  expect(readSmall(at("file"), 6)).toBe("grün\n");
  expect(readSmall(at("file"), 5)).toBeNull();
  writeFileSync(at("sparse"), "");
  truncateSync(at("sparse"), 2 ** 40);
  expect(readSmall(at("sparse"), 1 << 20)).toBeNull();
});

test("links, pipes, devices, folders and what is missing count as none, and files without a length as empty", () => {
  symlinkSync("file", at("link"));
  spawnSync("mkfifo", [at("pipe")]);
  for (const path of [at("link"), at("pipe"), at("missing"), folder, "/dev/zero"])
    expect(readSmall(path, 100)).toBeNull();
  expect(readSmall("/proc/self/status", 100)).toBe("");
});
