/** Where a task may come from, without waiting for an input that was not asked for; and --output-schema: one JSON value and nothing else. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, planned, talked, write } from "../replies.ts";

const schema =
  '{"type":"object","properties":{"files":{"type":"array","items":{"type":"string"}}},"required":["files"]}';
const files = { "s.json": schema };
const run = ["run", "-y", "--output-schema", "s.json"];
const work = [planned(["WRITE a.txt"]), done(write("a.txt", "one\n"), "I wrote a.txt.")];

test.concurrent("the value alone, on one line, after a call that mends the answer", async () => {
  await using place = openPlace([...work, { text: '{"files": ["a.txt"]}' }], files);
  const { stdout, stderr, code } = await place.pai([...run, "write a.txt"]);
  expect([code, stdout, place.gemini.requests.length]).toEqual([0, '{"files":["a.txt"]}\n', 3]);
  expect(stderr).toContain("the answer does not fit the schema (it is not JSON): asking once more");
});

test.concurrent("an answer that never fits: 7, nothing on standard output, everything taken back, kept with --keep", async () => {
  const answers = [...work, { text: '{"files": "a.txt"}' }];
  await using place = openPlace([...answers, ...answers], files);
  const { stdout, stderr, code } = await place.pai([...run, "write a.txt"]);
  expect([code, stdout, Object.keys(place.tree())]).toEqual([7, "", ["s.json"]]);
  expect(stderr).toContain('answer/files: Instance type "string" is invalid. Expected "array".');
  await place.pai([...run, "--keep", "write a.txt"]);
  expect(Object.keys(place.tree())).toEqual(["a.txt", "s.json"]);
});

test.concurrent("with --json the document's text is the value, and the receipt plays it again", async () => {
  await using place = openPlace([talked("There are none."), { text: '{"files": []}' }], files);
  const outcome = readOutcome(await place.pai([...run, "--json", "which files?"]));
  expect([outcome.text, outcome.calls.made <= outcome.calls.at_most]).toEqual(['{"files":[]}', true]);
  expect((await place.pai(["replay", outcome.run ?? ""])).code).toBe(0);
});

test.concurrent("a file that is not a schema, or is missing, ends with 2 before any call", async () => {
  await using place = openPlace(work, { "bad.json": '{"type": "strng"}', "cut.json": "{" });
  for (const name of ["bad.json", "cut.json", "none.json"]) {
    const { stdout, stderr, code } = await place.pai(["run", "-y", "--output-schema", name, "write a.txt"]);
    expect([name, code, stdout]).toEqual([name, 2, ""]);
    expect(stderr).toContain("the output schema");
  }
  expect(place.gemini.requests).toHaveLength(0);
});

const reply = talked("Hello yourself.");

for (const [name, script] of [
  ["an empty device", '"$PAI" run "say hello" < /dev/null'],
  ["a closed descriptor", '"$PAI" run "say hello" <&-'],
  ["a file and --no-stdin", 'echo unwanted > ../spare/in; "$PAI" run --no-stdin "say hello" < ../spare/in'],
] as const) {
  test.concurrent(`a task argument beside ${name} is the whole task`, async () => {
    await using place = openPlace([reply]);
    const { code, stdout } = await place.shell(script);
    expect([code, stdout.trim()]).toEqual([0, "Hello yourself."]);
    expect(place.gemini.requests[0]?.body).not.toContain("unwanted");
  });
}

for (const [name, script] of [
  ["-", 'printf "say hello\\n" | "$PAI" run -'],
  ["- without run", 'printf "say hello\\n" | "$PAI" -'],
  ["a slow -", '{ printf "say "; sleep 0.3; echo hello; } | "$PAI" run -'],
  ["--file", 'echo "say hello" > t.txt; "$PAI" run --file t.txt'],
  ["-f without a command", 'echo "say hello" > t.txt; "$PAI" -f t.txt'],
  ["--file from the caller's folder, not -C", 'mkdir sub; echo "say hello" > t.txt; "$PAI" run -C sub --file=t.txt'],
] as const) {
  test.concurrent(`the task comes from ${name} (R14)`, async () => {
    await using place = openPlace([reply]);
    const { code, stdout } = await place.shell(script);
    expect([code, stdout.trim()]).toEqual([0, "Hello yourself."]);
    expect(place.gemini.requests[0]?.body).toContain("Request: say hello");
  });
}

test.concurrent("--stdin adds what is piped as context, fenced (R14)", async () => {
  await using place = openPlace([reply]);
  const { code } = await place.pai(["run", "--stdin", "explain this"], { stdin: "Traceback: line 7\n" });
  expect(code).toBe(0);
  expect(place.gemini.requests[0]?.body).toMatch(/<context>.{0,4}Traceback: line 7.{0,4}<\/context>/);
});

test.concurrent("over 8 MiB is refused before any call; standard input cannot be the task and its context", async () => {
  await using place = openPlace([reply]);
  const input = await place.shell('head -c 9000000 /dev/zero | tr "\\0" a | "$PAI" run --json -');
  expect(readOutcome(input).error).toMatchObject({ code: "usage" });
  const file = await place.shell('head -c 9000000 /dev/zero > big; "$PAI" run --json -f big');
  expect(readOutcome(file).error).toMatchObject({ code: "usage", message: "the task file is larger than 8 MiB" });
  expect((await place.pai(["run", "--stdin", "-"], { stdin: "x y" })).code).toBe(2);
  expect(place.gemini.requests).toHaveLength(0);
});

test.concurrent("a task that is not UTF-8 or holds NUL is still one task", async () => {
  await using place = openPlace([reply]);
  writeFileSync(join(place.root, "t.txt"), new Uint8Array([0x73, 0x61, 0x79, 0x20, 0xff, 0xfe, 0x00, 0x0a]));
  expect((await place.pai(["run", "-f", "t.txt"])).code).toBe(0);
});
