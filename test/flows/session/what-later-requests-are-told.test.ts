/** What the request of a later turn is told of the turns before: what became of them and what the person decided, in every mode. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderForSummary } from "../../../src/core/session/past.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { call, calling, calls, resultsOf } from "../loop.ts";
import { finish, modify, planTo, schedule, talk, verdict, write } from "../plans.ts";
import { capOf, type Setup } from "../scripted.ts";
import { ask, openTurns, type Turned } from "../turns.ts";

const interactive = { interactive: true } as const;
const words = { feedback: "in words, please" } as const;

/** The messages of the first request of a turn, as text. */
const sent = ({ requests }: Turned): string => JSON.stringify(requests[0]?.messages);

describe("corrections and a no at the diff", () => {
  const edit = (to: string) => modify("a.txt", ["one\n", `${to}\n`]) + finish(`It says ${to} now.`);
  const declined: Omit<Setup, "task"> = {
    lines: [planTo("MODIFY a.txt"), edit("1"), edit("uno")],
    options: { ...interactive, review: "batch" },
    answers: ["yes", words, "no", "no"],
  };

  test("the second script stays in the dialogue, and the record has the words and what was declined", async () => {
    const turns = openTurns({ "a.txt": "one\n" });
    await turns.say("make it a number", declined);
    const next = await turns.say("what now?", ask);
    const all = sent(next);
    expect(all).toContain("uno");
    expect(all).toContain("in words, please");
    expect(all).not.toContain("It says uno now.");
    expect(next.past).toBe(
      'pai: not applied, the user declined the changes to a.txt; the user said to the changes: "in words, please"',
    );
  });

  test("a resumed session is told the same, with the diff that was declined", async () => {
    const turns = openTurns({ "a.txt": "one\n" });
    await turns.say("make it a number", declined);
    turns.resume();
    const { past } = await turns.say("what now?", ask);
    expect(past).toContain('declined the changes to a.txt; the user said to the changes: "in words, please"');
    expect(past).toContain("what the user declined:");
    expect(past).toContain("uno");
    expect(past).not.toContain("now.");
  });

  test("with --review what was agreed to stays, and the record names what was not", async () => {
    const turns = openTurns({ "a.txt": "one\n", "b.txt": "one\n" });
    const edits = modify("a.txt", ["one\n", "1\n"]) + modify("b.txt", ["one\n", "2\n"]) + finish("Both are numbers.");
    const ran = await turns.say("make both numbers", {
      lines: [planTo("MODIFY a.txt", "MODIFY b.txt"), edits],
      options: { ...interactive, review: "change" },
      answers: ["yes", "yes", "no"],
    });
    expect(ran.files).toEqual({ "a.txt": "1\n", "b.txt": "one\n" });
    expect(ran.outcome).toMatchObject({
      ...{ status: "partial", code: 15, claimed: "Both are numbers.", refused: [] },
      undone: [{ action: "MODIFY", target: "b.txt", why: "the user declined it" }],
    });
    const next = await turns.say("what now?", ask);
    expect(next.past).toBe(
      "pai: kept in part: 1 file (+1 −1), unverified: no check has proved this; not done: MODIFY b.txt (the user declined it); changed: a.txt; the user did not agree to the changes to: b.txt",
    );
    expect(sent(next)).not.toContain("Both are numbers.");
  });

  test("eight-step does not mend what was declined, and tool-loop is told of each change by itself", async () => {
    const turns = openTurns();
    const both = write("a.txt", "a\n") + write("b.txt", "b\n");
    const lines = [schedule({ create: ["a.txt", "b.txt"] }), both, verdict(false), "Wrote what you wanted."];
    const steps = { ...interactive, mode: "eight-step", review: "change" } as const;
    const ran = await turns.say("write", { lines, flow: eightStep, options: steps, answers: ["yes", "yes", "no"] });
    expect([ran.outcome.status, ran.files]).toEqual(["partial", { "a.txt": "a\n" }]);
    const make = (path: string) => call("write", { path, content: "1\n" });
    const options = { ...interactive, mode: "tool-loop", review: "change" } as const;
    const looped = await turns.say("write c and d", {
      lines: [calls(make("c.txt"), make("d.txt")), "Only c.txt."],
      ...{ flow: toolLoop, options, answers: ["no", "yes"] },
    });
    expect(looped.past).toContain("kept in part: 1 file (+1 −0)");
    const results = [{ text: "the user declined the changes to c.txt" }, { text: "new, 2 bytes" }];
    expect(resultsOf(looped, 2)).toMatchObject(results);
    expect(Object.keys(looped.files)).toEqual(["a.txt", "d.txt"]);
  });

  test("work that was declined with its plan is told to the next process with its diff", async () => {
    const turns = openTurns({ "a.txt": "one\n" });
    const options = { ...interactive, atOnce: "always" } as const;
    const setup = { options, answers: [words, "no"] } as const;
    await turns.say("make it a number", { lines: [edit("1"), edit("uno")], ...setup });
    expect(sent(await turns.say("what is there?", ask))).not.toContain("It says uno now.");
    turns.resume();
    const { past } = await turns.say("what now?", ask);
    expect(past).toContain('not applied, the user declined the plan; the user said to the plan: "in words, please"');
    expect(past).toContain("what the user declined:");
    expect(past).toContain("+uno");
    expect(past).not.toContain("\n  +1\n");
  });

  test("a script that counts as a plan claims nothing any more when it was declined", async () => {
    const turns = openTurns();
    const options = { ...interactive, atOnce: "always" } as const;
    const lines = [`FILES:\nI run it once.\nRUN::true\n${finish("It was run.")}`];
    await turns.say("run true", { lines, options, answers: ["no"] });
    const later = sent(await turns.say("what is there?", { ...ask, options }));
    expect(later).toContain("I run it once.");
    expect(later).not.toContain("It was run.");
  });
});

