/** Signals at every stage of a run: the right code, the tree as before, nobody left behind (P18, R09). */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readLast, readOutcome } from "./contract.ts";
import { openPlace, type Place, patience } from "./harness.ts";
import { done, planned, write } from "./replies.ts";

setDefaultTimeout(patience);

const signals = [
  ["SIGINT", 130, "interrupted"],
  ["SIGTERM", 143, "terminated"],
  ["SIGHUP", 129, "hangup"],
] as const;

const plan = planned([["WRITE", "hello.txt"]]);
const never = { delayMs: 20_000 };
const file = { "kept.txt": "as before\n" };

async function appears(path: string): Promise<void> {
  for (let tries = 0; tries < 400 && !existsSync(path); tries += 1) await Bun.sleep(10);
  if (!existsSync(path)) throw new Error(`${path} did not appear`);
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

function pidsIn({ spare }: Place): number[] {
  return readFileSync(join(spare, "pids"), "utf8").trim().split(/\s+/).map(Number);
}

for (const [signal, code, error] of signals) {
  test.concurrent(`${signal} in the plan call ends with ${code} (P18, R09)`, async () => {
    await using place = openPlace([{ ...plan, ...never }], file);
    const running = place.start(["run", "-y", "--json", "make hello.txt"]);
    await place.gemini.arrived(1);
    running.kill(signal);
    const outcome = readOutcome(await running.done);
    expect([outcome.code, outcome.status, outcome.error?.code]).toEqual([code, "interrupted", error]);
    expect(place.tree()).toEqual(file);
  });

  test.concurrent(`${signal} in the execution call ends with ${code}`, async () => {
    await using place = openPlace([plan, { ...done(write("hello.txt", "a\n")), ...never }], file);
    const running = place.start(["run", "-y", "--jsonl", "make hello.txt"]);
    await place.gemini.arrived(2);
    running.kill(signal);
    const outcome = readLast(await running.done);
    expect([outcome.code, outcome.error?.code, outcome.changes]).toEqual([code, error, []]);
    expect(place.tree()).toEqual(file);
  });

  test.concurrent(`${signal} during a check ends with ${code}, takes the change back and leaves no process (P18, R09)`, async () => {
    await using place = openPlace([plan, done(write("hello.txt", "a\n"))], file);
    const check = "test -e hello.txt || exit 0; sleep 61 & echo $$ $! > ../spare/pids; wait";
    const running = place.start(["run", "-y", "--json", "--check", check, "make hello.txt"]);
    await appears(join(place.spare, "pids"));
    expect(place.read("hello.txt")).toBe("a\n");
    running.kill(signal);
    const outcome = readOutcome(await running.done);
    expect([outcome.code, outcome.error?.code]).toEqual([code, error]);
    expect(place.tree()).toEqual(file);
    expect(pidsIn(place).filter(isAlive)).toEqual([]);
  });
}

test.concurrent("a second SIGINT ends at once; the next command takes the half-done run back (R09)", async () => {
  await using place = openPlace([plan, done(write("hello.txt", "a\n"))], file);
  const check = "test -e hello.txt || exit 0; trap '' INT TERM HUP; echo $$ > ../spare/pids; while :; do sleep 1; done";
  const running = place.start(["run", "-y", "--check", check, "make hello.txt"]);
  await appears(join(place.spare, "pids"));
  running.kill("SIGINT");
  await Bun.sleep(100);
  const asked = performance.now();
  running.kill("SIGINT");
  expect((await running.done).code).toBe(130);
  expect(performance.now() - asked).toBeLessThan(1900);
  expect((await place.pai(["history"])).code).toBe(0);
  expect(place.tree()).toEqual(file);
  expect(pidsIn(place).filter(isAlive)).toEqual([]);
});

test.concurrent("SIGKILL in a check: the next command takes the change back (R51)", async () => {
  await using place = openPlace([plan, done(write("hello.txt", "a\n"))], file);
  const check = "test -e hello.txt || exit 0; echo $$ > ../spare/pids; sleep 2";
  const running = place.start(["run", "-y", "--check", check, "make hello.txt"]);
  await appears(join(place.spare, "pids"));
  running.kill("SIGKILL");
  await running.done;
  const { stderr } = await place.pai(["history"]);
  expect(place.tree()).toEqual(file);
  expect(stderr).not.toBe("");
});

test.concurrent("--timeout during a check ends with 124 and takes the change back", async () => {
  await using place = openPlace([plan, done(write("hello.txt", "a\n"))], file);
  const check = "test -e hello.txt || exit 0; sleep 62 & echo $$ $! > ../spare/pids; wait";
  const result = await place.pai(["run", "-y", "--json", "--timeout", "4", "--check", check, "make hello.txt"]);
  const outcome = readOutcome(result);
  expect([outcome.code, outcome.error?.code, outcome.status]).toEqual([124, "timeout", "interrupted"]);
  expect(place.tree()).toEqual(file);
  expect(pidsIn(place).filter(isAlive)).toEqual([]);
});
