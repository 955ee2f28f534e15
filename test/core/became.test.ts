/** What became of a turn, in pai's own words: what stays on disk and who said no decide, not what the model said. */
import { expect, test } from "bun:test";
import { PaiError, toFailure } from "../../src/core/error.ts";
import { type ChangeSummary, failedOutcome, type Outcome } from "../../src/core/outcome.ts";
import { becameOf, cutDiff, turnRecord } from "../../src/core/session/became.ts";

const change = (path: string): ChangeSummary => ({
  ...{ path, op: "modify", from: null, added: 2, deleted: 1, before: null, after: null, by: "plan" },
});
const checks = (command: string, passed: boolean): Outcome["checks"] => [
  { command, by: "user", exit: passed ? 0 : 1, ms: 1, passed, note: "" },
];
const statuses = { partial: "partial", declined: "declined", interrupted: "interrupted" } as const;
const ended = (code: PaiError["code"], message: string): Partial<Outcome> => ({
  ...{ ok: false, error: toFailure(new PaiError(code, message)) },
  status: statuses[code as keyof typeof statuses] ?? "failed",
});
const outcome = (fields: Partial<Outcome>): Outcome => ({
  ...{ ...failedOutcome("run", toFailure(new PaiError("failed", ""))), ok: true, error: null },
  ...fields,
});

const one = [change("a.py")];
const red = ended("check_failed", "check x: exit 1");
const back = { diff: "-x\n", paths: ["a.py"] };
const no = (path: string) => ({ declined: { diff: "-y\n", paths: [path] } });
const ran = (why: string) => [{ action: "RUN", target: "pytest -q", why }];
const kept = "kept: 1 file (+2 −1)";
const unproved = "unverified: no check has proved this";

