/** Words and a no at the diffs of one script: what the run, its next request and the next turn make of them. */
import { expect, test } from "bun:test";
import type { Question } from "../../../src/core/question.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { calling } from "../loop.ts";
import { finish, modify, plan, planTo, schedule, talk, verdict, write } from "../plans.ts";
import { type Files, placeFiles, play, type Setup, stopper } from "../scripted.ts";
import { ask, openTurns, type Turns } from "../turns.ts";

const options = { interactive: true, review: "change" } as const;
const words = { feedback: "in words, please" } as const;
const edit = (path: string, to: string) => modify(path, ["one\n", `${to}\n`]);

test("a no behind words is the reason, ends the run before a command, and asks nothing more", async () => {
  const turns = openTurns({ "a.txt": "one\n" });
  const again = `${edit("a.txt", "uno")}RUN::true\nSKIP::NEWS::not wanted\n${finish("Done.")}`;
  const ran = await turns.say("make it a number", {
    lines: [
      planTo("MODIFY a.txt", "WRITE NEWS", "RUN true"),
      edit("a.txt", "1") + write("NEWS", "n\n") + finish("Done."),
      again,
    ],
    ...{ options, answers: ["yes", words, "no"] },
  });
  expect(ran.told(3)).toContain("Not done either, since these come first: WRITE NEWS\n");
  expect(ran.outcome).toMatchObject({ status: "declined", refused: [] });
  expect(ran.outcome.commands).toBeUndefined();
  const { past } = await turns.say("what now?", ask);
  expect(past).toMatch(
    /^pai: not applied, the user declined the changes to a.txt; not done: WRITE NEWS [^;]*; the user said to [^;]*$/,
  );
});

test("words at one diff are sent with what the person said to the others", async () => {
  const turns = openTurns({ "a.txt": "one\n", "b.txt": "one\n" });
  const ran = await turns.say("make both numbers", {
    lines: [
      planTo("MODIFY a.txt", "WRITE NEWS", "MODIFY b.txt"),
      edit("a.txt", "1") + write("NEWS", "n\n") + edit("b.txt", "2") + finish("Done."),
      edit("b.txt", "two") + finish("Done."),
    ],
    ...{ options, answers: ["yes", "yes", "no", words, "yes"] },
  });
  expect(ran.files).toEqual({ "a.txt": "1\n", "b.txt": "two\n" });
  expect(ran.told(3)).toContain("done: MODIFY a.txt");
  expect(ran.told(3)).toContain("FAILED: WRITE NEWS\nthe user declined the changes to NEWS");
  expect(ran.told(3)).not.toContain("MODIFY b.txt");
});

test("a green check proves nothing where the person declined all that was to be changed", async () => {
  const turns = openTurns();
  const ran = await turns.say("write a.txt", {
    lines: [calling("write", { path: "a.txt", content: "a\n" }), "You did not want it."],
    ...{ flow: toolLoop, options: { interactive: true, mode: "tool-loop", checks: ["true"] }, answers: ["no"] },
  });
  expect(ran.outcome).toMatchObject({ ok: true, status: "unverified", changes: [] });
});

test("a message alone, behind a command that failed, is the last word: nothing is asked again", async () => {
  const turns = openTurns();
  const steps = ["WRITE a.txt", "RUN false"];
  const work = `${write("a.txt", "a\n")}RUN::false\n${finish("I did it.")}`;
  const ran = await turns.say("do it", {
    lines: [plan({ steps, complexity: "complex" }), work, finish("It failed.")],
    ...{ options: { interactive: true, allowRun: true }, answers: "yes" },
  });
  expect(ran.outcome).toMatchObject({ status: "partial", text: "It failed.", undone: [{ target: "false" }] });
});

