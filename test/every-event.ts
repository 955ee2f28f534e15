/** One event of every kind with one text in every place that holds any: whoever adds an event or a field must add it here, or the types do not fit. */
import type { RunEvent, StampedEvent } from "../src/core/event.ts";
import type { Message } from "../src/core/model.ts";
import type { ChangeSummary, CheckResult, Outcome } from "../src/core/outcome.ts";
import type { Plan } from "../src/core/plan/plan.ts";

declare const marked: unique symbol;
/** The text that a test looks for. No other text fits where any text may stand. */
export type Probe = string & { readonly [marked]: true };

/** The same data with a probe for every text, nothing left out, nothing null and no list empty. Words of a closed list stay. */
type Filled<T> = T extends string
  ? string extends T
    ? Probe
    : T
  : T extends readonly (infer Item)[]
    ? readonly [Filled<Item>, ...Filled<Item>[]]
    : T extends object
      ? { readonly [Key in keyof T]-?: Filled<Exclude<T[Key], null | undefined>> }
      : T;

type EventOf<T extends RunEvent["type"]> = Extract<RunEvent, { readonly type: T }>;
const usage = { input: 1, cached: 0, written: 1, output: 1, thought: 0 };

const stepOf = (step_number: number, action: "MV" | "RUN", text: Probe) => ({
  ...{ step_number, action, target: text, destination: text },
  ...{ purpose: text, depends_on: [1] as const, expected_outcome: text },
});
const planOf = (text: Probe): Filled<Plan> => ({
  ...{ intent: "task", reply: text },
  analysis: {
    ...{ user_intent: text, target_identification: text, risk_assessment: text, success_criteria: [text] },
    ...{ files_to_read: [text], files_to_create: [text], files_to_modify: [text], files_to_delete: [text] },
  },
  execution_plan: {
    ...{ steps: [stepOf(1, "MV", text), stepOf(2, "RUN", text)], checks: [text], fallback_strategies: [text] },
  },
  intelligence_notes: {
    ...{ complexity_assessment: "simple", estimated_time: text, key_challenges: [text], recommendations: [text] },
  },
});

const changeOf = (text: Probe): Filled<ChangeSummary> => ({
  ...{ path: text, op: "move", from: text, added: 1, deleted: 1, before: text, after: text, by: "command" },
});
const checkOf = (text: Probe): Filled<CheckResult> => ({
  ...{ command: text, by: "user", exit: 1, ms: 1, passed: false, note: text },
});
const amendedOf = (text: Probe) =>
  ({ action: text, path: text, destination: text, why: text, accept: true, implicit: true, by: "user" }) as const;

export const outcomeOf = (text: Probe): Filled<Outcome> => ({
  v: 2,
  ok: false,
  command: text,
  run: text,
  mode: text,
  status: "failed",
  code: 9,
  text,
  next: [text],
  plan: planOf(text),
  changes: [changeOf(text)],
  dry_run: true,
  diff: diffOf(text),
  checks: [checkOf(text)],
  calls: { made: 1, sent: 1, expected: 2, at_most: 3 },
  usage: { ...usage, weighed: 1200 },
  cost: 0.1,
  model: { requested: text, served: [text], key: text },
  score: 1,
  ms: 1,
  actions: { done: 1, failed: 1, refused: 1 },
  looks: 1,
  amended: [amendedOf(text)],
  refused: [{ action: text, target: text, why: text }],
  sandbox: "full",
  stays: { count: 2, paths: [text] },
  merged: [text],
  overwritten: [text],
  lost: [text],
  checked: [text],
  // biome-ignore lint/suspicious/noThenProperty: the name is a contract, and its value no function
  then: [{ command: text, exit: 0, ms: 0 }],
  commit: text,
  undone: [{ action: text, target: text, why: text }],
  claimed: text,
  rolled_back: { diff: diffOf(text), paths: [text], by: "others" },
  proves: "change",
  skipped: [{ target: text, why: text }],
  corrections: [{ about: "plan", words: text }],
  declined: { diff: diffOf(text), paths: [text] },
  keep: true,
  left: [text],
  commands: [{ command: text, exit: 1, ms: 1, ended: "exit", kept: false }],
  planned: true,
  unsettled: [text],
  error: { code: "internal", message: text, hint: text, retry_after: 1 },
});

/** A diff of a file of that name and content. */
const diffOf = (text: Probe) => `--- a/${text}\n+++ b/${text}\n@@ -1 +1 @@\n-${text}\n+${text}x\n` as Probe;