const rows: readonly (readonly [string, Partial<Outcome>, string])[] = [
  ["an answer", { status: "answered" }, "answered; nothing was changed"],
  ["a plan", { status: "unverified", planned: true }, "a plan was made; nothing was changed"],
  [
    "verified work",
    { status: "verified", changes: [change("bmi.py"), change("test_bmi.py")], checks: checks("pytest -q", true) },
    "kept: 2 files (+4 −2), verified by pytest -q; changed: bmi.py, test_bmi.py",
  ],
  [
    "a change of the plan beside one that a check made",
    { status: "unverified", changes: [change("a.py"), { ...change("gen.txt"), by: "command" }] },
    `kept: 2 files (+4 −2), ${unproved}; changed: a.py, gen.txt; of these by commands or checks: gen.txt`,
  ],
  [
    "a move into a new folder, and deletions of a file and a folder",
    {
      status: "unverified",
      changes: [
        { ...change("lib"), op: "mkdir", added: 0, deleted: 0 },
        { ...change("core"), op: "move", from: "old", added: 0, deleted: 0 },
        { ...change("lib/a.py"), op: "move", from: "a.py", after: "1" },
        { ...change("b.py"), op: "delete" },
        { ...change("docs"), op: "delete", added: 0, deleted: 0 },
      ],
    },
    `kept: 2 files (+4 −2), ${unproved}; changed: lib/, old → core, a.py → lib/a.py, b.py (deleted), docs (deleted)`,
  ],
  ["work without a check", { status: "unverified", changes: one }, `${kept}, ${unproved}; changed: a.py`],
  [
    "a command that was refused, whatever the model says it showed",
    { status: "unverified", refused: ran("the user declined to run this command") },
    "nothing was changed; not done: RUN pytest -q (the user declined to run this command)",
  ],
  [
    "work in part",
    { ...ended("partial", "done in part"), changes: one, undone: ran("left out in the end") },
    `kept in part: 1 file (+2 −1), ${unproved}; not done: RUN pytest -q (left out in the end); changed: a.py`,
  ],
  [
    "a no to the plan",
    ended("declined", "the plan was declined; nothing was changed"),
    "not applied, the user declined the plan",
  ],
  [
    "a no in words",
    ended("declined", 'the user declined: "one error text"'),
    'not applied, the user declined: "one error text"',
  ],
  [
    "a no to what a command changed, whose line names the file",
    {
      ...ended("partial", "done in part: sh -c 'echo > two.txt; exit 3': exit 3; the rest is kept"),
      ...{ changes: one, ...no("two.txt"), undone: [] },
    },
    `kept in part: 1 file (+2 −1), ${unproved}; changed: a.py; the user did not agree to the changes to: two.txt`,
  ],
  ["a red check", { ...red, rolled_back: back }, "rolled back, failed: check x: exit 1"],
  [
    "a failure before any change",
    ended("reply_invalid", "the plan was unusable twice"),
    "nothing was changed, failed: the plan was unusable twice",
  ],
  [
    "a red check behind which the user took the work back",
    { ...red, rolled_back: back, keep: false },
    "rolled back, as the user chose when asked, failed: check x: exit 1",
  ],
  [
    "a red check behind which the user kept the work",
    { ...red, changes: one, keep: true },
    `${kept}, as the user chose when asked, failed: check x: exit 1; changed: a.py`,
  ],
  [
    "a no to what a command changed in a file, and a yes to an edit of it",
    { status: "verified", changes: one, checks: checks("make", true), ...no("a.py") },
    `${kept}, verified by make; changed: a.py; the user did not agree to the changes to: a.py (others than those kept)`,
  ],
  [
    "a no to a repair, where the check stays red",
    {
      ...ended("declined", "the user declined the changes to a.py"),
      changes: one,
      ...no("a.py"),
      checks: checks("make", false),
    },
    `${kept} from before the user declined the changes to a.py; changed: a.py; checks that failed: make (exit 1)`,
  ],
  [
    "a no to one file in a run that failed for another reason",
    { ...ended("conflict", "README.md was changed by someone else"), ...no("NEWS") },
    "nothing was changed, failed: README.md was changed by someone else; the user did not agree to the changes to: NEWS",
  ],
  [
    "Ctrl+C in the check",
    { ...ended("interrupted", "interrupted"), rolled_back: back },
    "rolled back, interrupted by the user",
  ],
  [
    "Ctrl+C at the diff of a repair",
    { ...ended("interrupted", "interrupted at a question"), rolled_back: back },
    "rolled back, interrupted by the user at a question",
  ],
  [
    "a no to later changes, where the earlier ones were kept",
    { ...ended("declined", "the user declined the changes to b.py"), changes: one, ...no("b.py") },
    `${kept} from before the user declined the changes to b.py; changed: a.py`,
  ],
  [
    "work after two corrections",
    {
      ...{ status: "unverified", changes: one },
      corrections: [
        { about: "plan", words: "no tests" },
        { about: "changes", words: "in French" },
        { about: "changes", words: 'say "oui"\nC:\\new' },
      ],
    },
    `${kept}, ${unproved}; changed: a.py; the user said to the plan: "no tests"; the user said to the changes: "in French", "say "oui"\nC:\\new"`,
  ],
  [
    "a step that was left out, commands and a commit",
    {
      ...{ status: "verified", changes: one, checks: checks("make", true), commit: "0123456789abcdef" },
      skipped: [{ target: "CHANGES.md", why: "no user sees it" }],
      commands: [
        { command: "npm i", exit: 0, ms: 1, ended: "exit" },
        { command: "npm start", exit: null, ms: 1, ended: "timeout" },
      ],
      // biome-ignore lint/suspicious/noThenProperty: the field of the document
      then: [{ command: "wc a.py", exit: 0, ms: 1 }],
    },
    `${kept}, verified by make; changed: a.py; left out of the plan: CHANGES.md (no user sees it); commands that ran: npm i (exit 0), npm start (ended by its time limit); then the user's own commands ran: wc a.py (exit 0); committed as: 0123456789ab`,
  ],
  [
    "an answer under a green check",
    { status: "verified", text: "It adds.", checks: checks("make", true) },
    "answered; nothing was changed; make passed",
  ],
  ["an answer under a red check", { ...red, text: "It adds." }, "answered; nothing was changed; check x: exit 1"],
  [
    "work that met somebody's change, whatever the model announced",
    { ...ended("conflict", "a.py was changed by someone else"), text: "I'll mend it." },
    "nothing was changed, failed: a.py was changed by someone else",
  ],
  [
    "work in part whose check passed",
    { ...ended("partial", "done in part"), changes: one, checks: checks("make", true) },
    "kept in part: 1 file (+2 −1), and make passed; changed: a.py",
  ],
  ["a failure whose changes were kept", { ...red, changes: one }, `${kept}, failed: check x: exit 1; changed: a.py`],
];

for (const [what, fields, became] of rows) {
  test(`of ${what} the next request is told what became of it`, () => {
    expect(becameOf(outcome(fields))).toBe(became);
  });
}

test("a diff is kept up to its last whole line within 4 KB, and says that it was cut", () => {
  const line = `+${"x".repeat(99)}\n`;
  expect(cutDiff(line)).toBe(line);
  const cut = cutDiff(line.repeat(100));
  const lines = cut.split("\n").slice(0, -1);
  expect(lines.every(({ length }) => length === 100)).toBe(true);
  expect(cut).toEndWith("\n[… the rest of the diff is not shown]");
  expect(cut.length).toBeLessThan(4200);
});

test("the record has the words of an answer, also under a red check, and none of a run that failed or was taken back", () => {
  const textOf = (fields: Partial<Outcome>) => turnRecord(outcome(fields)).text;
  const answer = { ...red, text: "It adds." };
  expect(textOf(answer)).toBe("It adds.");
  expect(textOf({ ...answer, actions: { done: 1, failed: 0, refused: 0 } })).toBe("");
  expect(textOf({ status: "unverified", text: "pai's own", claimed: "All done." })).toBe("");
});

test("the record has the diffs of what stands, what was taken back and what was declined, each named", () => {
  const all = { diff: "+kept\n", rolled_back: { diff: "+back\n", paths: [] }, declined: { diff: "+no\n", paths: [] } };
  expect(turnRecord(outcome(all)).diff).toBe("+kept\n\nwhat was taken back:\n+back\n\nwhat the user declined:\n+no\n");
});
