/** A lock ends with its process, whatever container or machine that was in. */
import { expect, test } from "bun:test";
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeClaim, takeLock } from "../../src/system/lock.ts";
import { newFolder } from "../grounds.ts";

const lockPath = () => join(newFolder("disk", "lock"), "lock");

/** A process that takes the lock of a path and says so. */
async function startHolder(path: string) {
  const code = `const { takeLock } = await import(${JSON.stringify(join(import.meta.dir, "../../src/system/lock.ts"))});
    if (takeLock(${JSON.stringify(path)}) === null) process.exit(1);
    console.log("held"); await Bun.sleep(60_000);`;
  const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
  await child.stdout.getReader().read();
  return child;
}

test("a lock is held once, also within a process, until it is released", () => {
  const path = lockPath();
  const held = takeLock(path);
  expect(held).not.toBeNull();
  expect(takeLock(path)).toBeNull();
  held?.release();
  expect(takeLock(path)).not.toBeNull();
});

test("the lock of a killed process is free", async () => {
  const path = lockPath();
  const child = await startHolder(path);
  expect(takeLock(path)).toBeNull();
  child.kill("SIGKILL");
  await child.exited;
  expect(takeLock(path)).not.toBeNull();
});

test("commands that the holder starts do not hold it", async () => {
  const path = lockPath();
  const held = takeLock(path);
  const child = Bun.spawn(["sleep", "60"]);
  held?.release();
  expect(takeLock(path)).not.toBeNull();
  child.kill();
  await child.exited;
});

test("a lock whose file was removed meanwhile is taken of the new file", () => {
  const path = lockPath();
  const first = takeLock(path);
  rmSync(path);
  const second = takeLock(path);
  expect(second).not.toBeNull();
  expect(takeLock(path)).toBeNull();
  first?.release();
  expect(takeLock(path)).toBeNull();
});

test("a link, a pipe or a folder in its place is refused", () => {
  const path = lockPath();
  const refused = () => expect(() => takeLock(path)).toThrow("is not a plain file of yours");
  symlinkSync("/etc/hostname", path);
  refused();
  rmSync(path);
  Bun.spawnSync(["mkfifo", path]);
  refused();
  rmSync(path);
  mkdirSync(path);
  refused();
});

test("without locks of the kernel a claim is held once, and never taken over", () => {
  const folder = newFolder("disk", "lock");
  const at = join(folder, "lock.claim");
  const taken = takeClaim(at);
  expect(taken).not.toBeNull();
  expect(takeClaim(at)).toBeNull();
  taken?.release();
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(at, "");
  expect(takeClaim(at)).toBeNull();
});

test("an existing file that can only be read can be locked", () => {
  const path = lockPath();
  closeSync(openSync(path, "w", 0o400));
  expect(takeLock(path)).not.toBeNull();
  expect(takeLock(path)).toBeNull();
});
