/** A run as the terminal sees it: events, outcome, and a terminal that remembers what went where. */

import { exitCodes, PaiError, toFailure } from "../../src/core/error.ts";
import type { RunEvent, StampedEvent } from "../../src/core/event.ts";
import { failedOutcome, type Outcome } from "../../src/core/outcome.ts";
import type { Plan } from "../../src/core/plan/plan.ts";
import { createTerminal, type TerminalOptions } from "../../src/ui/run/terminal.ts";
import { chooseStyle } from "../../src/ui/style.ts";
import { planOf } from "../flows/plans.ts";

const planned = planOf({
  steps: [
    "READ src/main.py",
    "WRITE src/lib/a/very/deep/folder/area_of_things.py",
    "MODIFY src/資料/main.py",
    "FINISH",
  ],
  reply: "Saya pindahkan rumusnya ke src/lib/area.py, lalu saya periksa.",
  checks: ["python -m py_compile src/main.py", "pytest -q"],
});
const purposes = [
  "See how the formula is used today",
  "The formula in one place",
  "面積の計算式を共有モジュールから取り込むように変更する",
  "Report",
];
const steps = (planned.execution_plan?.steps ?? []).map((step, at) => ({ ...step, purpose: purposes[at] ?? "" }));

export const plan: Plan = {
  ...planned,
  analysis: {
    ...{ user_intent: "", target_identification: "", success_criteria: [] },
    ...{ files_to_read: ["src/main.py"], files_to_create: ["src/lib/area.py"] },
    ...{ files_to_modify: ["src/main.py"], files_to_delete: [] },
    risk_assessment: "Low: one import changes, the printed value stays the same",
  },
  execution_plan: { steps, checks: planned.execution_plan?.checks ?? [], fallback_strategies: [] },
  intelligence_notes: null,
};

export const promise = { expected: 2, at_most: 3, tokens: 1900, cost: null };

export const diff = `diff --git a/src/main.py b/src/main.py
--- a/src/main.py
+++ b/src/main.py
@@ -1,2 +1,2 @@
-from math import pi
+from lib.area import area
 print("\x1b]52;c;aGk=\x07")
`;

const sum = "0".repeat(64);
const usage = { input: 1204, cached: 0, output: 380, thought: 0 };
const check = { command: "pytest -q", by: "user", exit: 0, ms: 840, passed: true } as const;
const made = { path: "src/lib/area.py", op: "create", from: null, added: 5, deleted: 0, before: null } as const;
const modified = { path: "src/main.py", op: "modify", from: null, added: 1, deleted: 1, before: sum } as const;
const changes = [made, modified].map((each) => ({ ...each, after: sum, by: "plan" as const }));

export const outcome: Outcome = {
  ...{ ...failedOutcome("run", toFailure(new PaiError("failed", ""))), ok: true, error: null, code: 0 },
  ...{ run: "20261121-230000-ab12", status: "verified" },
  text: "Rumusnya sekarang ada di src/lib/area.py.",
  next: ["Tambahkan tes untuk area()", "Type the arguments"],
  plan,
  changes,
  diff,
  checks: [check],
  calls: { made: 2, expected: 2, at_most: 3 },
  usage: { input: 2408, cached: 0, output: 760, thought: 0 },
  model: { requested: "gemini:gemini-3.5-flash-lite", served: ["gemini-3.5-flash-lite"], key: "primary" },
  ...{ ms: 4200, actions: { done: 2, failed: 0, refused: 0 }, looks: 1 },
};

/** The outcome of a run that failed so: it said, changed and checked nothing, but for what is given. */
export const failed = (error: PaiError, more: Partial<Outcome> = {}): Outcome => ({
  ...{ ...outcome, ok: false, status: "failed", code: exitCodes[error.code], error: toFailure(error) },
  ...{ text: "", changes: [], checks: [], next: [], ...more },
});

export function stamp(events: readonly RunEvent[]): StampedEvent[] {
  return events.map((event, index) => ({ ...event, run: "r1", seq: index + 1, at: "2026-11-21T23:00:00Z" }));
}

const model = "gemini:gemini-3.5-flash-lite";
const finished = { type: "model.finished", stop: "end", usage, served: model, key: "primary", ms: 2100 } as const;