test("a no to what a command changed makes no answer of the turn", async () => {
  const turns = openTurns();
  await turns.say("make a.txt", {
    lines: [calling("bash", { command: "touch a.txt" }), "It is there."],
    ...{ flow: toolLoop, options: { interactive: true, mode: "tool-loop" }, answers: ["yes", "no"] },
  });
  expect((await turns.say("what now?", ask)).past).toContain(
    "the user did not agree to the changes to: a.txt; commands that ran: touch a.txt (exit 0, and nothing that it changed was kept)",
  );
});

test("a command that pai runs itself at the end takes no words: no reply would follow them", async () => {
  const lines = [planTo("WRITE b.txt", "RUN echo one > a.txt"), write("b.txt", "b\n") + finish("Done.")];
  const ran = await play({ lines, options: { interactive: true, allowRun: true }, answers: ["yes", "no"] });
  const asked = ran.questions.find(({ kind }) => kind === "batch");
  expect(asked?.takesWords).toBe(false);
  expect(ran.outcome.declined?.paths).toEqual(["a.txt"]);
});

const question = { feedback: "why is 1 better than a word?" } as const;

test("a question at the plan and a no behind it are told as that, and not as a wish", async () => {
  const turns = openTurns({ "a.txt": "one\n" });
  const ran = await turns.say("make it a number", {
    lines: [edit("a.txt", "1") + finish("Done."), talk("Because one can count with it.")],
    ...{ options: { interactive: true, atOnce: "always" }, answers: [question, "no"] },
  });
  expect(ran.outcome.status).toBe("declined");
  turns.resume();
  expect((await turns.say("what now?", ask)).past).toContain(
    'pai: not applied, the user declined the plan; the user said to the plan: "why is 1 better than a word?"\n',
  );
});

test("a command that the person stopped is told with those that ran", async () => {
  const turns = openTurns();
  const { signal, stop } = stopper();
  const onEvent: Setup["onEvent"] = ({ type }) => type === "command.output" && stop();
  await turns.say("run them", {
    lines: [planTo("RUN true", "RUN echo hi; sleep 20")],
    ...{ options: { interactive: true }, answers: "yes", signal, onEvent },
  });
  const { past } = await turns.say("what now?", ask);
  const ran =
    "commands that ran: true (exit 0), echo hi; sleep 20 (ended by a signal, and nothing that it changed was kept)";
  expect(past).toContain(`interrupted by the user; ${ran}`);
  expect(past).toContain("the command echo hi; sleep 20 printed at last:\n  hi");
});

test("words at a plan with its diff, then a stop while the model answers: nothing was declined, and no old order is sent", async () => {
  const turns = openTurns({ "a.txt": "one\n" });
  const script = `FILES: a.txt\n${edit("a.txt", "1")}${finish("It is a number now.")}`;
  const { signal, stop } = stopper();
  const atOnce = { interactive: true, atOnce: "auto" } as const;
  const ran = await turns.say("make it a number", {
    lines: [script, { text: script, before: stop }],
    ...{ options: atOnce, answers: [words], signal },
  });
  expect(ran.outcome).toMatchObject({ status: "interrupted", corrections: [{ words: words.feedback }] });
  expect(ran.outcome.declined).toBeUndefined();
  const next = await turns.say("what now?", { ...ask, options: atOnce });
  const sent = JSON.stringify(next.requests[0]?.messages);
  expect(sent).not.toContain("Answer again");
  expect(sent).not.toContain("It is a number now.");
  expect(next.past).toContain("interrupted by the user");
  expect(next.past).toContain('to the plan: "in words, please"');
});

test("a turn that is stopped before the model answers takes no words out of the answer before it", async () => {
  const turns = openTurns();
  const options = { interactive: true } as const;
  await turns.say("what is missing?", { lines: [finish("Stone and the long ton are missing.")], options });
  const { signal, stop } = stopper();
  const ran = await turns.say("add both", { lines: [{ text: "", before: stop }], options, signal });
  expect(ran.outcome.status).toBe("interrupted");
  const { requests } = await turns.say("only the first", { ...ask, options });
  expect(JSON.stringify(requests[0]?.messages)).toContain("Stone and the long ton are missing.");
});

