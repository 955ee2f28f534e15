/** One process at a time, and a dead one is not an obstacle. */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "../../src/system/lock.ts";
import { openRoot } from "../../src/workspace/confine.ts";
import { openFileLock, openRootLock } from "../../src/workspace/journal/journal.ts";
import { makePlace } from "./tree.ts";

const lockPath = () => {
  const made = makePlace();
  mkdirSync(made.state);
  return join(made.state, "lock");
};

test("work is done under the lock, which is free afterwards, also when the work fails", async () => {
  const path = lockPath();
  const lock = openFileLock(path, takeLock, 50);
  expect(await lock(() => takeLock(path))).toBeNull();
  const failed = await lock(() => {
    throw new Error("no");
  }).catch((thrown: Error) => thrown.message);
  expect(failed).toBe("no");
  expect(await lock(() => 1)).toBe(1);
});

test("whoever holds the lock is waited for; a rollback goes on all the same", async () => {
  const path = lockPath();
  const held = takeLock(path);
  const lock = openFileLock(path, takeLock, 50);
  expect(await lock(() => 1).catch(({ code }) => code)).toBe("conflict");
  expect(await lock(() => 2, { must: true })).toBe(2);
  setTimeout(() => held?.release(), 20);
  expect(await openFileLock(path, takeLock)(() => 3)).toBe(3);
});

test("without a state folder the root folder itself is the lock", async () => {
  const made = makePlace();
  const open = () => openRoot(made.work, { force: true, home: null });
  let ended = false;
  const [begun, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = openRootLock(open())(async () => {
    begun.resolve();
    await asked.promise;
    ended = true;
    return 1;
  });
  await begun.promise;
  expect(await openRootLock(open(), 20)(() => 2).catch(({ code }) => code)).toBe("conflict");
  asked.resolve();
  expect(await openRootLock(open())(() => ended)).toBe(true);
  expect(await first).toBe(1);
});