describe("the last words of a turn that failed", () => {
  const edit = (words: string) => modify("a.txt", ["one\n", "two\n"]) + finish(words);
  const words = "It says two. Shall the test say two as well?";

  test("of them the question is told, after the session is resumed, too", async () => {
    const turns = openTurns({ "a.txt": "one\n" });
    const options = { ...interactive, checks: ["false"], ...capOf(2) };
    const lines = [planTo("MODIFY a.txt"), edit(words)];
    const { outcome } = await turns.say("make it two", { lines, options, answers: ["yes", "no"] });
    expect(outcome).toMatchObject({ changes: [], claimed: words });
    turns.resume();
    const next = await turns.say("yes, do that", ask);
    expect(next.past).toContain("you: Shall the test say two as well?");
    expect(sent(next)).not.toContain("It says two.");
  });

  test.each([
    ["work", ""],
    ["a plan", modify("b.txt", ["nowhere\n", "x\n"])],
  ])("of %s are left out where a conflict ended it before its work, and are not its result", async (_, edit) => {
    const turns = openTurns({ "a.txt": "one\n" });
    const options = { ...interactive, atOnce: "always" } as const;
    const { outcome } = await turns.say("make it b.txt", {
      lines: [`FILES: a.txt, b.txt\nMV::a.txt::b.txt\n${edit}${finish("It is b.txt.")}`],
      options,
      onQuestion: () => writeFileSync(join(turns.root, "a.txt"), "three\n"),
      answers: "yes",
    });
    expect([outcome.error?.code, outcome.text]).toEqual(["conflict", edit === "" ? outcome.error?.message : ""]);
    const later = sent(await turns.say("what now?", { ...ask, options }));
    expect(later).toContain("MV::a.txt::b.txt");
    expect(later).not.toContain("It is b.txt.");
  });
});

