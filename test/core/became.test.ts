/** What became of a turn, in pai's own words: what stays on disk and who said no decide, not what the model said. */
import { expect, test } from "bun:test";
import { PaiError, toFailure } from "../../src/core/error.ts";
import { type ChangeSummary, failedOutcome, type Outcome } from "../../src/core/outcome.ts";
import { becameOf, cutDiff } from "../../src/core/session/became.ts";

const change = (path: string, op: ChangeSummary["op"] = "modify"): ChangeSummary => ({
  ...{ path, op, from: null, added: 2, deleted: 1, before: null, after: null, by: "plan" },
});
const check = (command: string, passed: boolean | null, note = "") => ({
  ...{ command, by: "user", exit: passed === true ? 0 : 1, ms: 1, passed, note },
});
const ended = (code: ConstructorParameters<typeof PaiError>[0], message: string): Partial<Outcome> => ({
  ok: false,
  error: toFailure(new PaiError(code, message)),
});
const outcome = (fields: Partial<Outcome>): Outcome => ({
  ...{ ...failedOutcome("run", toFailure(new PaiError("failed", ""))), ok: true, error: null },
  ...fields,
});

const two = [change("bmi.py"), change("test_bmi.py")];
const ran = (why: string) => [{ action: "RUN", target: "pytest -q", why }];

const rows: readonly (readonly [string, Partial<Outcome>, boolean, string])[] = [
  ["an answer", { status: "answered" }, false, "answered; nothing was changed"],
  ["a plan", { status: "unverified", planned: true }, false, "a plan was made; nothing was changed"],
  [
    "verified work",
    { status: "verified", changes: two, checks: [check("pytest -q", true)] as Outcome["checks"] },
    false,
    "kept: 2 files (+4 −2), verified by pytest -q; changed: bmi.py, test_bmi.py",
  ],
  [
    "work without a check",
    { status: "unverified", changes: [change("a.py")] },
    false,
    "kept: 1 file (+2 −1), unverified: no check has proved this; changed: a.py",
  ],
  [
    "a command that was refused, whatever the model says it showed",
    { status: "unverified", refused: ran("the user declined to run this command") },
    false,
    "nothing was changed, unverified: no check has proved this; not done: RUN pytest -q (the user declined to run this command)",
  ],
  [
    "work in part",
    {
      ...ended("partial", "done in part"),
      status: "partial",
      changes: [change("a.py")],
      undone: ran("no reply did it"),
    },
    false,
    "kept in part: 1 file (+2 −1), unverified: no check has proved this; not done: RUN pytest -q (no reply did it); changed: a.py",
  ],
  [
    "a no to the plan",
    { ...ended("declined", "the plan was declined; nothing was changed"), status: "declined" },
    false,
    "not applied, the user declined",
  ],
  [
    "a no in words",
    { ...ended("declined", 'the user declined: "one error text"'), status: "declined" },
    false,
    'not applied, the user declined: "one error text"',
  ],
  [
    "a red check",
    { ...ended("check_failed", "check pytest -q: exit 1"), status: "failed" },
    true,
    "rolled back, failed: check pytest -q: exit 1",
  ],
  [
    "a failure before any change",
    { ...ended("reply_invalid", "the plan was unusable twice"), status: "failed" },
    false,
    "nothing was changed, failed: the plan was unusable twice",
  ],
  [
    "Ctrl+C in the check",
    { ...ended("interrupted", "interrupted"), status: "interrupted" },
    true,
    "rolled back, interrupted by the user",
  ],
  [
    "a failure whose changes were kept",
    { ...ended("check_failed", "check x: exit 1"), status: "failed", changes: [change("a.py")] },
    false,
    "kept: 1 file (+2 −1), failed: check x: exit 1; changed: a.py",
  ],
];

for (const [what, fields, isTakenBack, became] of rows) {
  test(`of ${what} the next request is told what became of it`, () => {
    expect(becameOf(outcome(fields), isTakenBack)).toBe(became);
  });
}

test("a diff is kept up to its last whole line within 4 KB, and says that it was cut", () => {
  const line = `+${"x".repeat(99)}\n`;
  expect(cutDiff(line)).toBe(line);
  const cut = cutDiff(line.repeat(100));
  expect(
    cut
      .split("\n")
      .slice(0, -1)
      .every((each) => each.length === 100),
  ).toBe(true);
  expect(cut).toEndWith("\n[… the rest of the diff is not shown]");
  expect(cut.length).toBeLessThan(4200);
});
