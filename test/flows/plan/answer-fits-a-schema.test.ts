/** --output-schema: the answer is JSON of the schema, or one more call of the promise makes it so. */
import { expect, test } from "bun:test";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { singleShot } from "../../../src/flows/single-shot.ts";
import { playLoop } from "../loop.ts";
import { modify, planTo, talk } from "../plans.ts";
import { capOf, play } from "../scripted.ts";

const outputSchema =
  '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}';
const options = { outputSchema };
const files = { "a.txt": "one\n" };
const finish = (text: string) => `FINISH::EOT\n${text}\nEND::EOT\n`;
const change = modify("a.txt", ["one\n", "two\n"]);
const steps = [planTo("MODIFY a.txt")];

test("an answer that fits takes no further call, in a fence or with words around it", async () => {
  for (const said of ['{"n": 1}', '```json\n{"n": 1}\n```', 'Here it is: {"n": 1} Done.']) {
    const ran = await play({ files, lines: [...steps, change + finish(said)], options });
    expect([ran.outcome.code, ran.outcome.text, ran.outcome.calls.made]).toEqual([0, '{"n":1}', 2]);
  }
  expect((await play({ lines: [talk('{"n":2}')], options })).outcome.text).toBe('{"n":2}');
  expect((await playLoop(['{"n":3}'], { options })).outcome.text).toBe('{"n":3}');
});

test("the value itself, in place of a plan, is the answer in one call", async () => {
  const answered = '{"n": 1}';
  for (const said of [answered, `\`\`\`json\n${answered}\n\`\`\``, `Here it is:\n${answered}`])
    for (const how of [{}, { interactive: true, atOnce: "always" as const }, { mode: "eight-step" as const }]) {
      const flow = "mode" in how ? eightStep : singleShot;
      const ran = await play({ flow, files, lines: [said], options: { ...options, ...how } });
      expect([said, how, ran.outcome.code, ran.outcome.text]).toEqual([said, how, 0, '{"n":1}']);
      expect(ran.outcome.calls.made).toBe(1);
    }
  const list = { outputSchema: '{"type":"array","items":{"type":"integer"}}' };
  for (const how of [{}, { interactive: true, atOnce: "always" as const }])
    expect((await play({ files, lines: ["[1, 2]"], options: { ...list, ...how } })).outcome.text).toBe("[1,2]");
});

test("a value that names an intent or steps of its own is the answer, a plan of work is not, whatever the schema", async () => {
  const intent = { outputSchema: '{"type":"object","properties":{"intent":{"enum":["refund"]}}}' };
  expect((await play({ lines: ['{"intent":"refund"}'], options: intent })).outcome.text).toBe('{"intent":"refund"}');
  const any = { outputSchema: '{"type":"object"}' };
  const ran = await play({ files, lines: [...steps, change + finish('{"n": 1}')], options: any });
  expect([ran.outcome.text, ran.files["a.txt"]]).toEqual(['{"n":1}', "two\n"]);
  expect((await play({ lines: [talk('{"n":2}')], options: any })).outcome.text).toBe('{"n":2}');
});

test("every call that may end the run is told the schema", async () => {
  const ran = await play({ files, lines: [...steps, change + finish('{"n": 1}')], options });
  for (const n of [1, 2]) expect(ran.told(n)).toContain(outputSchema);
  const free = await play({ files, lines: [...steps, change + finish("Done.")] });
  for (const n of [1, 2]) expect(free.asked(n)).not.toContain("JSON Schema");
});

test("one that does not fit is asked for once more, with the reason and what was changed, within the promise", async () => {
  const ran = await play({ files, lines: [...steps, change + finish("Two now."), '{"n": 2}'], options });
  expect(ran.outcome).toMatchObject({ code: 0, text: '{"n":2}', calls: { made: 3, at_most: 4 } });
  for (const part of ["it is not JSON", "Two now.", "+two", outputSchema]) expect(ran.asked(3)).toContain(part);
  expect(ran.eventsOf("notice").map(({ code }) => code)).toContain("answer_unusable");
  const free = await play({ files, lines: [...steps, change + finish("Two now.")] });
  expect(free.outcome.calls.at_most).toBe(3);
});

test("the call for it is kept back: other repairs cannot take it", async () => {
  const lines = ["no plan", ...steps, change + finish("Two."), '{"n": 2}'];
  const ran = await play({ files, lines, options });
  expect(ran.outcome.calls.made).toBeLessThanOrEqual(ran.outcome.calls.at_most);
  expect([ran.outcome.code, ran.outcome.text]).toEqual([0, '{"n":2}']);
});

test("one that never fits fails the run, which is taken back", async () => {
  const ran = await play({ files, lines: [...steps, change + finish("Two."), '{"n": "two"}'], options });
  expect(ran.outcome).toMatchObject({ ok: false, code: 7, error: { code: "reply_invalid" } });
  expect([ran.outcome.error?.message, ran.files]).toEqual([expect.stringContaining("answer/n: "), files]);
});

test("a cap on calls that leaves none ends it with what was wrong", async () => {
  const capped = { ...options, ...capOf(2) };
  const { outcome } = await play({ files, lines: [...steps, change + finish("Two.")], options: capped });
  const message = "the answer does not fit the schema: it is not JSON";
  expect(outcome).toMatchObject({ code: 7, error: { message } });
});

test("the summary of eight-step is the answer", async () => {
  const inSteps = { ...options, mode: "eight-step" };
  const ran = await play({ flow: eightStep, files, lines: [talk('{"n":4}')], options: inSteps });
  expect([ran.outcome.code, ran.outcome.text]).toEqual([0, '{"n":4}']);
});
