/** The person at the terminal: a yes that wants to see the diff first; and requests nobody would agree to unasked. */
import { expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import { finish, modify, planTo, talk } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { "a.txt": "one\n" };
const lines = [planTo("MODIFY a.txt"), modify("a.txt", ["one\n", "two\n"]) + finish()];

test.each([
  ["yes", 0, { "a.txt": "two\n" }],
  ["no", 10, files],
] as const)("a yes that wants the diff first is asked once more: %s", async (answer, code, left) => {
  const ran = await play({ files, lines, options: { interactive: true }, answers: ["review", answer] });
  expect([ran.questions.map(({ kind }) => kind), ran.outcome.code, ran.files]).toEqual([["plan", "batch"], code, left]);
});

test("a request over 200,000 tokens needs --max-tokens where nobody can be asked", async () => {
  const task = "word ".repeat(200_000);
  const refused = await play({ lines: [], task });
  expect([refused.requests.length, refused.outcome.code]).toEqual([0, 13]);
  expect(refused.outcome.error?.hint).toContain("--max-tokens");
  const options = { caps: { calls: null, tokens: 900_000, cost: null } };
  const allowed = await play({ lines: [talk("Words.")], task, options });
  expect(allowed.outcome.code).toBe(0);
});

test("the size of a first request that is large, though nobody need be asked, is told", async () => {
  const told = async (words: number) => {
    const ran = await play({ lines: [talk("Words.")], task: "word ".repeat(words) });
    return ran.notices("large_request");
  };
  expect(await told(100)).toEqual([]);
  expect(await told(60_000)).toEqual([expect.stringMatching(/^this request has about \d{2,3},\d{3} tokens$/)]);
});

test("at a terminal such a request is asked about once, with its size and price, and not sent after a no", async () => {
  const task = "word ".repeat(200_000);
  const large = { task, price: { input: 0.3, cached: 0.03, output: 1 }, options: { interactive: true } };
  const sent = await play({ ...large, lines: ["", talk("Words.")], answers: "yes" });
  expect(sent.questions.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^This request has about \d{3},\d{3} tokens \(\$0\.\d\d or more\)\. Send it\?$/),
  ]);
  expect([sent.outcome.code, sent.requests.length]).toEqual([0, 2]);
  expect(sent.eventsOf("notice").map(({ code }) => code)).not.toContain("large_request");
  const declined = await play({ ...large, lines: [], answers: ["no"] });
  expect([declined.outcome.code, declined.requests.length]).toEqual([10, 0]);
  expect(declined.outcome.error?.hint).toContain("--max-tokens");
});

test("a person who stops at the question whether the changes stay has kept nothing", async () => {
  const ran = await play({
    files,
    lines: [...lines, finish()],
    options: { interactive: true, checks: ["false"] },
    answers: "yes",
    onQuestion: ({ kind }) => {
      if (kind === "keep") throw new PaiError("interrupted", "interrupted at a question");
    },
  });
  expect(ran.outcome).toMatchObject({ code: 9, changes: [], rolled_back: { paths: ["a.txt"] } });
  expect(ran.outcome.keep).toBeUndefined();
  expect(ran.files).toEqual(files);
});
