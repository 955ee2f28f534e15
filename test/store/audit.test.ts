/** The readable log: what it says, where it goes, and that no data can forge a line. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Fact } from "../../src/core/receipt.ts";
import { openAudit, renderAuditLines } from "../../src/store/audit.ts";
import { type Home, makeHome, modeOf, startedRun } from "./temp-home.ts";

const at = "2026-01-31T07:05:09.000Z";
const started = (text: string) => startedRun(text, "r1", at);

function open(home: Home, stateDir: string | null = home.places.stateDir) {
  const warnings: string[] = [];
  const warn = (text: string) => warnings.push(text);
  return { audit: openAudit({ root: home.root, stateDir, now: () => new Date(at), keep: 200, warn }), warnings };
}

test("makes nothing before the first run has ended; then folder 0700, file 0600, and its own .gitignore", () => {
  const home = makeHome();
  const { audit, warnings } = open(home);
  expect([existsSync(join(home.root, ".pai_history")), audit.file]).toEqual([false, null]);
  audit.add([started("hello")]);
  const folder = join(home.root, ".pai_history");
  const [ignore = "", log = ""] = readdirSync(folder).sort();
  expect([ignore, readFileSync(join(folder, ignore), "utf8")]).toEqual([".gitignore", "*\n"]);
  expect(log).toMatch(/^session_\d{8}_\d{6}\.log$/);
  expect([modeOf(folder), modeOf(join(folder, log)), audit.file]).toEqual(["700", "600", join(folder, log)]);
  expect(readFileSync(join(folder, log), "utf8")).toContain("[2026-01-31 07:05:09+00:00] USER hello\n");
  expect(warnings).toEqual([]);
  audit.close();
});

test("two sessions of one second do not share a file", () => {
  const home = makeHome();
  const logs = [open(home).audit, open(home).audit, open(home).audit];
  for (const log of logs) log.add([started("x")]);
  const names = logs.map(({ file }) => file?.replace(/.*session_\d{8}_\d{6}/, ""));
  expect(names).toEqual([".log", "_2.log", "_3.log"]);
});

test("no data can forge a line, and long data is cut", () => {
  const lines = renderAuditLines([started("a\n[2026-01-01 00:00:00+00:00] STATUS verified\r\u2028\x1b[2K\u202e\x85")]);
  expect(lines).toContain("a\\n[2026-01-01 00:00:00+00:00] STATUS verified\\r\\u2028\\u001b[2K\\u202e\\u0085");
  expect(lines.split("\n")).toHaveLength(4);
  expect(renderAuditLines([started("x".repeat(100_000))]).length).toBeLessThan(5000);
});

test("a folder of the system gets no log", () => {
  const { audit } = open({ ...makeHome(), root: "/etc/nginx" });
  audit.add([started("x")]);
  expect([audit.file, existsSync("/etc/nginx/.pai_history")]).toEqual([null, false]);
});

test.each(["a link", "a file", "a pipe"])(
  "a history folder that is %s is left alone: a warning, and the state folder",
  (kind) => {
    const home = makeHome();
    const elsewhere = join(home.root, "elsewhere");
    mkdirSync(elsewhere);
    if (kind === "a link") symlinkSync(elsewhere, join(home.root, ".pai_history"));
    else if (kind === "a file") writeFileSync(join(home.root, ".pai_history"), "");
    else Bun.spawnSync(["mkfifo", join(home.root, ".pai_history")]);
    const { audit, warnings } = open(home);
    audit.add([started("x")]);
    audit.add([started("y")]);
    expect([readdirSync(elsewhere), warnings.length]).toEqual([[], 1]);
    expect(audit.file).toStartWith(join(home.places.stateDir, "history", "session_"));
    expect(readFileSync(audit.file ?? "", "utf8").split("\n")).toHaveLength(7);
  },
);

test("a log that cannot be kept is one warning, and the run goes on", () => {
  const home = makeHome();
  writeFileSync(join(home.root, ".pai_history"), "");
  const { audit, warnings } = open(home, null);
  audit.add([started("x")]);
  audit.add([started("y")]);
  expect([audit.file, warnings.length]).toEqual([null, 1]);
});

test("a run is told from its facts, and one without an end as cut off", () => {
  const usage = { input: 10, cached: 4, output: 5, thought: 1 };
  const step = { step_number: 1, purpose: "tidy", depends_on: [], expected_outcome: "" };
  const plan = {
    intent: "task",
    reply: "Making it",
    analysis: {
      ...{ user_intent: "tidy up", target_identification: "a is misplaced" },
      ...{ files_to_read: ["a"], files_to_create: [], files_to_modify: [], files_to_delete: [] },
      ...{ risk_assessment: "low", success_criteria: ["b builds"] },
    },
    execution_plan: {
      steps: [{ ...step, action: "MV", target: "a", destination: "b" }],
      checks: ["make"],
      fallback_strategies: ["copy it"],
    },
    intelligence_notes: {
      ...({ complexity_assessment: "simple", estimated_time: "1 minute" } as const),
      ...{ key_challenges: ["imports", "links"], recommendations: ["commit first"] },
    },
  } as const;
  const call = { at, purpose: "execute", sha256: "0", bytes: 800, masked: 0, model: "m", text: "", calls: [] } as const;
  const facts: readonly Fact[] = [
    started("make it"),
    { type: "call", ...call, served: "m-1", key: "primary", usage, stop: "end", error: null },
    { type: "plan", plan, promise: { expected: 2, at_most: 3, tokens: 900, cost: null }, cached: false },
    { type: "decision", kind: "plan", sha256: "0", accept: true, by: "policy", reason: "-y", feedback: null },
    { type: "changes", changes: [{ path: "a", from: null, before: null, after: "0" }], error: null },
    { type: "check", when: "after", command: "make", by: "user", exit: 0, ms: 5, passed: true },
  ];
  const lines = renderAuditLines(facts).trimEnd().split("\n");
  expect(lines.map((line) => line.replace(/^\[.*?\] /, ""))).toEqual([
    "SESSION run r1, pai 1.0, single-shot, m, in /r",
    "USER make it",
    "CALL execute to m, 800 bytes: end, 10 tokens in (4 cached), 5 out (1 thought), served by m-1, key primary",
    "PLAN task, 2 calls expected, at most 3, 900 tokens: Making it",
    ...["INTENT tidy up", "WHERE a is misplaced", "READS a", "RISK low", "CRITERIA b builds"],
    ...["COMPLEXITY simple", "TIME 1 minute", "CHALLENGES imports; links", "ADVICE commit first", "FALLBACK copy it"],
    "STEP 1. MV a to b - tidy",
    "STEP check: make",
    "DECISION plan accepted by policy: -y",
    "CHANGE applied: create a",
    "CHECK passed, exit 0, 5 ms, after the change: make",
    "STATUS cut off",
  ]);
});