test("what a stopped run last asked the model for is called off in the next request", async () => {
  const files = { "a.txt": "one\n", "b.txt": "one\n" };
  const made = plan({ steps: ["MODIFY a.txt", "MODIFY b.txt"], complexity: "moderate" });
  const part = edit("a.txt", "1") + finish("Done.");
  const runs = [
    { before: [], answers: ["yes"], order: "The plan is approved. Carry it out: an action script." },
    {
      before: [part, edit("a.txt", "uno")],
      answers: ["yes", words, "yes"],
      order: "Answer with an action script again",
    },
  ] as const;
  for (const { before, answers, order } of runs) {
    const turns = openTurns(files);
    const { signal, stop } = stopper();
    const lines = [made, ...before, { text: "", before: stop }];
    const setup = { options: { interactive: true, review: "batch" }, answers, signal } as const;
    const ran = await turns.say("make both numbers", { lines, ...setup });
    expect([ran.outcome.status, ran.asked(lines.length).includes(order)]).toEqual(["interrupted", true]);
    const { requests } = await turns.say("what now?", ask);
    const last = requests[0]?.messages.at(-1);
    const text = last?.role === "user" ? last.text : "";
    expect(text.indexOf("This is no longer asked for.")).toBeGreaterThan(text.indexOf(order));
    expect(text).toMatch(/asked for\. What it says [^)]*\).*interrupted by the user.*Request: what now\?$/s);
  }
});

test("planned steps that the run did not come to are told where a no ended it and the person kept the rest", async () => {
  const turns = openTurns();
  const lines = [
    schedule({ steps: ["one", "two"], create: ["a.py", "b.py", "c.py"], run: ["true"] }),
    ...[`SKIP::c.py::not needed\n${write("a.py", "x\n")}`, write("a.py", "y\n"), verdict(true)],
    write("b.py", "z\n"),
  ];
  const steps = { interactive: true, mode: "eight-step", review: "batch" } as const;
  const answers = ["yes", words, "yes", "no", "yes"] as const;
  const ran = await turns.say("write", { lines, flow: eightStep, options: steps, answers });
  const why = "the run ended before it";
  expect(ran.outcome).toMatchObject({
    status: "declined",
    undone: ["c.py", "true"].map((target) => ({ target, why })),
  });
  expect(ran.files).toEqual({ "a.py": "y\n" });
  const { past } = await turns.say("what is missing?", ask);
  expect(past).toContain(
    `as the user chose when asked; not done: WRITE c.py (${why}), RUN true (${why}); changed: a.py`,
  );
});

const work = `${edit("c.txt", "uno")}${edit("a.txt", "uno")}${write("b.txt", "b\n")}RUN::true\n${finish("Done.")}`;
const failed = "MODIFY c.txt (the text to replace is not in the file)";
const whenSeen = (turns: Turns, made: Files) => (question: Question) => {
  if (question.kind === "plan") placeFiles(turns.root, made);
};

test("a run that a conflict ended is told with every step of its script, each once and with its reason, and counts all", async () => {
  const turns = openTurns({ "a.txt": "one\n", "c.txt": "one\n" });
  const ran = await turns.say("translate", {
    ...{ lines: [`FILES: a.txt, b.txt, c.txt\n${work}`], answers: "yes" },
    options: { interactive: true, allowRun: true, atOnce: "auto" },
    onQuestion: whenSeen(turns, { "c.txt": "two\n", "b.txt": "mine\n" }),
  });
  expect(ran.outcome).toMatchObject({ code: 11, actions: { done: 0, failed: 4, refused: 0 } });
  const why = "(the run ended before it)";
  expect((await turns.say("what is missing?", ask)).past).toContain(
    `; not done: ${failed}, MODIFY a.txt ${why}, WRITE b.txt (${ran.outcome.error?.message}), RUN true ${why};`,
  );
});
