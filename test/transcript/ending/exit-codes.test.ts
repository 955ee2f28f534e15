/** Every way to fail as a document, each code in text and as events; and every command ends by itself. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { commands } from "../../../src/cli/command-table.ts";
import type { ErrorCode } from "../../../src/core/error.ts";
import { expectPlain, type OutcomeDocument, readLast, readOutcome } from "../contract.ts";
import { type Answer, configure, openPlace, type Place, type RunOptions } from "../harness.ts";
import { done, hello, modify, planned, write } from "../replies.ts";

interface Failing {
  readonly name: string;
  readonly code: number;
  readonly error: ErrorCode;
  /** Absent: a plain task. */
  readonly args?: readonly string[];
  readonly answers?: readonly Answer[];
  readonly files?: Readonly<Record<string, string>>;
  readonly options?: (place: Place) => RunOptions;
  readonly prepare?: (place: Place) => void | Promise<void>;
  /** Requests that must have been sent; without it: not counted. */
  readonly calls?: number;
  /** Somebody else changes the tree meanwhile. */
  readonly changesTree?: boolean;
  readonly check?: (outcome: OutcomeDocument) => void;
}

const fails = (name: string, code: number, error: ErrorCode, rest: Partial<Failing>): Failing => ({
  ...{ name, code, error },
  ...rest,
});

const task = ["run", "-y", "make hello.txt"] as const;

/** Not asked again, so that nothing waits. */
const refused = (status: number, body = ""): Answer => ({
  status,
  body,
  headers: { "x-should-retry": "false" },
});

