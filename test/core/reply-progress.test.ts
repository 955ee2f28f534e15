/** How far a reply has come, whatever pieces it arrives in. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Purpose } from "../../src/core/model.ts";
import { readProgress } from "../../src/core/reply-progress.ts";

/** Pieces of one to ten characters. */
function readIn(purpose: Purpose, text: string, size: number) {
  const progress = readProgress(purpose);
  for (let at = 0; at < text.length; at += size) progress.push("text", text.slice(at, at + size));
  return progress.read();
}

const plan = JSON.stringify({
  intent: "task",
  reply: 'I set "action" first',
  execution_plan: { steps: [1, 2, 3].map((step) => ({ step, action: "MODIFY", target: "a" })) },
});
const script = "I begin.\nWRITE::src/a.ts::EOT\none\ntwo\nEND::EOT\nMODIFY::src/b.ts::EOT\nx\ny\nz\n";

test("steps of a plan and lines of a file are counted however the reply is cut", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), (size) => {
      expect(readIn("plan", plan, size)).toEqual({ thought: 0, step: 3, file: null });
      expect(readIn("execute", script, size)).toEqual({ thought: 0, step: null, file: { path: "src/b.ts", lines: 3 } });
      expect(readIn("turn", script, size)).toEqual({ thought: 0, step: null, file: null });
    }),
  );
});

test("the end of a file is neither a line nor a file, and a message is not a file", () => {
  const file = (text: string) => readIn("execute", text, 7).file;
  expect(file("WRITE::a.ts::EOT\none\nEND::EOT\n")).toEqual({ path: "a.ts", lines: 1 });
  expect(file("WRITE::a.ts::EOT\none\nEND::EOT\nFINISH::EOT\nDone.\n")).toBeNull();
  expect(file("WRITE::a.ts::EOT\none\nEND::EOT\nRM::b.ts\n")).toBeNull();
});

test("thoughts are counted in tokens until the reply begins", () => {
  const progress = readProgress("plan");
  progress.push("thought", "x".repeat(400));
  expect(progress.read()).toEqual({ thought: 100, step: null, file: null });
  progress.push("text", "{");
  expect(progress.read().thought).toBe(0);
});
