/** Inputs that are meant to keep pai busy: a signal is answered within a second, and an interrupted run changes nothing. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "../../../src/core/outcome.ts";
import { openPlace, patience } from "../harness.ts";
import { called, done, planned, talked, write } from "../replies.ts";

setDefaultTimeout(patience);

const many = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join("");

// F17, F29
test.concurrent("a run that is interrupted while it works through a long reply ends 130 and changes nothing", async () => {
  const lines = many(6000, (at) => `line ${at}\n`);
  const blocks = many(1900, (at) => `<<<<<<< SEARCH\nline ${at * 3}\n=======\nchanged ${at}\n>>>>>>> REPLACE\n`);
  const answers = [planned([["MODIFY", "a.txt"]]), { ...done(`MODIFY::a.txt::EOT\n${blocks}END::EOT\n`) }];
  await using place = openPlace(answers, { "a.txt": lines });
  const running = place.start(["run", "-y", "change every third line"]);
  await place.gemini.arrived(2);
  await Bun.sleep(150);
  const asked = performance.now();
  running.kill("SIGINT");
  const { code } = await running.done;
  const isOver = performance.now() - asked < 100;
  // It may have been done before the signal came: then it was told so.
  expect([code, place.read("a.txt") === lines]).toEqual(isOver && code === 0 ? [0, false] : [130, true]);
});

test.concurrent("a signal is answered while a reply of 15,000 edits is worked through, and it changes nothing", async () => {
  const lines = many(45_000, (at) => `line ${at}\n`);
  const blocks = many(15_000, (at) => `<<<<<<< SEARCH\nline ${at * 3}\n=======\nchanged ${at}\n>>>>>>> REPLACE\n`);
  const wild = done(`MODIFY::a.txt::EOT\n${blocks}END::EOT\n`);
  await using place = openPlace([planned([["MODIFY", "a.txt"]]), wild, { ...wild, delayMs: 30_000 }], {
    "a.txt": lines,
  });
  const running = place.start(["run", "-y", "--max-tokens", "9000000", "change every third line"]);
  await place.gemini.arrived(2);
  await Bun.sleep(1500);
  const asked = performance.now();
  running.kill("SIGINT");
  const { code } = await running.done;
  expect([code, place.read("a.txt") === lines, performance.now() - asked < 2000]).toEqual([130, true, true]);
});

test.concurrent("what exceeds one reply is left out and reported", async () => {
  const writes = Array.from({ length: 320 }, (_, at) => ["write", { path: `f${at}.txt`, content: "x" }] as const);
  await using place = openPlace([called(...writes), { text: "Done." }]);
  const { stdout } = await place.pai(["run", "-y", "--json", "--mode", "tool-loop", "many"]);
  const outcome = JSON.parse(stdout) as Pick<Outcome, "code" | "changes">;
  expect([outcome.code, outcome.changes.length]).toEqual([0, 300]);
  expect(place.gemini.requests[1]?.body).toContain("one reply may hold 300 actions");
});

test.concurrent("a plan of thousands of steps is asked for again, not worked through", async () => {
  const steps = Array.from({ length: 10_000 }, (_, at) => ["WRITE", `f${at}.txt`] as const);
  await using place = openPlace([planned(steps), talked("I cannot.")]);
  const started = performance.now();
  await place.pai(["run", "-y", "many"]);
  expect([place.gemini.requests.length, performance.now() - started < 10_000]).toEqual([2, true]);
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

// F16 and the sparse file of the newcomer
test.concurrent("ignore rules that take for ever, and a file of rules without end, take a moment", async () => {
  await using place = openPlace([talked("Hello."), talked("Hello.")]);
  mkdirSync(join(place.root, "a/".repeat(60)), { recursive: true });
  writeFileSync(join(place.root, ".gitignore"), `${"**/a/".repeat(20)}**/b\n`);
  const started = performance.now();
  expect((await place.pai(["run", "hello"])).code).toBe(0);
  truncateSync(join(place.root, ".gitignore"), 2 ** 40);
  expect((await place.pai(["run", "hello"])).code).toBe(0);
  expect((await place.pai(["context", "hello"])).code).toBe(0);
  const took = performance.now() - started;
  // The harness reads every file when the test ends.
  truncateSync(join(place.root, ".gitignore"), 0);
  expect(took).toBeLessThan(20_000);
});

test.concurrent("many rules that deny paths cost no more than a moment", async () => {
  const deny = Array.from({ length: 20_000 }, (_, at) => `secret-${at}/**`);
  await using place = openPlace([planned([["WRITE", "a.txt"]]), done(write("a.txt", "a\n"))], {
    "pai.json": JSON.stringify({ policy: { deny } }),
  });
  for (let at = 0; at < 100; at += 1) writeFileSync(join(place.root, `f${at}.txt`), "");
  const started = performance.now();
  const { code } = await place.pai(["run", "-y", "make a.txt"]);
  expect([code, performance.now() - started < 20_000]).toEqual([0, true]);
});

const busy: Readonly<Record<string, (place: ReturnType<typeof openPlace>) => readonly string[]>> = {
  "a plan of hundreds of searches": () => ["find them"],
  "a task with a mention of 300,000 marks": (place) => {
    writeFileSync(join(place.root, "task.md"), `@${"!".repeat(300_000)}x fix it`);
    return ["--max-tokens", "9000000", "-f", "task.md"];
  },
};

for (const [what, prepare] of Object.entries(busy)) {
  test.concurrent(`${what} is done, or given up at a signal`, async () => {
    const steps = Array.from({ length: 400 }, (_, at) => ["SEARCH", `(a+)+$ ${at}`] as const);
    await using place = openPlace([planned(steps), done("")], { "a.txt": "ab\n" });
    const running = place.start(["run", "-y", ...prepare(place)]);
    await Promise.race([running.done, Bun.sleep(2500)]);
    const asked = performance.now();
    running.kill("SIGINT");
    await running.done;
    expect(performance.now() - asked).toBeLessThan(2000);
  });
}

test.concurrent("a command that enters thousands of folders is read like any other", async () => {
  const command = many(3000, (at) => `cd a${at};`);
  await using place = openPlace([planned([["RUN", command]]), done(""), done("")]);
  const { code } = await place.pai(["run", "-y", "--allow-run", "--max-calls", "2", "walk about"]);
  expect([0, 9, 12]).toContain(code);
});

test.concurrent("copies of a folder that grows, and of a large file, are bounded", async () => {
  const rounds = Array.from({ length: 25 }, (_, at) => at);
  const doubled = rounds.flatMap((at) => [["COPY", "d", `e${at}`] as const, ["MV", `e${at}`, `d/e${at}`] as const]);
  const actions = many(25, (at) => `COPY::d::e${at}\nMV::e${at}::d/e${at}\n`);
  await using place = openPlace([planned(doubled), done(actions), done("")], { "d/f.txt": "x\n" });
  // Nothing is written in a dry run, so only what is kept in memory is tried.
  const { code, stdout } = await place.pai(["run", "-n", "copy it"]);
  expect([code, stdout.includes("one reply may change 20000 paths")]).toEqual([8, true]);

  const copied = rounds.map((at) => ["COPY", "big.bin", `c${at}.bin`] as const);
  const copies = [planned(copied), done(many(25, (at) => `COPY::big.bin::c${at}.bin\n`)), done("")];
  await using other = openPlace(copies);
  await other.shell("truncate -s 20M big.bin");
  const large = await other.pai(["run", "-n", "copy it"]);
  expect([large.code, large.stdout.includes("one reply may write or remove 256 MiB")]).toEqual([8, true]);
});
