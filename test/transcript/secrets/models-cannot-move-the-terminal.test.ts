/** What a model says to the eyes of the user: nothing of it moves the terminal, and no question hides or widens what a yes does. */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place } from "../harness.ts";
import { called, says, talked, writeCall } from "../replies.ts";
import { openRaw } from "../screen.ts";

const loop = ["run", "--mode", "tool-loop", "x"];
/** The printed text without colours, and without what draws the line that is typed. */
const plain = (terminal: ReturnType<typeof openRaw>) => Bun.stripANSI(terminal.shown()).replaceAll("\r", "");

/** Runs in a terminal, answers each question as it comes with the next of these lines, and waits for the end. */
async function answer(
  place: Place,
  words: readonly string[],
  lines: readonly (readonly [seen: RegExp, typed: string])[],
) {
  const terminal = openRaw(place, words, { LANG: "C.UTF-8" });
  for (const [seen, typed] of lines) {
    await terminal.sees(seen);
    terminal.type(`${typed}\r`);
  }
  await terminal.exited;
  return terminal;
}

// F3: the name of an unknown tool reached the terminal raw.
test.concurrent("a tool's name that nobody offered, made of control sequences, is in no stream and in no terminal", async () => {
  const raw = /\u001b\]|\u0007|\u009b|\u202e/;
  const answers = [called(["ls\u001b]52;c;ZXZpbA==\u0007\u009b2J\u202e", { path: "a.txt" }]), says("Done.")];
  const words = ["run", "-y", "--mode", "tool-loop", "x"];
  for (const format of [[], ["--json"], ["--jsonl"]]) {
    await using place = openPlace(answers);
    const { code, stdout, stderr } = await place.pai([...words, ...format]);
    expect([format, code, raw.test(stdout), raw.test(stderr)]).toEqual([format, 0, false, false]);
    expect(stdout).toContain("Done.");
    expect(stdout).not.toMatch(/u001b|u202e/);
  }
  await using place = openPlace(answers);
  const terminal = openRaw(place, words, { LANG: "C.UTF-8" });
  await terminal.exited;
  expect(terminal.shown()).toContain("Done.");
  expect(terminal.shown()).not.toMatch(raw);
});

// F13: one `a` on a file of the root let every later file of the project through.
test.concurrent("`a` at a file of the root is no answer, and what comes next is asked about", async () => {
  const files = ["notes.md", "src/deep/app.py", "sitecustomize.py"];
  await using place = openPlace([...files.map((path) => called(writeCall(path, "x\n"))), says("Done.")]);
  await answer(place, loop, [
    [/notes\.md.*apply\?/s, "a"],
    [/answer y or n.*apply\? |applied 1 change/s, "y"],
    [/create src\/deep\/app\.py.*apply\?|Done\./s, "n"],
    [/create sitecustomize\.py.*apply\?|Done\./s, "n"],
  ]);
  expect(Object.keys(place.tree())).toEqual(["notes.md"]);
});

test.concurrent("`a` holds below the folder it names, and not for a file of it that steers", async () => {
  const files = ["docs/a.md", "docs/b.md", "docs/AGENTS.md", "c.md"];
  await using place = openPlace([...files.map((path) => called(writeCall(path, "x\n"))), says("Done.")]);
  const terminal = await answer(place, loop, [
    [/create docs\/a\.md.*apply\?/s, "a"],
    [/create docs\/AGENTS\.md.*apply\?|Done\./s, "n"],
    [/create c\.md.*apply\?|Done\./s, "n"],
  ]);
  expect(plain(terminal)).toContain("a (always below docs/; plans still ask)");
  expect(Object.keys(place.tree())).toEqual(["docs/a.md", "docs/b.md"]);
});

// F25: of an added line only 2,000 characters were shown before the yes.
test.concurrent("a long line is shown whole before the question about it", async () => {
  await using place = openPlace([called(writeCall("a.js", `x = ${"a ".repeat(3000)}evil()\n`)), says("Done.")]);
  const terminal = await answer(place, loop, [[/apply\? y, n/, "n"]]);
  const before = plain(terminal).split("Apply these changes?")[0] ?? "";
  expect([before.includes("evil()"), before.includes("characters not shown")]).toEqual([true, false]);
});

const acting = /\u001b\]|\u0007|\u009b|\u202e|\u{e0041}|\u007f/u;
const evil = "a\u001b]0;t\u0007\u009b2J\u202e\u{e0041}\u007fb";

test.concurrent("an answer of a form is the same JSON value, and nothing of it acts on a terminal", async () => {
  const answer = talked(JSON.stringify({ why: evil }));
  await using place = openPlace([answer, answer], { "form.json": '{"type": "object", "required": ["why"]}' });
  const { code, stdout } = await place.pai(["run", "--output-schema", "form.json", "why?"]);
  expect([code, JSON.parse(stdout), acting.test(stdout)]).toEqual([0, { why: evil }, false]);
});

test.concurrent("results of others are reported in visible characters", async () => {
  const told = { status: null, code: null, false_verified: false, promise_kept: null, calls: null, tokens: null };
  const counts = { cost: null, ms: 0, actions: null, added: null, deleted: null, refused: null, repeat: 0 };
  const check = { exit: null, ms: 0, output: evil };
  const names = { key: "k", task: evil, model: evil, mode: "auto", tampered: [evil], served: [evil], pai: evil };
  const result = { v: 1, passed: false, error: evil, check, ...names, ...told, ...counts };
  await using place = openPlace([], { "results.jsonl": `${JSON.stringify(result)}\n` });
  const { code, stdout } = await place.pai(["eval", "report", "results.jsonl"]);
  expect([code, stdout.includes("a\\x1b"), acting.test(stdout)]).toEqual([0, true, false]);
});

test.concurrent("a session in a folder of any name says it in visible characters", async () => {
  await using place = openPlace();
  mkdirSync(join(place.root, evil));
  const terminal = openRaw({ ...place, root: join(place.root, evil) }, [], { LANG: "C.UTF-8" });
  for (const [seen, typed] of [
    [/pai> /, "/diff"],
    [/changed nothing[\s\S]*pai> /, "exit"],
  ] as const) {
    await terminal.sees(seen);
    terminal.type(`${typed}\r`);
  }
  await terminal.exited;
  expect(terminal.shown()).not.toMatch(acting);
});