describe("what a run did besides its changes", () => {
  test("words that came before a command failed are a claim, and those behind it stand", async () => {
    const turns = openTurns();
    const steps = ["WRITE a.txt", "RUN false"];
    const options = { ...interactive, allowRun: true };
    const early = `${write("a.txt", "a\n")}RUN::false\n${finish("I committed it.")}`;
    const setup = { options, answers: "yes" } as const;
    const cap = { ...options, ...capOf(2) };
    const first = await turns.say("do it", { ...setup, options: cap, lines: [planTo(...steps), early] });
    expect(first.outcome).toMatchObject({ status: "partial", claimed: "I committed it." });
    const again = [planTo("WRITE b.txt", "RUN false"), early.replaceAll("a.txt", "b.txt")];
    const second = await turns.say("do b", { ...setup, lines: [...again, finish("It failed.")] });
    expect(second.outcome).toMatchObject({ status: "partial", text: "It failed." });
    expect(second.past).toMatch(/^pai: kept in part: .*commands that ran: false \(exit 1\)$/);
    expect(sent(second)).not.toContain("I committed it.");
  });

  test("a next step that answers a red command stands", async () => {
    const turns = openTurns();
    const offered = "FINISH::EOT\nIt fails.\nNEXT: Mend it\nEND::EOT\n";
    const options = { ...interactive, allowRun: true };
    const lines = [planTo("RUN false"), `RUN::false\n${offered}`];
    const { outcome } = await turns.say("run it", { lines, options, answers: "yes" });
    expect(outcome).toMatchObject({ error: { code: "command_failed" }, text: "It fails.", next: ["Mend it"] });
  });

  test("a failure that an earlier turn left behind is called older than this task, and nothing else", async () => {
    const turns = openTurns({ "a.sh": "exit 0\n" });
    const options = { ...interactive, checks: ["sh a.sh"] } as const;
    const edit = [
      planTo("MODIFY a.sh"),
      modify("a.sh", ["exit 0\n", "echo Error: broken; exit 1\n"]) + finish("Done."),
    ];
    const broken = { lines: [...edit, finish("Done."), finish()], options: { ...options, keep: true } };
    await turns.say("break it", { ...broken, answers: "yes" });
    const work = write("b.txt", "b\n") + finish("Done.");
    const next = await turns.say("write b.txt", {
      lines: [planTo("WRITE b.txt"), work, finish("Done.")],
      ...{ options, answers: "yes" },
    });
    expect(next.told(1)).toContain("Checks of the user, before this task;");
    expect(next.asked(3)).toContain("These failures were there before the first change of this task: ");
    expect(next.told(3)).not.toMatch(/old:|before your work|before any change/);
  });
});

describe("a summary of /rewind", () => {
  const answer = (text: string) => ({ lines: [talk(text)], options: interactive, answers: [] });
  const loop = { flow: toolLoop, options: { ...interactive, mode: "tool-loop" }, answers: "yes" } as const;

  test("is made from what became of the turns, whatever was said", async () => {
    const turns = openTurns();
    const make = calling("write", { path: "a.txt", content: "a\n" });
    await turns.say("make it", { ...loop, answers: ["no"], lines: [make, "You did not want it."] });
    await turns.say("what of b?", answer("B."));
    const told = renderForSummary(turns.open.session, "[User]\nmake it");
    expect(told).toContain("user: make it\npai: nothing was changed; not done: WRITE a.txt (the user declined");
    expect(told).toContain("user: what of b?\nyou: B.\npai: answered; nothing was changed");
    expect(told).not.toContain("You did not want it.");
  });
});

describe("a plan that nobody carried out", () => {
  const made = planTo("MODIFY a.txt", "MV b.txt -> c.txt", "RUN make test");
  const told = "the plan proposed: MODIFY a.txt, MV b.txt → c.txt, RUN make test";

  test("is told in short: made alone, or declined", async () => {
    const turns = openTurns({ "a.txt": "one\n", "b.txt": "two\n" });
    await turns.say("change it", { lines: [made], options: { ...interactive, planOnly: true } });
    expect((await turns.say("why b?", ask)).past).toContain(`a plan was made; nothing was changed; ${told}`);
    await turns.say("change it", { lines: [made], options: interactive, answers: ["no"] });
    turns.resume();
    expect((await turns.say("why b?", ask)).past).toContain(`not applied, the user declined the plan; ${told}`);
  });
});

describe("tool-loop", () => {
  test("what became of a turn that failed is said once, and not by the model", async () => {
    const turns = openTurns();
    const make = calling("write", { path: "a.txt", content: "a\n" });
    const options = { ...interactive, mode: "tool-loop", checks: ["false"], keep: true };
    const all = { flow: toolLoop, options, answers: "yes" } as const;
    await turns.say("make it", { ...all, lines: [make, "Done.", "Done.", "Done."] });
    const next = await turns.say("what now?", { ...all, lines: ["So it is."] });
    expect(sent(next).match(/kept: 1 file/g)).toHaveLength(1);
    expect(next.past).toMatch(/^pai: kept: 1 file \(\+1 −0\), failed: check failed: false/);
  });
});
