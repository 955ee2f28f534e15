/** Failures of a task under way: replies, edits, checks, approval, plans, policy, budget. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Failing, fails, refused, task } from "./failing.ts";
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

const made = planned(["WRITE hello.txt"]);
const short = done(write("long.txt", "short\n"));
const leak = done(write("hello.txt", "token = ghp_9aZ8bY7cX6dW5eV4fU3gT2hS1iR0jQ9kP8lO\n"));

const replies: readonly Failing[] = [
  fails("a rejected request", 7, "request_rejected", { answers: [refused(400)], calls: 1 }),
  fails("a blocked reply", 7, "reply_blocked", { answers: [safety], calls: 1 }),
  fails("an empty reply", 7, "reply_empty", { answers: [{ text: "" }, { text: "" }, { text: "" }] }),
  fails("a plan that is none", 7, "reply_invalid", { answers: [nonsense, nonsense, nonsense] }),
  fails("a reply that ends too early", 7, "reply_cut", { answers: [early, early, early] }),
  fails("an edit that matches nothing", 8, "edit_failed", {
    files: { "a.txt": "one\n" },
    answers: [
      planned(["MODIFY a.txt"]),
      done(modify("a.txt", "two\n", "three\n")),
      done(modify("a.txt", "two\n", "3\n")),
    ],
    calls: 3,
  }),
  fails("a promise that is not kept", 8, "nothing_done", { answers: [made, done(""), done("")], calls: 3 }),
  fails("a step that is left undone beside work that is done", 15, "partial", {
    answers: [
      planned(["hello.txt", "more.txt"].map((name) => `WRITE ${name}`)),
      done(write("hello.txt", "hi\n")),
      done(""),
    ],
    calls: 3,
    changesTree: true,
    check: ({ undone }) => expect(undone).toEqual([{ action: "WRITE", target: "more.txt", why: "no reply did it" }]),
  }),
  fails("a file that would lose most of its lines", 8, "guard_refused", {
    files: { "long.txt": lines(600) },
    answers: [planned(["MODIFY long.txt"]), ...[short, short]],
  }),
];

const judged: readonly Failing[] = [
  fails("a failing check", 9, "check_failed", {
    args: [...task, "--check", "false"],
    answers: [...hello, done("")],
    check({ checks, error }) {
      expect(checks).toMatchObject([{ command: "false", exit: 1, passed: false }]);
      expect(error?.hint).toContain("--keep");
    },
  }),
  fails("a plan nobody approved", 10, "approval_needed", {
    args: ["run", "make hello.txt"],
    answers: hello,
    calls: 1,
    check: ({ plan }) => expect(plan?.execution_plan?.steps).toHaveLength(1),
  }),
  fails("a stale plan", 11, "plan_stale", {
    args: apply,
    answers: hello,
    prepare: async (place) => {
      await save(place);
      writeFileSync(join(place.root, "hello.txt"), "mine\n");
    },
    calls: 1,
  }),
];

const policy: readonly Failing[] = [
  fails("a plan that leaves the project", 12, "path_refused", {
    answers: [planned(["WRITE ../outside.txt"])],
    calls: 1,
  }),
  fails("a deletion without leave", 12, "delete_refused", {
    files: { "a.txt": "one\n" },
    answers: [planned(["RM a.txt"])],
    calls: 1,
  }),
  fails("a plan outside --only", 12, "scope_refused", {
    args: [...task, "--only", "src/**"],
    answers: hello,
    calls: 1,
  }),
  fails("a secret in a file", 12, "secret_refused", { answers: [made, ...[leak, leak]] }),
  fails("the home folder as project", 12, "root_refused", {
    options: ({ root }) => ({ env: { HOME: root } }),
    calls: 0,
  }),
];

const budget: readonly Failing[] = [
  fails("a cap on calls", 13, "budget_calls", {
    args: [...task, "--max-calls", "2"],
    answers: [made, { text: "" }, { text: "" }],
    calls: 2,
  }),
  fails("a cap on tokens", 13, "budget_tokens", { args: [...task, "--max-tokens", "10"], calls: 0 }),
  fails("a cap on cost", 13, "budget_cost", { args: [...task, "--max-cost", "0.0000001"], calls: 0 }),
  fails("a time limit", 124, "timeout", {
    args: [...task, "--timeout", "1s"],
    answers: [made, { ...done(write("hello.txt", "a\n")), delayMs: 5000 }],
    check: ({ status }) => expect(status).toBe("interrupted"),
  }),
];

export const failuresOfTasks: readonly Failing[] = [...replies, ...judged, ...policy, ...budget];
