/** The call itself: what the kernel refuses, and that nothing of the current folder is ever loaded for it. */
import { expect, test } from "bun:test";
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { constants as system } from "node:os";
import { findLibc } from "../../src/system/libc.ts";
import { chooseBackend } from "../../src/workspace/system/backend.ts";
import { loadOpenBelow } from "../../src/workspace/system/openat2.ts";
import { needs } from "../needs.ts";
import { openFolder } from "./folder.ts";

const { ELOOP, EXDEV, ENOENT, EINVAL, ENAMETOOLONG, ENOTDIR } = system.errno;
const openBelow = loadOpenBelow();
const inKernel = needs({ name: "openat2", isHere: openBelow !== null }).test;
const flags = constants.O_RDONLY | constants.O_DIRECTORY;

inKernel("opens what is below and refuses links, magic links, steps upwards and NUL", () => {
  using at = openFolder();
  at.file("a/b/f");
  at.link("a/out", "../../dir");
  at.link("m", "/proc/self/root");
  const fd = openSync(at.path, flags);
  const open = (path: string) => openBelow?.(fd, path, flags) ?? 0;
  const good = open("a/b");
  expect(good).toBeGreaterThan(2);
  closeSync(good);
  expect(["a/out", "a/out/x", "m/etc"].map(open)).toEqual([-ELOOP, -ELOOP, -ELOOP]);
  expect(["..", "a/../..", "/etc"].map(open)).toEqual([-EXDEV, -EXDEV, -EXDEV]);
  expect(["none", "a/b/f", "a\0b", "x/".repeat(3000)].map(open)).toEqual([-ENOENT, -ENOTDIR, -EINVAL, -ENAMETOOLONG]);
  closeSync(fd);
});

inKernel("reads the right error after many others", () => {
  using at = openFolder();
  at.link("l", "dir");
  const fd = openSync(at.path, flags);
  let wrong = 0;
  for (let n = 0; n < 50_000; n += 1) {
    if (openBelow?.(fd, "l", flags) !== -ELOOP || openBelow?.(fd, "none", flags) !== -ENOENT) wrong += 1;
    if (n % 10_000 === 0) Bun.gc(true);
  }
  expect(wrong).toBe(0);
  closeSync(fd);
});

inKernel("is chosen where it works", () => {
  using at = openFolder();
  mkdirSync(`${at.path}/d`);
  const fd = openSync(at.path, flags);
  expect(chooseBackend(fd).name).toBe("openat2");
  closeSync(fd);
});

test("the libc is the mapped one, by its absolute path, never one of the current folder", () => {
  const line = (rights: string, file: string) => `7f00-7f01 ${rights} 00000000 fe:00 339380    ${file}\n`;
  expect(findLibc(line("r--p", "/usr/lib/libc.so.6") + line("r-xp", "/usr/lib/libc.so.6"))).toBe("/usr/lib/libc.so.6");
  expect(findLibc(line("r-xp", "/lib/ld-musl-x86_64.so.1"))).toBe("/lib/ld-musl-x86_64.so.1");
  for (const file of ["/w/libc.so.6 (deleted)", "/w/mylibc.so.6x", "/usr/lib/libm.so.6", ""]) {
    expect(() => findLibc(line("r-xp", file))).toThrow("no libc");
  }
});
