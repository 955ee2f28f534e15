/** A run on the screen event by event: what waits, what was done and found, what failed, and what is folded. */
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { renderChanges } from "../../../src/core/diff.ts";
import type { RelPath } from "../../../src/core/path.ts";
import { events, outcome, show, stamp, watch } from "../fixture.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("the footer says how long pai worked; a question takes the person's time", () => {
  let time = 0;
  const { terminal, writes } = watch({ now: () => time });
  for (const event of events) terminal.sink(event);
  time = 3000;
  terminal.pause();
  time = 60_000;
  for (const event of events.slice(-1)) terminal.sink(event);
  time = 61_200;
  terminal.finish(outcome);
  expect(writes.join("")).toContain("price unknown, 4.2 s\n");
});

test("a spinner line is redrawn at most five times a second and is gone before any other line", () => {
  let time = 0;
  const options = { live: true, now: () => (time += 1000) };
  const { screen } = show(true, options);
  expect(screen).not.toContain("⠋");
  const { terminal, writes } = watch(options);
  for (const event of stamp([
    { type: "model.started", n: 1, purpose: "plan", model: "gemini:a-model-with-a-long-name", estimate: 1 },
    { type: "notice", level: "info", code: "x", text: "note" },
  ])) {
    terminal.sink(event);
    jest.advanceTimersByTime(event.type === "notice" ? 0 : 500);
  }
  terminal.finish({ ...outcome, calls: { made: 0, expected: 0, at_most: 0 } });
  expect(writes.length).toBeLessThanOrEqual(6);
  expect(writes[0]).toMatch(/^\r\x1b\[K \x1b\[J\r {2}planning with gemini:a-mod.*…, \d+ s\r⠋$/);
  expect(Bun.stringWidth((writes[0] ?? "").split("\r")[2] ?? "")).toBeLessThan(40);
  expect(writes.at(-1)).not.toContain("planning");
});

test("a check that ends while the model is asked leaves the model to be waited for, since it was asked", () => {
  let time = 0;
  const { terminal, writes } = watch({ live: true, now: () => (time += 500) });
  const make = { command: "make", by: "plan" } as const;
  const all = stamp([
    { type: "model.started", n: 2, purpose: "execute", model: "m", estimate: 1 },
    { type: "check.started", when: "before", ...make },
    { type: "check.finished", when: "before", note: "", ...make, exit: 0, passed: true, ms: 5, output: "" },
  ]);
  for (const event of all) terminal.sink(event);
  jest.advanceTimersByTime(1000);
  terminal.pause();
  expect(writes.join("")).toMatch(/working with m, [2-9] s/);
});

test.each([
  ["where the line is too narrow the model's name is cut", 50, 4, "planning in at most 4 calls with gemini:…, 1 s"],
  ["one call is one call", 80, 1, "planning in at most 1 call with gemini:"],
])("a plan says how many calls it takes at most: %s", (_, columns, at_most, shown) => {
  let time = 0;
  const { terminal, writes } = watch({ live: true, columns: () => columns, now: () => (time += 1000) });
  const model = "gemini:gemini-3.5-flash-lite";
  for (const event of stamp([{ type: "model.started", n: 1, purpose: "plan", model, estimate: 1, at_most }]))
    terminal.sink(event);
  jest.advanceTimersByTime(300);
  terminal.pause();
  expect(writes.join("")).toContain(shown);
});

test("a command that was not run is not marked as done", () => {
  const events = stamp([
    { type: "call.finished", id: "1", action: "RUN", target: "make", ok: true, text: "not run: this is a dry run" },
  ]);
  expect(show(true, {}, { events, outcome }).screen).toStartWith("· RUN make  not run: this is a dry run\n");
});

test("a command that ended badly has no tick, and what the list of tasks shows is not said twice", () => {
  const call = (action: string, target: string, text: string) =>
    ({ type: "call.finished", id: action, action, target, ok: true, text }) as const;
  const events = stamp([
    call("RUN", "make", "exit 2 after 9 ms"),
    call("RUN", "ls", "exit 0 after 1 ms"),
    call("write_tasks", "", "[ ] a"),
  ]);
  const { screen } = show(true, {}, { events, outcome });
  expect(screen).toContain("! RUN make  exit 2, 0.0 s\n✓ RUN ls  exit 0, 0.0 s\n");
  expect(screen).not.toContain("write_tasks");
});

test("what a failed check said stays behind its bar, however wide it is", () => {
  const { terminal, writes } = watch({});
  const output = `${"word ".repeat(30)}\n${"x".repeat(5000)}\nthe last line`;
  const check = { command: "make", by: "user", exit: 2, ms: 1, passed: false, output } as const;
  for (const event of stamp([{ type: "check.finished", note: "", when: "after", ...check }])) terminal.sink(event);
  const rows = writes.join("").trimEnd().split("\n").slice(1);
  expect(rows).toHaveLength(20);
  expect(rows.at(-1)).toBe("  │ the last line");
  for (const row of rows) expect(row).toMatch(/^ {2}│ .{1,36}$/);
});

test("lines of a file that are wider than the terminal go on behind the bar, endless ones are cut", () => {
  const { terminal, writes } = watch({});
  const long = `        return ${"value + ".repeat(8)}0`;
  const text = ["  1 def f():", `  2 ${long}`, "  3 \tx", `  4 ${"y".repeat(1_400)}`].join("\n");
  const events = stamp([{ type: "look.shown", action: "READ", target: "a.py", text }]);
  for (const event of events) terminal.sink(event);
  terminal.pause();
  terminal.finish({ ...outcome, calls: { made: 0, expected: 0, at_most: 0 } });
  const rows = writes.join("").split("\n");
  expect(rows.slice(0, 4)).toEqual([
    "    1 │ def f():",
    "    2 │         return value + value +",
    "      │ value + value + value + value +",
    "      │ value + value + 0",
  ]);
  expect(rows[4]).toBe("    3 │         x");
  expect(rows.slice(5).join(" ")).toMatch(/… 1,000 more[ │]*characters/);
  for (const row of rows) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(40);
});

test("what a command printed before a question stands above it, and a second run shows its own output alone", () => {
  const { terminal, writes } = watch({});
  const run = { action: "RUN", target: "touch /srv/x" } as const;
  const refused = "touch: cannot touch /srv/x";
  for (const event of stamp([{ type: "look.shown", ...run, text: refused }])) terminal.sink(event);
  terminal.pause();
  expect(writes.join("")).toContain(refused);
  const before = writes.join("").length;
  const ended = { type: "call.finished", id: "1", ok: true, ...run, text: "exit 0 after 9 ms" } as const;
  for (const event of stamp([{ type: "look.shown", ...run, text: "" }, ended])) terminal.sink(event);
  expect(writes.join("").slice(before)).toContain("RUN touch /srv/x  exit 0");
  expect(writes.join("").slice(before)).not.toContain(refused);
});

test("a row of a look that is wider than the terminal goes on below its last column", () => {
  const { terminal, writes } = watch({});
  const text = "  99  postgres\n1234  nginx: master process /usr/sbin/nginx -g daemon off;";
  for (const event of stamp([{ type: "look.shown", action: "DIAGNOSE", target: "processes", text }]))
    terminal.sink(event);
  terminal.pause();
  terminal.finish({ ...outcome, calls: { made: 0, expected: 0, at_most: 0 } });
  expect(writes.join("").split("\n").slice(0, 3)).toEqual([
    "    99  postgres",
    "  1234  nginx: master process",
    "        /usr/sbin/nginx -g daemon off;",
  ]);
});

test("a check that runs says so at its start, and how its failure compares at its end", () => {
  const check = { command: "pytest -q", by: "user" } as const;
  const failed = { ...check, exit: 1, ms: 1200, passed: false, output: "F" } as const;
  const events = stamp([
    { type: "check.started", when: "before", ...check },
    { type: "check.finished", when: "before", note: "", ...failed },
    { type: "check.started", when: "after", ...check },
    { type: "check.finished", when: "after", note: "the same failure as before", ...failed },
  ]);
  const { screen } = show(false, {}, { events, outcome });
  expect(screen).toContain("check pytest -q (before the change) ...\nbefore the change: pytest -q, exit 1, 1.2 s\n");
  expect(screen).toContain("check pytest -q ...\n");
  expect(screen).toContain("the same failure as before\n");
});

const longText = Array.from({ length: 300 }, (_, n) => `line ${n}\n`).join("");
const path = "long.py" as RelPath;
const diff = renderChanges([
  { path, before: null, after: { kind: "file", mode: 0o644, bytes: new TextEncoder().encode(longText) }, from: null },
]);
const counts = { from: null, added: 300, deleted: 0, before: null, after: null } as const;

function shownOf(options: Parameters<typeof watch>[0], asked: boolean): string {
  const { terminal, writes } = watch({ kind: "session", screen: true, ...options });
  const proposed = {
    type: "changes.proposed",
    batch: 1,
    changes: [{ path, op: "create", by: "plan", ...counts }],
    diff,
  } as const;
  const event = asked ? ({ ...proposed, asked } as const) : proposed;
  for (const each of stamp([event])) terminal.sink(each);
  terminal.pause();
  return writes.join("");
}

test("what the plan approved is folded after two screens, with the way to the rest, also where a person answers", () => {
  for (const asks of [true, false]) {
    const text = shownOf({ asks }, false);
    expect([text.includes("line 10"), text.includes("line 299")]).toEqual([true, false]);
    expect(text).toContain("240 more lines: /diff long.py");
  }
});

test("what a person decides on now is whole; where nobody is asked it is folded", () => {
  expect(shownOf({ asks: true }, true)).toContain("line 299");
  expect(shownOf({ asks: false }, true)).not.toContain("line 299");
});
