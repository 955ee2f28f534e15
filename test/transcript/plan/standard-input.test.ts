/** Where a task may come from; pai never waits for a standard input that it was not asked to read. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { talked } from "../replies.ts";

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

test.concurrent("standard input over 8 MiB is refused before any call", async () => {
  await using place = openPlace([reply]);
  const result = await place.shell('head -c 9000000 /dev/zero | tr "\\0" a | "$PAI" run --json -');
  expect(readOutcome(result).error).toMatchObject({ code: "usage" });
  expect(place.gemini.requests).toHaveLength(0);
});

test.concurrent("so is a task file", async () => {
  await using place = openPlace([reply]);
  const result = await place.shell('head -c 9000000 /dev/zero > big; "$PAI" run --json -f big');
  expect(readOutcome(result).error).toMatchObject({ code: "usage", message: "the task file is larger than 8 MiB" });
});

test.concurrent("standard input cannot be the task and its context", async () => {
  await using place = openPlace([reply]);
  expect((await place.pai(["run", "--stdin", "-"], { stdin: "x y" })).code).toBe(2);
});

test.concurrent("a task that is not UTF-8 or holds NUL is still one task", async () => {
  await using place = openPlace([reply]);
  writeFileSync(join(place.root, "t.txt"), new Uint8Array([0x73, 0x61, 0x79, 0x20, 0xff, 0xfe, 0x00, 0x0a]));
  expect((await place.pai(["run", "-f", "t.txt"])).code).toBe(0);
});
