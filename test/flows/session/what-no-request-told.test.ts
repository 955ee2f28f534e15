/** A turn that ends before any request leaves to the next one what it would have told. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../../src/core/model.ts";
import { plan, planOf, talk } from "../plans.ts";
import { openTurns } from "../turns.ts";

const interactive = { interactive: true } as const;

test("a waiting plan that is declined swallows neither the user's command nor the change of a file by hand", async () => {
  const turns = openTurns({ "a.txt": "one\ntwo\n" });
  const made = { steps: ["MODIFY a.txt"] };
  const first = await turns.say("make it a number", { lines: [plan(made)], options: interactive, answers: ["no"] });
  expect(first.requests).toHaveLength(1);
  writeFileSync(join(turns.root, "a.txt"), "uno\ntwo\n");
  const text = "the user ran $ echo banana (exit 0)\nbanana";
  turns.open.add({ type: "session.noted", at: "", what: "command", run: null, text });
  const again = await turns.say("make it a number", {
    lines: [],
    options: interactive,
    answers: ["no"],
    planCache: { load: () => planOf(made) as unknown as Json, save: () => {} },
  });
  expect(again.requests).toHaveLength(0);
  expect(again.outcome.error?.code).toBe("declined");
  expect(turns.open.session.pending.map((each) => each.text)).toEqual([text]);
  const next = await turns.say("what changed?", { lines: [talk("a.txt.")], options: interactive, answers: [] });
  expect(next.requests[0]?.messages).toHaveLength(3);
  expect(next.past.match(/not applied, the user declined/g)).toHaveLength(2);
  expect(next.asked(1)).toContain('<diff since="shown">');
  expect(next.asked(1)).toContain("+uno");
});
