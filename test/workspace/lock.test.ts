/** One process at a time, and a dead one is not an obstacle. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { thisProcess } from "../../src/system/holder.ts";
import { openRoot } from "../../src/workspace/confine.ts";
import { type Lock, lockKernel, openLock, openRootLock } from "../../src/workspace/journal/lock.ts";
import { recover } from "../../src/workspace/journal/recover.ts";
import { openDisk } from "../../src/workspace/system/disk.ts";
import { systemCalls } from "../../src/workspace/system/system-calls.ts";
import { noRules } from "./folder.ts";
import { usePlaces } from "./places.ts";
import { deadProcess, openPlace } from "./tree.ts";

const make = usePlaces();
const lockPath = () => {
  const made = make();
  mkdirSync(made.state);
  return join(made.state, "lock");
};
const parent = () => {
  const stat = readFileSync(`/proc/${process.ppid}/stat`, "latin1");
  const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  return { ...thisProcess(), pid: process.ppid, start };
};
const claimed = (holder: object) => JSON.stringify({ token: "t", ...holder });

test("work is done under it and it is gone afterwards, also when the work fails", async () => {
  const path = lockPath();
  const lock = openLock(path, openDisk(), thisProcess());
  expect(await lock(() => readdirSync(join(path, "..")))).toEqual(["lock"]);
  await expect(
    lock(() => {
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
  expect(readdirSync(join(path, ".."))).toEqual([]);
});

test("a living holder is waited for, then named", async () => {
  const path = lockPath();
  writeFileSync(path, claimed(parent()));
  const lock = openLock(path, openDisk(), thisProcess(), 50);
  await expect(lock(() => 1)).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining(String(process.ppid)),
  });
});

test("a lock of a dead process, an earlier boot or a used-again process id is taken over", async () => {
  const path = lockPath();
  for (const holder of [deadProcess(), { ...parent(), boot: "another" }, { ...parent(), start: "1" }]) {
    writeFileSync(path, claimed(holder));
    expect(await openLock(path, openDisk(), thisProcess(), 50)(() => 1)).toBe(1);
    expect(readdirSync(join(path, ".."))).toEqual([]);
  }
});

test("unreadable content is nobody's lock", async () => {
  const path = lockPath();
  writeFileSync(path, "{");
  expect(await openLock(path, openDisk(), thisProcess(), 50)(() => 1)).toBe(1);
});

test("a link, a pipe or a folder in its place is refused", async () => {
  const path = lockPath();
  const lock = openLock(path, openDisk(), thisProcess(), 50);
  const refused = () => expect(lock(() => 1)).rejects.toMatchObject({ code: "permission_denied" });
  symlinkSync("/etc/hostname", path);
  await refused();
  openDisk().removeFile(path);
  Bun.spawnSync(["mkfifo", path]);
  await refused();
  openDisk().removeFile(path);
  mkdirSync(path);
  await refused();
});

test.skipIf(systemCalls() === null)("without a state folder the root folder itself is the lock", async () => {
  const made = make();
  const open = () => openRoot(made.work, { force: true, home: null });
  const none: Lock = async (work) => work();
  let ended = false;
  const first = lockKernel(
    () => openRootLock(open()),
    async (work) => {
      await Bun.sleep(60);
      ended = true;
      return work();
    },
  )(() => 1);
  await Bun.sleep(5);
  await expect(lockKernel(() => openRootLock(open()), none, 20)(() => 2)).rejects.toMatchObject({ code: "conflict" });
  expect(await lockKernel(() => openRootLock(open()), none)(() => ended)).toBe(true);
  expect(await first).toBe(1);
});

test("whoever holds the lock and is killed holds it no more", async () => {
  const made = make({ counter: "0" });
  const count = (times: string) =>
    Bun.spawn([process.execPath, join(import.meta.dir, "counter.ts"), made.base, times], {
      stdout: "pipe",
      stderr: "inherit",
    });
  for (let n = 0; n < 5; n++) {
    const killed = count("100000");
    while (readFileSync(join(made.work, "counter"), "utf8") === `${n}`) await Bun.sleep(1);
    await Bun.sleep(20 + 3 * n);
    killed.kill("SIGKILL");
    await killed.exited;
    const { root, state, lock } = openPlace(made);
    await recover(root, state, lock, noRules);
    writeFileSync(join(made.work, "counter"), `${n + 1}`);
  }
  expect(await new Response(count("3").stdout).json()).toMatchObject({ done: 3 });
  expect(readFileSync(join(made.work, "counter"), "utf8")).toBe("8");
}, 20_000);

test("two processes, 100 read-modify-writes each: none is lost", async () => {
  const made = make({ counter: "0" });
  const counter = () =>
    Bun.spawn([Bun.which("bun") ?? "bun", join(import.meta.dir, "counter.ts"), made.base, "100"], {
      stdout: "pipe",
      stderr: "inherit",
    });
  const results = await Promise.all([counter(), counter()].map((child) => new Response(child.stdout).json()));
  expect(results.map((result) => (result as { done: number }).done)).toEqual([100, 100]);
  expect(readFileSync(join(made.work, "counter"), "utf8")).toBe("200");
}, 20_000);
