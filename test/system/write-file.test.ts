/** Small files that are read and written whole. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readSmall } from "../../src/system/lookups.ts";
import { createFile, replaceFile, writeBytes } from "../../src/system/write-file.ts";
import { newFolder } from "../grounds.ts";

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

test.each([0, 1, 131_071, 131_072, 131_073, 262_144, 1_000_003, 20_000_000])(
  "%i bytes are in the file when the writer returns",
  (size) => {
    const folder = newFolder("disk", "write");
    const bytes = new Uint8Array(size).map((_, at) => at * 7);
    createFile(join(folder, "new"), bytes, { mode: 0o640, lasting: false });
    expect(Buffer.compare(readFileSync(join(folder, "new")), bytes)).toBe(0);
    expect(modeOf(join(folder, "new"))).toBe("640");
  },
);

test("bytes go where the descriptor stands, and nothing behind them is cut off", () => {
  const folder = newFolder("disk", "write");
  const file = join(folder, "file");
  writeFileSync(file, "0123456789");
  const fd = openSync(file, "r+");
  writeBytes(fd, "ab");
  writeBytes(fd, "é");
  closeSync(fd);
  expect(readFileSync(file, "utf8")).toBe("abé456789");
});

test("a file that exists is neither changed nor followed", () => {
  const folder = newFolder("disk", "write");
  writeFileSync(join(folder, "old"), "old");
  const make = () => createFile(join(folder, "old"), "new", { mode: 0o600, lasting: false });
  expect(make).toThrow("EEXIST");
  expect(readFileSync(join(folder, "old"), "utf8")).toBe("old");
});

test("a full disk is an error with its code, and the file that was to be replaced stays", () => {
  expect(() => {
    const fd = openSync("/dev/full", "w");
    try {
      writeBytes(fd, "x".repeat(300_000));
    } finally {
      closeSync(fd);
    }
  }).toThrow(expect.objectContaining({ code: "ENOSPC" }));
});

test("a file that may not grow is not replaced by a part of the new one", () => {
  const folder = newFolder("disk", "write");
  writeFileSync(join(folder, "kept"), "old");
  const code = `import { replaceFile } from ${JSON.stringify(join(import.meta.dir, "../../src/system/write-file.ts"))};
    try { replaceFile("kept", "x".repeat(400_000), { mode: 0o600, lasting: true }); } catch (e) { console.log(e.code); }`;
  const script = `trap '' XFSZ; ulimit -f 200; exec ${process.execPath} -e '${code}'`;
  const { stdout } = spawnSync("bash", ["-c", script], { cwd: folder, encoding: "utf8" });
  expect([stdout.trim(), readdirSync(folder), readFileSync(join(folder, "kept"), "utf8")]).toEqual([
    "EFBIG",
    ["kept"],
    "old",
  ]);
});

test("a private file is private whatever it was, and another has the rights that the umask leaves", () => {
  const folder = newFolder("disk", "write");
  writeFileSync(join(folder, "a"), "old", { mode: 0o644 });
  replaceFile(join(folder, "a"), "new", { mode: 0o600, lasting: true });
  replaceFile(join(folder, "b"), "new", { mode: null, lasting: false });
  const open = (0o666 & ~process.umask()).toString(8);
  expect([modeOf(join(folder, "a")), modeOf(join(folder, "b")), readdirSync(folder).sort()]).toEqual([
    "600",
    open,
    ["a", "b"],
  ]);
});

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
