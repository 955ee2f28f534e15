/** Single files: temporary names, exact modes, never over something else. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  holds,
  isTemporary,
  makeFolder,
  place,
  remove,
  type Spot,
  stage,
  stateAt,
  temporaryName,
} from "../../src/workspace/atomic-write.ts";
import { openRoot } from "../../src/workspace/confine.ts";
import { putBack } from "../../src/workspace/journal/take-back.ts";
import { openDisk } from "../../src/workspace/system/disk.ts";
import { at, change, file, makePlace, treeOf } from "./tree.ts";

const open = (files: Record<string, string> = {}) => {
  const made = makePlace(files);
  const [root, disk] = [openRoot(made.work, { force: true, home: null }), openDisk()];
  const spot = (path: string, temp = temporaryName()): Spot => ({ root, disk, path: at(path), temp });
  return { ...made, root, disk, spot };
};
const text = (content: string, mode = 0o644) => {
  const blob = file(content, mode);
  if (blob.kind === "folder") throw new Error("unreachable");
  return blob;
};

test("temporary names are random, known, and nobody else's", () => {
  const name = temporaryName();
  expect(name).not.toBe(temporaryName());
  expect(isTemporary(name)).toBe(true);
  for (const other of [".pai-x.tmp", `a${name}`, `${name}x`, ".pai_history"]) expect(isTemporary(other)).toBe(false);
});

test("staged content is private until it has its mode and name, whatever the umask", () => {
  const { work, spot } = open();
  const temp = temporaryName();
  stage(spot("run.sh", temp), text("#!/bin/sh\n", 0o775), null);
  expect(readdirSync(work)).toEqual([temp]);
  place(spot("run.sh", temp), change("run.sh", null, text("#!/bin/sh\n", 0o775)), null);
  expect(treeOf(work)).toEqual({ "run.sh": "file 775 #!/bin/sh\n" });
});

test("new content never replaces what came meanwhile", () => {
  const { root, disk, work, spot } = open();
  const temp = temporaryName();
  stage(spot("a", temp), text("mine"), null);
  writeFileSync(join(work, "a"), "theirs");
  const mine = change("a", null, text("mine"));
  expect(() => place(spot("a", temp), mine, null)).toThrow("somebody else");
  expect(putBack(root, disk, [mine], [[at("a"), temp]])).toEqual([]);
  expect(putBack(root, disk, [mine], [[at("a"), temp]])).toEqual([]);
  expect(treeOf(work)).toEqual({ a: "file 644 theirs" });
});

test("a file saved between check and rename is not overwritten, even with equal size", () => {
  const { root, work, spot } = open({ a: "1" });
  const { stat } = stateAt(root, at("a"));
  const temp = temporaryName();
  stage(spot("a", temp), text("2"), null);
  writeFileSync(join(work, "a"), "3");
  expect(() => place(spot("a", temp), change("a", text("1"), text("2")), stat)).toThrow("somebody else");
  expect(() => remove(spot("a", temp), change("a", text("1"), null), stat)).toThrow("somebody else");
  expect(treeOf(work)).toEqual({ a: "file 644 3", [temp]: "file 644 2" });
});

test("a folder gets exactly its mode and keeps an inherited group bit", () => {
  const { work, spot } = open();
  chmodSync(work, 0o2755);
  makeFolder(spot("d"), 0o770, null);
  expect(statSync(join(work, "d")).mode & 0o7777).toBe(0o2770);
});

test("what stands behind a link or a file is nothing; a pipe is something that no content equals", () => {
  const { root, work } = open({ f: "f", "d/x": "x" });
  symlinkSync("d", join(work, "l"));
  Bun.spawnSync(["mkfifo", join(work, "p")]);
  expect(stateAt(root, at("l/x"))).toEqual({ blob: null, stat: null });
  expect(stateAt(root, at("f/x"))).toEqual({ blob: null, stat: null });
  expect(holds(stateAt(root, at("p")), null)).toBe(false);
  expect(holds(stateAt(root, at("l")), { kind: "link", target: "d" })).toBe(true);
});

test("a system error names the path, not a descriptor", () => {
  const { work, spot } = open();
  mkdirSync(join(work, "d"));
  const failing = openDisk(() => {
    throw Object.assign(new Error("ENOSPC: /proc/self/fd/9"), { code: "ENOSPC" });
  });
  expect(() => makeFolder({ ...spot("d/e"), disk: failing }, 0o755, null)).toThrow(
    "d/e cannot be written: no space is left on the disk",
  );
  expect(() => makeFolder(spot("gone/e"), 0o755, null)).toThrow("gone/e");
});
