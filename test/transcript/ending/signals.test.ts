/** Signals at every stage of a run: the right code, the tree as before, nobody left behind (R09). */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { comesTrue, oddTime, sleeps, wakes } from "../../processes.ts";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, planned, write } from "../replies.ts";

const signals = [
  ["SIGINT", 130, "interrupted"],
  ["SIGTERM", 143, "terminated"],
  ["SIGHUP", 129, "hangup"],
] as const;

const plan = planned(["WRITE hello.txt"]);
const never = { delayMs: 20_000 };
const file = { "kept.txt": "as before\n" };

/** Resolves when the process hears SIGINT instead of dying of it. */
async function listens(pid: number): Promise<void> {
  const hears = () => {
    const [, caught = "0"] = /^SigCgt:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return (BigInt(`0x${caught}`) & 2n) !== 0n;
  };
  if (!(await comesTrue(hears))) throw new Error(`${pid} does not listen to signals`);
}

for (const [signal, code, error] of signals) {
  test.concurrent(`${signal} in the plan call ends with ${code} (R09)`, async () => {
    await using place = openPlace([{ ...plan, ...never }], file);
    const running = place.start(["run", "-y", "--json", "make hello.txt"]);
    await place.gemini.arrived(1);
    running.kill(signal);
    const outcome = readOutcome(await running.done);
    expect([outcome.code, outcome.status, outcome.error?.code]).toEqual([code, "interrupted", error]);
    expect(place.tree()).toEqual(file);
  });
}

test.concurrent("SIGHUP during a check ends with 129, takes the change back and leaves no process (R09)", async () => {
  await using place = openPlace([plan, done(write("hello.txt", "a\n"))], file);
  const time = oddTime(121);
  const check = `test -e hello.txt || exit 0; sleep ${time} & wait`;
  const running = place.start(["run", "-y", "--json", "--check", check, "make hello.txt"]);
  await sleeps(time);
  expect(place.read("hello.txt")).toBe("a\n");
  running.kill("SIGHUP");
  const outcome = readOutcome(await running.done);
  expect([outcome.code, outcome.error?.code]).toEqual([129, "hangup"]);
  expect(place.tree()).toEqual(file);
  await wakes(time);
});

for (const [line, signal, code] of [
  ["run - < ../spare/f", "SIGINT", 130],
  ["run --stdin hello < ../spare/f", "SIGTERM", 143],
  ["run -f ../spare/f", "SIGHUP", 129],
  ["apply -y ../spare/f", "SIGINT", 130],
  ["key set < ../spare/f", "SIGINT", 130],
] as const) {
  test.concurrent(`${signal} while a silent pipe is read ends pai ${line} with ${code} (R09)`, async () => {
    await using place = openPlace();
    const running = place.startShell(`mkfifo ../spare/f; exec 9<> ../spare/f; exec "$PAI" ${line}`);
    await listens(running.pid);
    await Bun.sleep(100);
    running.kill(signal);
    const ended = await Promise.race([running.done, Bun.sleep(3000)]);
    running.kill("SIGKILL");
    expect(ended?.code).toBe(code);
  });
}

test.concurrent("SIGINT while the doctor asks the endpoint ends with 130, and is not a finding (R09)", async () => {
  await using place = openPlace([never]);
  const running = place.start(["doctor", "--json"]);
  await place.gemini.arrived(1);
  await Bun.sleep(400);
  running.kill("SIGINT");
  const { code, stdout } = await running.done;
  expect([code, JSON.parse(stdout)]).toMatchObject([130, { code: 130, error: { code: "interrupted" }, data: null }]);
});

test.concurrent("--timeout counts from the start: a task that never comes ends with 124", async () => {
  await using place = openPlace();
  const held =
    'mkfifo ../spare/f; exec 9<> ../spare/f; timeout -s KILL 50 "$PAI" run --json --timeout 1 - < ../spare/f';
  expect(readOutcome(await place.shell(held)).code).toBe(124);
});

test.concurrent("a second SIGINT ends at once; the next command takes the half-done run back (R09)", async () => {
  await using place = openPlace([plan, done(write("hello.txt", "a\n"))], file);
  const time = oddTime(123);
  const check = `test -e hello.txt || exit 0; trap '' INT TERM HUP; sleep ${time}`;
  const running = place.start(["run", "-y", "--check", check, "make hello.txt"]);
  await sleeps(time);
  running.kill("SIGINT");
  await Bun.sleep(100);
  running.kill("SIGINT");
  expect((await running.done).code).toBe(130);
  // It did not wait for the check, and left the rest to the next command.
  const { code, stderr } = await place.pai(["history"]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("was cut off and was taken back")]);
  expect(place.tree()).toEqual(file);
  await wakes(time);
});

for (const [signal, command] of [
  ["SIGHUP", "nohup"],
  ["SIGINT", "trap '' INT;"],
] as const) {
  test.concurrent(`a run that was started with ${signal} ignored (${command}) goes on and is kept`, async () => {
    await using place = openPlace([plan, done(write("hello.txt", "a\n"))], file);
    const time = oddTime(3);
    const script = `${command.endsWith(";") ? `${command} exec` : `exec ${command}`} "$PAI" run -y --check 'test ! -e hello.txt || sleep ${time}' 'make hello.txt'`;
    const running = place.startShell(script);
    await sleeps(time);
    running.kill(signal);
    expect([(await running.done).code, place.read("hello.txt")]).toEqual([0, "a\n"]);
  });
}