export const events = stamp([
  { type: "run.started", v: 1, pai: "0.1.0", task: "move it", mode: "single-shot", model, root: "/p" },
  { type: "model.started", n: 1, purpose: "plan", model, estimate: 1200 },
  { type: "model.delta", n: 1, channel: "reply", text: "Saya pindahkan rumus" },
  { type: "model.delta", n: 1, channel: "reply", text: "nya ke src/lib/area.py, lalu saya periksa." },
  { ...finished, n: 1 },
  { type: "call.started", id: "1", action: "READ", target: "src/main.py" },
  { type: "look.shown", action: "READ", target: "src/main.py", text: "1 from math import pi\n2 print(pi)" },
  { type: "call.finished", id: "1", action: "READ", target: "src/main.py", ok: true, text: "2 lines" },
  { type: "plan.ready", plan, promise, cached: false },
  { type: "phase.started", phase: 1, of: 2 },
  { type: "model.started", n: 2, purpose: "execute", model, estimate: 1500 },
  { type: "notice", level: "warning", code: "waiting", text: "the provider is busy (503): trying again in 2 s" },
  { type: "model.delta", n: 2, channel: "text", text: "WRITE::src/lib/area.py::EOT\nsecret content\nEND::EOT\n" },
  { ...finished, n: 2 },
  { type: "call.finished", id: "2", action: "WRITE", target: "src/lib/area.py", ok: true, text: "new file, 5 lines" },
  { type: "call.finished", id: "3", action: "MODIFY", target: "src/main.py", ok: false, text: "search text not found" },
  { type: "changes.proposed", batch: 1, changes, diff },
  { type: "changes.decided", batch: 1, changes, accept: true, by: "policy" },
  { type: "changes.applied", batch: 1, changes },
  { type: "check.finished", note: "", when: "after", output: "F\nassert 1 == 2\n", ...check, exit: 1, passed: false },
  { type: "check.finished", note: "", when: "after", output: "", ...check },
  { type: "budget.updated", calls: 2, tokens: 3168, cost: null },
  { type: "run.finished", outcome },
]);

export function styleOf(tty: boolean, bare = true) {
  return chooseStyle({ tty, env: { TERM: "xterm", LANG: "C.UTF-8", NO_COLOR: bare ? "1" : "" }, plain: false });
}

/** What a terminal needs to be told, in colours or not: all that is optional is off. */
const optionsOf = (tty: boolean) => ({
  ...{ style: styleOf(tty), outStyle: styleOf(tty), columns: () => 80, now: () => 0, kind: "run" as const },
  ...{ verbose: false, quiet: false, live: false, screen: true },
});

/** A terminal that writes both of its streams in one place. */
export const openTerminal = (write: (text: string) => void, options: Partial<TerminalOptions>) =>
  createTerminal({ ...optionsOf(true), out: write, err: write, ...options });

/** Runs the events through a terminal; `screen` is what a person sees, `out` and `err` what each stream got. */
export function show(
  tty: boolean,
  options: Partial<TerminalOptions> = {},
  run: { readonly events: readonly StampedEvent[]; readonly outcome: Outcome } = { events, outcome },
) {
  const seen = { out: "", err: "", screen: "" };
  const writer = (stream: "out" | "err") => (text: string) => {
    seen[stream] += text;
    seen.screen += text;
  };
  const streams = { out: writer("out"), err: writer("err"), screen: tty };
  const terminal = createTerminal({ ...optionsOf(tty), ...streams, ...options });
  for (const event of run.events) terminal.sink(event);
  terminal.finish(run.outcome);
  return seen;
}

/** What a person sees of the end of a run. */
export const endOf = (ended: Outcome, options: Partial<TerminalOptions> = {}) =>
  show(true, options, { events: [], outcome: ended }).screen;

/** A terminal that takes one event after the other, and what it wrote on standard error. */
export function watch(options: Partial<TerminalOptions>) {
  const writes: string[] = [];
  const streams = { out: () => {}, err: (text: string) => writes.push(text), columns: () => 40 };
  return { terminal: createTerminal({ ...optionsOf(true), ...streams, ...options }), writes };
}
