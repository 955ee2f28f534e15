/** How a run ends on the screen and in pipes: what was taken back, what can be typed next, what it cost. */
import { expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import { checkOutdated } from "../../../src/core/outcome.ts";
import { endOf, failed, outcome, show, stamp } from "../fixture.ts";

test("a run that was taken back says how to see its work again, and keeps the model's claim off the results", () => {
  const { changes } = outcome;
  const events = stamp([
    { type: "changes.applied", batch: 1, changes },
    { type: "changes.rolled_back", batch: 1, changes },
  ]);
  const ended = failed(new PaiError("check_failed", "check failed"), { text: "Done." });
  const { out, err } = show(false, {}, { events, outcome: ended });
  expect(out).toBe("x  failed, nothing changed\nbring its changes back with: pai redo 20261121-230000-ab12\n");
  expect(err).toContain("The model said: Done.\n");
  // A redo refuses where somebody else has changed what the run had made.
  const theirs = show(false, {}, { events, outcome: { ...ended, left: ["b.py"] } });
  expect(theirs.out).not.toContain("pai redo");
});

test("what is not so of a run that ended well is the model's words, not a result", () => {
  const { out, err } = show(
    false,
    {},
    { events: [], outcome: { ...outcome, text: "not done: b.py", claimed: "Both done." } },
  );
  expect(out).not.toContain("Both done.");
  expect(err).toContain("The model said: Both done.\n");
});

test("what a person wanted otherwise is not called refused, and a no not somebody's", () => {
  const { changes } = outcome;
  const decided = { type: "changes.decided", batch: 1, changes, accept: false } as const;
  const shown = (more: { readonly by: "user" | "policy"; readonly words?: string }) =>
    show(true, {}, { events: stamp([{ ...decided, ...more }]), outcome }).screen;
  expect(shown({ by: "user", words: "in French" })).toContain("not applied: you want it otherwise\n");
  expect(shown({ by: "user", words: "why in French?" })).toContain("not applied: you asked about it\n");
  expect(shown({ by: "user" })).toContain("not applied: you said no\n");
  expect(shown({ by: "policy" })).toContain("not applied: nobody said yes\n");
});

test("an interrupted run whose changes were taken back says that, and one that kept some ends with that", () => {
  const rolled_back = { diff: "-x\n", paths: ["a.py"] };
  const back = failed(new PaiError("interrupted", "interrupted"), { status: "interrupted", rolled_back });
  expect(endOf(back)).toContain("interrupted, all that it had changed was taken back\n");
  expect(endOf({ ...back, score: 9 })).not.toContain("score");
  const others = { ...back, status: "failed", score: 9, rolled_back: { ...rolled_back, by: "others" } } as const;
  const gone = endOf(others);
  expect(gone).toContain("failed, all that it had changed was taken back by somebody else\n");
  expect(gone).not.toContain("nothing was changed");
  const no = new PaiError("declined", "the user declined the changes to b.py");
  const kept = failed(no, { status: "declined", changes: outcome.changes });
  expect(endOf(kept)).toEndWith("✗ the user declined the changes to b.py; what was applied before stays\n");
});

test("what the last words may call done and is not has a line of its own", () => {
  const declined = { diff: "+x\n", paths: ["made.txt"] };
  const commands = [{ command: "git commit -qm x", exit: 1, ms: 1, ended: "exit" }] as const;
  const ended = { ...outcome, mode: "tool-loop", declined, commands } as const;
  const { screen } = show(true, {}, { events: [], outcome: ended });
  expect(screen).toContain("✗ not done: changes to made.txt  the user declined them\n");
  expect(screen).toContain("! the last command failed: git commit -qm x  exit 1\n");
  const stopped = [{ command: "sleep 40", exit: null, ms: 1, ended: "signal" }] as const;
  const cut = { ...outcome, mode: "tool-loop", status: "interrupted", commands: stopped } as const;
  expect(endOf(cut)).not.toContain("failed");
  expect(endOf(cut)).toContain("! stopped before it ended: sleep 40\n");
  const lost = { ...outcome, lost: ["made.txt"] };
  expect(endOf(lost)).toContain("! edits that are no longer there, by somebody else or a check: made.txt\n");
  const no = failed(new PaiError("declined", "the plan was declined"), { status: "declined", declined });
  expect(endOf(no)).not.toContain("made.txt");
  expect(endOf(no)).toEndWith("✗ the plan was declined\n  nothing was changed\n");
  const refused = [{ action: "WRITE", target: "made.txt", why: "the user declined the changes to made.txt" }];
  const told = endOf({ ...ended, refused });
  expect(told.match(/made\.txt/g)).toHaveLength(2);
});

test("what was changed while checks ran is not called a command's where none ran", () => {
  const counts = { from: null, added: 1, deleted: 0, before: null, after: null };
  const changes = [{ path: "README.md", op: "modify", by: "command", ...counts }] as const;
  expect(endOf({ ...outcome, changes })).toContain("● modify README.md  +1  while checks ran\n");
  const commands = [{ command: "make", exit: 0, ms: 1, ended: "exit" }] as const;
  expect(endOf({ ...outcome, changes, commands })).toContain("● modify README.md  +1  by command\n");
});

test("what stays behind a no names the checks that fail on it", () => {
  const { changes } = outcome;
  const checks = [{ command: "make", by: "user", exit: 1, ms: 1, passed: false }] as const;
  const no = new PaiError("declined", "the user declined the changes to b.py");
  expect(endOf(failed(no, { status: "declined", changes, checks }), { columns: () => 200 })).toEndWith(
    "what was applied before stays, with 1 failed check: make\n",
  );
  const conflict = failed(new PaiError("conflict", "somebody"), { changes, checks });
  expect(endOf(conflict)).toEndWith("✗ somebody, with 1 failed check: make\n");
  const old = checks.map((check) => ({ ...check, note: checkOutdated }));
  expect(endOf({ ...conflict, checks: old })).toEndWith("✗ somebody\n");
});

test("behind a no what was taken back is not called applied, but for what somebody else left", () => {
  const left = ["a.py"];
  const checks = [{ command: "make", by: "user", exit: 1, ms: 1, passed: false }] as const;
  const no = new PaiError("declined", "the user declined the changes to b.py");
  const ended = failed(no, { status: "declined", changes: outcome.changes, left, checks });
  expect(endOf(ended, { columns: () => 200 })).toEndWith(
    "✗ the user declined the changes to b.py; of what was applied before only a.py stays, as somebody else left it\n",
  );
});

test("on a screen a turn that changed and checked nothing has nothing to prove", () => {
  const ended = { ...outcome, status: "unverified", text: "It says 3.", changes: [], checks: [], next: [] } as const;
  expect(endOf(ended)).not.toContain("unverified");
  expect(show(false, {}, { events: [], outcome: ended }).out).toContain("unverified");
});

test("on a screen the reason of a failure comes with what was changed, not below it", () => {
  const told = (message: string) => endOf(failed(new PaiError("edit_failed", message, { hint: "look at it" })));
  expect(told("a.txt: not found")).toEndWith("✗ a.txt: not found\n  nothing was changed\n→ look at it\n");
  expect(told("a.txt: not found")).not.toContain("failed, nothing changed");
  expect(told("no; nothing was changed")).toContain("✗ no; nothing was changed\n");
});

test("where changes could not be taken back, nothing says that nothing was changed", () => {
  const full = failed(new PaiError("disk_full", "no space left"), { changes: outcome.changes });
  for (const tty of [true, false])
    expect(show(tty, {}, { events: [], outcome: full }).screen).not.toMatch(/nothing (?:was )?changed|not written/);
});

test("a pause before the next attempt leaves a line only where it cannot be counted down, and with --verbose", () => {
  const wait = { why: "gemini is not available", seconds: 2, attempt: 1, of: 5 };
  const text = `${wait.why}; asking again in 2 s (1 of 5)`;
  const events = stamp([
    { type: "model.started", n: 1, purpose: "plan", model: "gemini:x", estimate: 1 },
    { type: "notice", level: "info", code: "waiting", text, wait },
  ]);
  const lines = (options: object) => show(true, options, { events, outcome }).screen.split("\n");
  expect(lines({ live: false })).toContain(`· ${text}`);
  expect(lines({ live: true, verbose: true })).toContain(`· ${text}`);
  expect(lines({ live: true }).join()).not.toContain("asking again");
});

test("the details of a notice are shown only with -v", () => {
  const text = "sandbox full, network off";
  const events = stamp([{ type: "notice", level: "info", code: "sandbox", text, details: "hidden: .env" }]);
  const lines = (options: object) => show(true, options, { events, outcome }).screen.split("\n");
  expect(lines({})).toContain(`· ${text}`);
  expect(lines({ verbose: true })).toContain(`· ${text} (hidden: .env)`);
});

test("with --verbose a model's thoughts are lines as they come, without -v only the wait tells of them", () => {
  const events = stamp([
    { type: "model.started", n: 1, purpose: "plan", model: "gemini:x", estimate: 1 },
    { type: "model.delta", n: 1, channel: "thought", text: "First I look.\n\nThen " },
    { type: "model.delta", n: 1, channel: "thought", text: "I write \u001b[31mred." },
    { type: "model.progress", n: 1, replied: false, thought: 20, lines: 0 },
    { type: "model.delta", n: 1, channel: "reply", text: "Hello" },
  ]);
  const lines = (options: object) => show(true, options, { events, outcome }).screen.split("\n");
  const told = (options: object) => lines(options).filter((line) => line.startsWith("thinking: "));
  expect(told({ live: false, verbose: true })).toEqual([
    "thinking: First I look.",
    "thinking: Then I write \\x1b[31mred.",
  ]);
  expect(told({ live: false })).toEqual([]);
});

test("in a session the result names what can be typed there", () => {
  const { screen } = show(true, { kind: "session" });
  expect(screen).toMatch(/next steps \(y does (all, a number one of them|it)\)/);
  expect(screen).toContain("undo with: pai undo, here: /undo\n");
  expect(show(true).screen).not.toContain("here: /undo");
});

test("where nothing was changed, a passed check is said to prove just that", () => {
  const ended = { ...outcome, changes: [], next: [], text: "It is in src/main.py." };
  expect(endOf(ended)).toContain("✓ verified by 1 check, nothing changed\n");
  expect(endOf(outcome)).toContain("✓ verified by 1 check\n");
});

test("what was not done is said once", () => {
  const refused = [{ action: "MODIFY", target: "a.py", why: "the user declined to change a.py" }];
  const { screen } = show(true, {}, { events: [], outcome: { ...outcome, refused } });
  expect(screen).toContain("✗ not done: MODIFY a.py  the user declined to change a.py\n");
});

test("what the error says of an action is not said twice", () => {
  const why = "the text to replace is not in the file";
  const refused = [{ action: "MODIFY", target: "a.py", why }];
  const screen = endOf(failed(new PaiError("edit_failed", `MODIFY a.py: ${why}`), { refused }));
  expect(screen.match(/the text to replace/g)).toHaveLength(1);
});

test("where the checks never settle, the last line names what changed", () => {
  const ended = { ...outcome, status: "unverified", next: [] } as const;
  const applied = stamp([{ type: "changes.applied", batch: 1, changes: outcome.changes }]);
  const last = (unsettled: readonly string[], checks = outcome.checks) =>
    show(true, {}, { events: applied, outcome: { ...ended, unsettled, checks } }).screen;
  expect(last(["a.py"])).toContain("! unverified: a.py changed each time the check ran\n");
  const two = [...outcome.checks, ...outcome.checks];
  expect(last(["a", "b", "c", "d", "e"], two)).toContain(
    "! unverified: a, b, c and 2 more changed each time the checks ran\n",
  );
});

test("on a screen a command that was red is said where it ran and in the error, and not once more between them", () => {
  const error = new PaiError("partial", "done in part: make: exit 2; the rest is kept");
  const undone = [
    { action: "RUN", target: "make", why: "exit 2" },
    { action: "MODIFY", target: "NEWS.md", why: "left out in the end" },
  ];
  const ended = failed(error, { status: "partial", changes: outcome.changes, undone });
  expect(endOf(ended).match(/left undone: .*|done in part: make.*/g)).toEqual([
    "left undone: MODIFY NEWS.md  left out in the end",
    "done in part: make: exit 2; the rest is kept",
  ]);
  expect(show(false, {}, { events: [], outcome: ended }).out).toContain("left undone: RUN make  exit 2\n");
});