const quota = JSON.stringify({
  error: {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message: "Quota exceeded",
    details: [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel" }] }],
  },
});

function breakSettings(place: Place): void {
  configure(place, {});
  writeFileSync(join(place.home, ".config/pai-code/config.json"), "{");
}

const usage: readonly Failing[] = [
  fails("an unknown flag", 2, "usage", { args: ["run", "--jsno", "make it so"], calls: 0 }),
  fails("a run without a task", 2, "usage", { args: ["run", "-y"], calls: 0 }),
  fails("an empty standard input", 2, "usage", { args: ["run", "-y", "-"], calls: 0 }),
  fails("a task file that is not there", 2, "usage", { args: ["run", "-y", "-f", "none.txt"], calls: 0 }),
  fails("a task given twice", 2, "usage", { args: ["run", "-f", "a.txt", "make it"], calls: 0 }),
  fails("a plan file that is not there", 2, "usage", { args: ["apply", "-y", "none.json"], calls: 0 }),
];

const settings: readonly Failing[] = [
  fails("a broken config.json", 3, "config_invalid", { prepare: breakSettings, calls: 0 }),
  fails("an unknown provider", 3, "model_unknown", { args: [...task, "-m", "nobody:none"], calls: 0 }),
  fails("an unknown model", 3, "model_unknown", {
    answers: [refused(404, '{"error": {"message": "models/x is not found for API version v1beta"}}')],
    // The second asks for the list of models, which is free.
    calls: 2,
  }),
  fails("no key", 4, "no_key", { options: () => ({ env: { GEMINI_API_KEY: null, PAI_BASE_URL: null } }), calls: 0 }),
  fails("a key that is refused", 4, "key_rejected", { answers: [refused(401)], calls: 1 }),
];

const network: readonly Failing[] = [
  fails("a refused connection", 5, "network", {
    options: () => ({ env: { PAI_BASE_URL: "http://127.0.0.1:9" } }),
    calls: 0,
  }),
  fails("a redirect", 5, "redirected", {
    answers: [{ status: 302, headers: { location: "http://127.0.0.1:9/" } }],
    calls: 1,
  }),
  fails("a provider that is down", 5, "provider_down", { answers: [refused(503)], calls: 1 }),
  fails("a used up quota", 6, "quota", {
    answers: [refused(429, quota)],
    calls: 1,
    check: ({ error }) => expect(error?.retry_after ?? 0).toBeGreaterThan(0),
  }),
  fails("spent credit", 6, "credit_exhausted", { answers: [refused(402)], calls: 1 }),
];

/** Saves a plan for `hello.txt` beside the project. */
async function save(place: Place): Promise<void> {
  const { code, stderr } = await place.pai(["plan", "-o", "../spare/plan.json", "make hello.txt"]);
  if (code !== 0) throw new Error(`no plan was saved: ${stderr}`);
}

const apply = ["apply", "-y", "../spare/plan.json"] as const;
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`).join("");

const safety = { text: "", stop: "SAFETY" };
const nonsense = { text: "I had rather talk about the weather." };
const brokenOff = { text: '{"intent": "task", "rep', stop: null };

const made = planned(["WRITE hello.txt"]);
const short = done(write("long.txt", "short\n"));
const leak = done(write("hello.txt", "token = ghp_9aZ8bY7cX6dW5eV4fU3gT2hS1iR0jQ9kP8lO\n"));

const replies: readonly Failing[] = [
  fails("a rejected request", 7, "request_rejected", { answers: [refused(400)], calls: 1 }),
  fails("a blocked reply", 7, "reply_blocked", { answers: [safety], calls: 1 }),
  fails("an empty reply", 7, "reply_empty", { answers: [{ text: "" }, { text: "" }, { text: "" }] }),
  fails("a plan that is none", 7, "reply_invalid", { answers: [nonsense, nonsense, nonsense] }),
  fails("a reply that ends too early", 7, "reply_cut", { answers: [brokenOff, brokenOff, brokenOff] }),
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
    check: ({ undone }) =>
      expect(undone).toEqual([{ action: "WRITE", target: "more.txt", why: "left out in the end" }]),
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
    check: ({ calls }) => expect(calls).toEqual({ made: 0, expected: 0, at_most: 0 }),
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

const failures = [...usage, ...settings, ...network, ...replies, ...judged, ...policy, ...budget];

/** What belongs on standard error. */
const progress = /^(planning|working) with|^calls {2}expected|^phase |^pai: /m;

async function prepare({ files, answers = [], prepare }: Failing): Promise<Place> {
  const place = openPlace(answers, files);
  await prepare?.(place);
  return place;
}

for (const failing of failures) {
  const { name, code, error, args = task, calls } = failing;
  describe(`${name} ends with ${code}`, () => {
    const optionsFor = (place: Place) => failing.options?.(place) ?? {};

    test.concurrent("as one document (R02, R08)", async () => {
      await using place = await prepare(failing);
      const before = place.tree();
      const result = await place.pai([...args.slice(0, 1), "--json", ...args.slice(1)], optionsFor(place));
      const outcome = readOutcome(result);
      expect([result.code, outcome.error?.code]).toEqual([code, error]);
      if (calls !== undefined) expect(place.gemini.requests).toHaveLength(calls);
      if (failing.changesTree !== true) expect(place.tree()).toEqual(before);
      failing.check?.(outcome);
    });

    // Each code once.
    if (failures.find((other) => other.code === code) !== failing) return;

    test.concurrent("in words, on standard error (R01, R08)", async () => {
      await using place = await prepare(failing);
      const result = await place.pai(args, optionsFor(place));
      expectPlain(result);
      expect([result.code, result.stderr.trim() === ""]).toEqual([code, false]);
      if (code !== 10) expect(result.stdout).not.toMatch(progress);
    });

    test.concurrent("as events, of which the last is the document (R03, R08)", async () => {
      await using place = await prepare(failing);
      const result = await place.pai([...args.slice(0, 1), "--jsonl", ...args.slice(1)], optionsFor(place));
      const outcome = readLast(result);
      expect([result.code, outcome.error?.code]).toEqual([code, error]);
    });
  });
}

test("at least 25 kinds of failure are tried (R08)", () => {
  expect(failures.length).toBeGreaterThanOrEqual(25);
});

/** Those above end, too. */
const early: readonly (readonly string[])[] = [
  ["hisory"],
  ["fix", "the", "bug"],
  ["run", "-C", "/nonexistent", "do it"],
  ["run", "-m", "replay:/nonexistent", "do it"],
  ["run", "do it", "--json"],
  ["undo", "zzz"],
  ["replay", "zzz"],
  ["schema", "nope"],
  ["completion", "nope"],
  ["help", "nope"],
  ["config", "set", "mode", "nope"],
];

/** Milliseconds until a process counts as one that never ends: they take 20 to 700, on a busy machine more. */
const forever = 30_000;

test("every command without words, and early errors of all kinds, end", async () => {
  await using place = openPlace();
  // A server of its own: it ends when it is told to.
  const ending = commands.filter(({ name }) => name !== "dashboard");
  const lines = [[], ...ending.map(({ name }) => [name]), ...early];
  const hung: string[] = [];
  const end = async (args: readonly string[]) => {
    const running = place.start(args, { env: { GEMINI_API_KEY: null, PAI_BASE_URL: null } });
    const clock = setTimeout(() => {
      hung.push(args.join(" "));
      running.kill("SIGKILL");
    }, forever);
    const { stderr } = await running.done;
    clearTimeout(clock);
    expect([args.join(" "), /\n\s+at .+:\d+/.test(stderr)]).toEqual([args.join(" "), false]);
  };
  for (let at = 0; at < lines.length; at += 4) await Promise.all(lines.slice(at, at + 4).map(end));
  expect(hung).toEqual([]);
});
