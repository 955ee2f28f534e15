/** Inputs that are meant to keep pai busy: a signal is answered within a second, and an interrupted run changes nothing. */
import { expect, test } from "bun:test";
import type { Outcome } from "../../../src/core/outcome.ts";
import { expectPrompt } from "../../core/cpu-time.ts";
import { openPlace, type Place } from "../harness.ts";
import { called, done, planned, talked } from "../replies.ts";

const many = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join("");

/** Starts a run, lets it work on the answer of a call, and returns how long it takes to end after a signal. */
async function interruptIn(call: number, ms: number, place: Place, words: readonly string[]) {
  const running = place.start(["run", "-y", "--max-tokens", "9000000", ...words]);
  const result = await Promise.race([running.done, place.gemini.arrived(call).then(() => Bun.sleep(ms))]);
  const asked = performance.now();
  running.kill("SIGINT");
  const { code } = result ?? (await running.done);
  return { code, took: performance.now() - asked };
}

// F17, F29
test.concurrent("a signal is heard while a reply of 15,000 edits is worked through, and nothing is changed", () =>
  expectPrompt(2000, async () => {
    const count = 15_000;
    const lines = many(3 * count, (at) => `line ${at}\n`);
    const blocks = many(count, (at) => `<<<<<<< SEARCH\nline ${at * 3}\n=======\nchanged ${at}\n>>>>>>> REPLACE\n`);
    const wild = done(`MODIFY::a.txt::EOT\n${blocks}END::EOT\n`);
    const late = { ...wild, delayMs: 600_000 };
    await using place = openPlace([planned(["MODIFY a.txt"]), wild, late], { "a.txt": lines });
    const { code, took } = await interruptIn(2, 150, place, ["change every third line"]);
    expect([code, place.read("a.txt") === lines]).toEqual([130, true]);
    return took;
  }));

test.concurrent("what exceeds one reply is left out and reported", async () => {
  const writes = Array.from({ length: 320 }, (_, at) => ["write", { path: `f${at}.txt`, content: "x" }] as const);
  await using place = openPlace([called(...writes), { text: "Done." }]);
  const { stdout } = await place.pai(["run", "-y", "--json", "--mode", "tool-loop", "many"]);
  const outcome = JSON.parse(stdout) as Pick<Outcome, "code" | "changes">;
  expect([outcome.code, outcome.changes.length]).toEqual([0, 300]);
  expect(place.gemini.requests[1]?.body).toContain("one reply may hold 300 actions");
});

test.concurrent("a plan of thousands of steps is asked for again, not worked through", async () => {
  const steps = Array.from({ length: 10_000 }, (_, at) => `WRITE f${at}.txt`);
  await using place = openPlace([planned(steps), talked("I cannot.")]);
  await place.pai(["run", "-y", "many"]);
  expect(place.gemini.requests).toHaveLength(2);
  expect(place.gemini.requests[1]?.body).toContain("at most 500");
});

// F28
test.concurrent("nested JSON of any depth is a bad reply or a bad file, never an internal error", async () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const part = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":${deep}}}}]},"finishReason":"STOP"}]}`;
  const bomb = { headers: { "content-type": "text/event-stream" }, body: `data: ${part}\n\n` };
  await using place = openPlace([bomb, bomb, { text: `{"intent": ${deep}}` }, { text: `{"intent": ${deep}}` }], {
    "plan.json": deep,
  });
  const results = [
    await place.pai(["run", "-y", "--mode", "tool-loop", "x"]),
    await place.pai(["run", "-y", "x"]),
    await place.pai(["apply", "-y", "plan.json"]),
  ];
  for (const { code, stderr } of results) {
    expect([code, stderr.includes("internal")]).not.toContain(1);
    expect(stderr).not.toContain("call stack");
  }
});

test.concurrent("a plan of hundreds of searches is done, or given up at a signal", () =>
  expectPrompt(2000, async () => {
    const steps = Array.from({ length: 400 }, (_, at) => `SEARCH (a+)+$ ${at}`);
    await using place = openPlace([planned(steps), done("")], { "a.txt": "ab\n" });
    const { took } = await interruptIn(1, 1000, place, ["find them"]);
    return took;
  }));

test.concurrent("copies of a folder that grows, and of a large file, are bounded", async () => {
  const rounds = Array.from({ length: 16 }, (_, at) => at);
  const doubled = rounds.flatMap((at) => [`COPY d -> e${at}`, `MV e${at} -> d/e${at}`]);
  const actions = many(rounds.length, (at) => `COPY::d::e${at}\nMV::e${at}::d/e${at}\n`);
  await using place = openPlace([planned(doubled), done(actions), done("")], { "d/f.txt": "x\n" });
  // Nothing is written in a dry run, so only what is kept in memory is tried.
  const { code, stdout } = await place.pai(["run", "-n", "copy it"]);
  expect([code, stdout.includes("one reply may change 20000 paths")]).toEqual([8, true]);

  const copied = rounds.map((at) => `COPY big.bin -> c${at}.bin`);
  const copies = [planned(copied), done(many(rounds.length, (at) => `COPY::big.bin::c${at}.bin\n`)), done("")];
  await using other = openPlace(copies);
  await other.shell("truncate -s 20M big.bin");
  const large = await other.pai(["run", "-n", "copy it"]);
  expect([large.code, large.stdout.includes("one reply may write or remove 256 MiB")]).toEqual([8, true]);
});
