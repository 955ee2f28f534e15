/** --output-schema: standard output holds one JSON value of the schema and nothing else. */
import { expect, test } from "bun:test";
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
