/** Failures of a task under way: replies, edits, checks, approval, plans, policy, budget. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Failing, refused, task } from "./failing.ts";
import type { Place } from "./harness.ts";
import { done, hello, modify, planned, write } from "./replies.ts";

/** Saves a plan for `hello.txt` beside the project. */
async function save(place: Place): Promise<void> {
  const { code, stderr } = await place.pai(["plan", "-o", "../spare/plan.json", "make hello.txt"]);
  if (code !== 0) throw new Error(`no plan was saved: ${stderr}`);
}

const apply = ["apply", "-y", "../spare/plan.json"] as const;
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`).join("");

const safety = { text: "", stop: "SAFETY" };
const nonsense = { text: "I had rather talk about the weather." };
const early = { text: '{"intent": "task", "rep', stop: null };

const replies: readonly Failing[] = [
  { name: "a rejected request", code: 7, error: "request_rejected", args: task, answers: [refused(400)], calls: 1 },
  { name: "a blocked reply", code: 7, error: "reply_blocked", args: task, answers: [safety], calls: 1 },
  {
    name: "an empty reply",
    code: 7,
    error: "reply_empty",
    args: task,
    answers: [{ text: "" }, { text: "" }, { text: "" }],
  },
  { name: "a plan that is none", code: 7, error: "reply_invalid", args: task, answers: [nonsense, nonsense, nonsense] },
  { name: "a reply that ends too early", code: 7, error: "reply_cut", args: task, answers: [early, early, early] },
  {
    name: "an edit that matches nothing",
    code: 8,
    error: "edit_failed",
    args: task,
    files: { "a.txt": "one\n" },
    answers: [
      planned([["MODIFY", "a.txt"]]),
      done(modify("a.txt", "two\n", "three\n")),
      done(modify("a.txt", "two\n", "3\n")),
    ],
    calls: 3,
  },
  {
    name: "a promise that is not kept",
    code: 8,
    error: "nothing_done",
    args: task,
    answers: [planned([["WRITE", "hello.txt"]]), done(""), done("")],
    calls: 3,
  },
  {
    name: "a step that is left undone beside work that is done",
    code: 15,
    error: "partial",
    args: task,
    answers: [
      planned([
        ["WRITE", "hello.txt"],
        ["WRITE", "more.txt"],
      ]),
      done(write("hello.txt", "hi\n")),
      done(""),
    ],
    calls: 3,
    changesTree: true,
    check: ({ undone }) => expect(undone).toEqual([{ action: "WRITE", target: "more.txt", why: "no reply did it" }]),
  },
  {
    name: "a file that would lose most of its lines",
    code: 8,
    error: "guard_refused",
    args: task,
    files: { "long.txt": lines(600) },
    answers: [
      planned([["MODIFY", "long.txt"]]),
      done(write("long.txt", "short\n")),
      done(write("long.txt", "short\n")),
    ],
  },
];

const judged: readonly Failing[] = [
  {
    name: "a failing check",
    code: 9,
    error: "check_failed",
    args: [...task, "--check", "false"],
    answers: [...hello, done("")],
    check({ checks, error }) {
      expect(checks).toMatchObject([{ command: "false", exit: 1, passed: false }]);
      expect(error?.hint).toContain("--keep");
    },
  },
  {
    name: "a plan nobody approved",
    code: 10,
    error: "approval_needed",
    args: ["run", "make hello.txt"],
    answers: hello,
    calls: 1,
    check: ({ plan }) => expect(plan?.execution_plan?.steps).toHaveLength(1),
  },
  {
    name: "a stale plan",
    code: 11,
    error: "plan_stale",
    args: apply,
    answers: hello,
    prepare: async (place) => {
      await save(place);
      writeFileSync(join(place.root, "hello.txt"), "mine\n");
    },
    calls: 1,
  },
];

const policy: readonly Failing[] = [
  {
    name: "a plan that leaves the project",
    code: 12,
    error: "path_refused",
    args: task,
    answers: [planned([["WRITE", "../outside.txt"]])],
    calls: 1,
  },
  {
    name: "a deletion without leave",
    code: 12,
    error: "delete_refused",
    args: task,
    files: { "a.txt": "one\n" },
    answers: [planned([["RM", "a.txt"]])],
    calls: 1,
  },
  {
    name: "a plan outside --only",
    code: 12,
    error: "scope_refused",
    args: [...task, "--only", "src/**"],
    answers: hello,
    calls: 1,
  },
  {
    name: "a secret in a file",
    code: 12,
    error: "secret_refused",
    args: task,
    answers: [
      planned([["WRITE", "hello.txt"]]),
      done(write("hello.txt", "token = ghp_9aZ8bY7cX6dW5eV4fU3gT2hS1iR0jQ9kP8lO\n")),
      done(write("hello.txt", "token = ghp_9aZ8bY7cX6dW5eV4fU3gT2hS1iR0jQ9kP8lO\n")),
    ],
  },
  {
    name: "the home folder as project",
    code: 12,
    error: "root_refused",
    args: task,
    options: ({ root }) => ({ env: { HOME: root } }),
    calls: 0,
  },
];

const budget: readonly Failing[] = [
  {
    name: "a cap on calls",
    code: 13,
    error: "budget_calls",
    args: [...task, "--max-calls", "2"],
    answers: [planned([["WRITE", "hello.txt"]]), { text: "" }, { text: "" }],
    calls: 2,
  },
  { name: "a cap on tokens", code: 13, error: "budget_tokens", args: [...task, "--max-tokens", "10"], calls: 0 },
  { name: "a cap on cost", code: 13, error: "budget_cost", args: [...task, "--max-cost", "0.0000001"], calls: 0 },
  {
    name: "a time limit",
    code: 124,
    error: "timeout",
    args: [...task, "--timeout", "1s"],
    answers: [planned([["WRITE", "hello.txt"]]), { ...done(write("hello.txt", "a\n")), delayMs: 5000 }],
    check: ({ status }) => expect(status).toBe("interrupted"),
  },
];

export const failuresOfTasks: readonly Failing[] = [...replies, ...judged, ...policy, ...budget];
