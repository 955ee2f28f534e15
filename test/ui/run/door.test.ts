/** One door to the terminal: no text of any event acts on it, whatever forgot to make it visible. */
import { expect, test } from "bun:test";
import type { RunEvent, StampedEvent } from "../../../src/core/event.ts";
import { renderAuditLines } from "../../../src/store/audit-lines.ts";
import { createJsonl } from "../../../src/ui/json.ts";
import { createTerminal } from "../../../src/ui/run/terminal.ts";
import { chooseStyle, ownCodes } from "../../../src/ui/style.ts";

/** Clipboard, screen, title, hidden text, text turned round, C1 controls, carriage return. */
const evil = "a\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[8m\x1b]0;t\x07\u202e\u200b\x9b2J\rb\u2028";
const base = { run: "r", seq: 1, at: "2026-01-01T00:00:00.000Z" };

const step = {
  step_number: 1,
  action: "WRITE",
  target: evil,
  destination: null,
  purpose: evil,
  depends_on: [],
  expected_outcome: evil,
};
const plan = {
  intent: "task",
  reply: evil,
  analysis: {
    files_to_read: [evil],
    files_to_create: [evil],
    files_to_modify: [evil],
    files_to_delete: [evil],
    risk_assessment: evil,
    success_criteria: [evil],
    target_identification: evil,
    dependencies: [evil],
  },
  execution_plan: { steps: [step], checks: [evil], fallback_strategies: [evil] },
  intelligence_notes: {
    complexity_assessment: evil,
    estimated_time: evil,
    key_challenges: [evil],
    recommendations: [evil],
  },
};
const summary = { path: evil, op: "modify", from: evil, added: 1, deleted: 1, before: "a", after: "b", by: "plan" };
const diff = `--- a/${evil}\n+++ b/${evil}\n@@ -1 +1 @@\n-${evil}\n+${evil}x\n`;
const promise = { expected: 2, at_most: 3, tokens: 10, cost: 0.1 };
const usage = { input: 1, cached: 0, output: 1, thought: 0 };

/** Every text of every event is hostile. */
const events = [
  { type: "run.started", v: 1, pai: evil, task: evil, mode: evil, model: evil, root: evil },
  { type: "notice", level: "warning", code: evil, text: evil },
  { type: "notice", level: "info", code: evil, text: evil },
  { type: "model.started", n: 1, purpose: "turn", model: evil, estimate: 10 },
  { type: "model.delta", n: 1, channel: "reply", text: evil },
  { type: "model.delta", n: 1, channel: "thought", text: evil },
  { type: "model.finished", n: 1, stop: "end", usage, served: evil, key: evil, ms: 1 },
  { type: "plan.ready", plan, promise, cached: false },
  { type: "call.started", id: evil, action: evil, target: evil },
  { type: "look.shown", action: evil, target: evil, text: evil },
  { type: "call.finished", id: evil, action: evil, target: evil, ok: true, text: `${evil}\n${evil}` },
  { type: "call.finished", id: evil, action: evil, target: evil, ok: false, text: evil },
  { type: "changes.proposed", batch: 1, changes: [summary], diff },
  { type: "changes.proposed", batch: 1, changes: [summary], diff: "" },
  { type: "changes.decided", batch: 1, changes: [summary], accept: false, by: "user" },
  { type: "changes.applied", batch: 1, changes: [summary] },
  { type: "check.started", when: "before", command: evil, by: "user" },
  {
    type: "check.finished",
    when: "before",
    command: evil,
    by: "user",
    exit: 1,
    ms: 1,
    passed: false,
    output: evil,
    note: evil,
  },
  {
    type: "check.finished",
    when: "after",
    command: evil,
    by: "plan",
    exit: 1,
    ms: 1,
    passed: false,
    output: evil,
    note: evil,
  },
  { type: "changes.rolled_back", batch: 0, changes: [summary] },
] as unknown as readonly RunEvent[];

/** What of a text would act: controls but LF and TAB, marks that hide or turn, codes that are not pai's own. */
function acting(text: string): string[] {
  const without = text.replace(/\x1b\[[\d;]*m/g, (code) => (ownCodes.has(code) ? "" : code));
  return [...without.matchAll(/[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g)].map(
    ([found]) => JSON.stringify(found),
  );
}

for (const color of [true, false]) {
  test(`nothing acts on the terminal, ${color ? "with" : "without"} colours`, () => {
    const style = chooseStyle({
      tty: color,
      env: { TERM: "xterm-256color", LANG: "C.UTF-8" },
      flags: { noColor: !color, plain: !color },
    });
    const found: Record<string, string[]> = {};
    for (const event of events) {
      let text = "";
      const write = (part: string) => {
        text += part;
      };
      const terminal = createTerminal({
        out: write,
        err: write,
        style,
        outStyle: style,
        columns: () => 80,
        verbose: true,
        quiet: false,
        live: false,
        screen: true,
        kind: "run",
        now: () => 0,
      });
      terminal.sink({ ...event, ...base } as StampedEvent);
      terminal.pause();
      if (acting(text).length > 0) found[event.type] = acting(text);
    }
    expect(found).toEqual({});
  });
}

test("nothing acts in a stream of events or in the log", () => {
  let text = "";
  const jsonl = createJsonl((line) => {
    text += line;
  });
  for (const event of events) {
    const stamped = { ...event, ...base } as StampedEvent;
    jsonl(stamped);
    text += renderAuditLines(stamped);
  }
  expect(acting(text)).toEqual([]);
});