const messagesOf = (text: Probe) =>
  [
    { role: "user", text },
    {
      role: "assistant",
      text,
      calls: [{ id: text, name: text, input: { path: text, list: [text] } }],
      native: { model: text, content: [text] },
    },
    { role: "tools", results: [{ id: text, name: text, ok: false, text }] },
  ] as const satisfies readonly Message[];

/** Every kind, and of a kind every word of its closed lists that another branch could be taken for. */
function filled(text: Probe): { readonly [T in RunEvent["type"]]: readonly [unknown, ...unknown[]] } {
  const [change, check, messages] = [changeOf(text), checkOf(text), messagesOf(text)];
  const all: {
    readonly [T in Exclude<RunEvent["type"], "message.added" | "conversation.replaced" | "files.known">]: readonly [
      Omit<Filled<EventOf<T>>, "type">,
      ...Omit<Filled<EventOf<T>>, "type">[],
    ];
  } = {
    "run.started": [{ v: 1, pai: text, task: text, mode: text, model: text, root: text }],
    "plan.ready": [
      {
        plan: planOf(text),
        promise: { expected: 2, at_most: 3, tokens: 10, weighed: 1000, cost: 0.1 },
        cached: true,
        at_once: true,
        guides: [text],
        permitted: [{ command: text, pattern: text }],
        concerns: [{ path: text, why: text }],
      },
    ],
    "plan.amended": [amendedOf(text), { ...amendedOf(text), accept: false }],
    "memory.kept": [
      {
        facts: [
          { id: text, text, pending: true },
          { id: text, text, pending: false },
        ],
      },
    ],
    "model.started": [{ n: 1, purpose: "plan", model: text, estimate: 10, at_most: 3 }],
    "model.delta": [
      { n: 1, channel: "reply", text },
      { n: 1, channel: "thought", text },
      { n: 1, channel: "text", text },
    ],
    "model.progress": [{ n: 1, replied: true, thought: 0, lines: 1 }],
    "command.output": [{ lines: text }],
    "model.finished": [{ n: 1, stop: "failed", usage, served: text, key: text, ms: 1 }],
    "phase.started": [{ phase: 1, of: 2 }],
    "step.started": [{ step: 1, of: 8, title: text, text }],
    "call.started": [{ id: text, action: text, target: text }],
    "call.finished": [
      { id: text, action: text, target: text, ok: true, text },
      { id: text, action: text, target: text, ok: false, text },
    ],
    "changes.proposed": [
      { batch: 1, changes: [change], asked: true, seen: false, diff: diffOf(text) },
      { batch: 1, changes: [change], asked: true, seen: true, diff: text },
    ],
    "changes.decided": [
      { batch: 1, changes: [change], accept: true, by: "user", words: text },
      { batch: 1, changes: [change], accept: false, by: "policy", words: text },
    ],
    "changes.applied": [{ batch: 1, changes: [change] }],
    "changes.rolled_back": [{ batch: 1, changes: [change] }],
    "check.started": [{ when: "before", command: text, by: "plan" }],
    "check.finished": [
      { when: "before", output: text, ...check },
      { when: "after", output: text, ...check },
      { when: "after", output: text, ...check, passed: true },
    ],
    "budget.updated": [{ calls: 1, tokens: 1, cost: 0.1 }],
    notice: [
      { level: "info", code: text, text, details: text, wait: { why: text, seconds: 1, attempt: 1, of: 2 } },
      { level: "warning", code: text, text, details: text, wait: { why: text, seconds: 1, attempt: 1, of: 2 } },
    ],
    "tasks.updated": [{ tasks: [{ id: 1, content: text, description: text, active_form: text, status: "pending" }] }],
    "look.shown": [{ action: text, target: text, text }],
    "context.sent": [{ files: [{ path: text, sha256: text, bytes: 1 }] }],
    "run.finished": [{ outcome: outcomeOf(text) }],
  };
  return {
    ...all,
    "message.added": [{ message: messages[0] }, { message: messages[1] }, { message: messages[2] }],
    "conversation.replaced": [{ messages }],
    "files.known": [{ files: { "a.txt": "a".repeat(64) } }],
  };
}

/** The events of a whole run that says nothing but this text, stamped. */
export function everyEvent(text: string): readonly StampedEvent[] {
  const kinds = Object.entries(filled(text as Probe));
  return kinds.flatMap(([type, all]) =>
    all.map((event) => ({ type, ...(event as object), run: "r", seq: 1, at: "2026-01-01T00:00:00.000Z" })),
  ) as unknown as readonly StampedEvent[];
}
