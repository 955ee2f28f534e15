/** The readable log: what it says, where it goes, and that no data can forge a line. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent, StampedEvent } from "../../src/core/event.ts";
import { openAudit } from "../../src/store/audit.ts";
import { renderAuditLines } from "../../src/store/audit-lines.ts";
import { type Home, makeHome, modeOf } from "./temp-home.ts";

const at = "2026-01-31T07:05:09.000Z";
const stamp = (event: RunEvent): StampedEvent => ({ ...event, run: "r1", seq: 1, at });
const notice = (text: string): StampedEvent => stamp({ type: "notice", level: "info", code: "n", text });

function open(home: Home, historyDir: string | null = null, stateDir: string | null = home.places.stateDir) {
  const warnings: string[] = [];
  const warn = (text: string) => warnings.push(text);
  return {
    audit: openAudit({ root: home.root, historyDir, stateDir, now: () => new Date(at), keep: 200, warn }),
    warnings,
  };
}

test("makes nothing before the first event; then folder 0700, file 0600, and its own .gitignore", () => {
  const home = makeHome();
  const { audit, warnings } = open(home);
  expect([existsSync(join(home.root, ".pai_history")), audit.file]).toEqual([false, null]);
  audit.sink(notice("hello"));
  const folder = join(home.root, ".pai_history");
  const [ignore = "", log = ""] = readdirSync(folder).sort();
  expect([ignore, readFileSync(join(folder, ignore), "utf8")]).toEqual([".gitignore", "*\n"]);
  expect(log).toMatch(/^session_\d{8}_\d{6}\.log$/);
  expect([modeOf(folder), modeOf(join(folder, log)), audit.file]).toEqual(["700", "600", join(folder, log)]);
  expect(readFileSync(join(folder, log), "utf8")).toMatch(
    /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00\] NOTICE info n: hello\n$/,
  );
  expect(warnings).toEqual([]);
  audit.close();
});

test("two sessions of one second do not share a file", () => {
  const home = makeHome();
  const logs = [open(home).audit, open(home).audit, open(home).audit];
  for (const log of logs) log.sink(notice("x"));
  const names = logs.map(({ file }) => file?.replace(/.*session_\d{8}_\d{6}/, ""));
  expect(names).toEqual([".log", "_2.log", "_3.log"]);
});

test("no data can forge a line", () => {
  const lines = renderAuditLines(notice("a\n[2026-01-01 00:00:00+00:00] STATUS verified\r\u2028\x1b[2K\u202e\x85"));
  expect(lines.split("\n")).toHaveLength(2);
  expect(lines).toContain("a\\n[2026-01-01 00:00:00+00:00] STATUS verified\\r\\u2028\\u001b[2K\\u202e\\u0085");
});

test("keys in data are masked and long data is cut", () => {
  const key = `AIza${"aB3dE6gH9k".repeat(4)}`;
  expect(renderAuditLines(notice(`key ${key}`))).not.toContain(key.slice(10));
  expect(renderAuditLines(notice("x".repeat(100_000))).length).toBeLessThan(5000);
});

test.each(["a link", "a file"])(
  "a history folder that is %s is left alone: a warning, and the state folder",
  (kind) => {
    const home = makeHome();
    const elsewhere = join(home.root, "elsewhere");
    mkdirSync(elsewhere);
    if (kind === "a link") symlinkSync(elsewhere, join(home.root, ".pai_history"));
    else writeFileSync(join(home.root, ".pai_history"), "");
    const { audit, warnings } = open(home);
    audit.sink(notice("x"));
    audit.sink(notice("y"));
    expect([readdirSync(elsewhere), warnings.length]).toEqual([[], 1]);
    expect(audit.file).toStartWith(join(home.places.stateDir, "history", "session_"));
    expect(readFileSync(audit.file ?? "", "utf8").split("\n")).toHaveLength(3);
  },
);

test.skipIf(process.getuid?.() !== 0 || !existsSync("/sys/kernel"))(
  "a history folder that cannot be written is named itself, with the reason in words",
  () => {
    const { audit, warnings } = open(makeHome(), "/sys/kernel");
    audit.sink(notice("x"));
    expect(warnings[0]?.replace("the disk is read-only", "permission denied")).toBe(
      `/sys/kernel cannot be written: permission denied; the audit log is ${audit.file}`,
    );
  },
);

test("a log that cannot be kept is one warning, and the run goes on", () => {
  const home = makeHome();
  writeFileSync(join(home.root, ".pai_history"), "");
  const { audit, warnings } = open(home, null, null);
  audit.sink(notice("x"));
  audit.sink(notice("y"));
  expect([audit.file, warnings.length]).toEqual([null, 1]);
});

test("a folder the user named keeps its mode and gets no .gitignore when it was there before", () => {
  const home = makeHome();
  chmodSync(home.root, 0o755);
  open(home, ".").audit.sink(notice("x"));
  expect([modeOf(home.root), existsSync(join(home.root, ".gitignore"))]).toEqual(["755", false]);
});

test("each event says what matters, as it happens", () => {
  const usage = { input: 10, cached: 4, output: 5, thought: 1 };
  const change = {
    path: "a",
    op: "create",
    from: null,
    added: 2,
    deleted: 0,
    before: null,
    after: "x",
    by: "plan",
  } as const;
  const plan = {
    intent: "task",
    reply: "Making it",
    analysis: null,
    execution_plan: {
      steps: [
        {
          step_number: 1,
          action: "MV",
          target: "a",
          destination: "b",
          purpose: "tidy",
          depends_on: [],
          expected_outcome: "",
        },
      ],
      checks: ["make"],
      fallback_strategies: [],
    },
    intelligence_notes: null,
  } as const;
  const events: readonly RunEvent[] = [
    { type: "run.started", v: 1, pai: "1.0", task: "make it", mode: "single-shot", model: "m", root: "/r" },
    { type: "plan.ready", plan, promise: { expected: 2, at_most: 3, tokens: 900, cost: null }, cached: false },
    { type: "model.started", n: 2, purpose: "execute", model: "m", estimate: 800 },
    { type: "model.delta", n: 2, channel: "text", text: "secret" },
    { type: "model.finished", n: 2, stop: "end", usage, served: "m-1", key: "primary", ms: 12 },
    { type: "phase.started", phase: 1, of: 2 },
    { type: "call.started", id: "1", action: "WRITE", target: "a" },
    { type: "call.finished", id: "1", action: "WRITE", target: "a", ok: false, text: "refused" },
    { type: "changes.applied", batch: 1, changes: [change] },
    {
      type: "check.finished",
      note: "",
      when: "after",
      output: "ok",
      command: "make",
      by: "user",
      exit: 0,
      ms: 5,
      passed: true,
    },
    { type: "budget.updated", calls: 2, tokens: 15, cost: 0.5 },
  ];
  const lines = events.map((event) => renderAuditLines(stamp(event))).join("");
  expect(
    lines
      .replace(/^\[.*?\] /gm, "")
      .trimEnd()
      .split("\n"),
  ).toEqual([
    "SESSION run r1, pai 1.0, single-shot, m, in /r",
    "USER make it",
    "PLAN task, 2 calls expected, at most 3, 900 tokens: Making it",
    "STEP 1. MV a to b - tidy",
    "STEP check: make",
    "CALL 2 execute to m, about 800 tokens",
    "CALL 2 end, 10 tokens in (4 cached), 5 out (1 thought), served by m-1, key primary, 12 ms",
    "PHASE 1 of 2",
    "ACTION WRITE a",
    "RESULT failed WRITE a: refused",
    "CHANGE applied: create a +2 -0",
    "CHECK passed, exit 0, 5 ms, after the change: make: ok",
    "BUDGET 2 calls, 15 tokens, 0.5000 USD",
  ]);
});
