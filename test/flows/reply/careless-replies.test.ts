/** What careless models do with a prompt they half understood: it must cost no call that is not needed. */
import { describe, expect, test } from "bun:test";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { call, calling, calls, playLoop, resultsOf } from "../loop.ts";
import { finish, modify, plan, planTo, schedule, write } from "../plans.ts";
import { makeFolder, play, playIn, type Ran } from "../scripted.ts";

const files = { "a.txt": "one\n" };
const done = modify("a.txt", ["one\n", "1\n"]);
const steps = ["MODIFY a.txt"];

test.each([
  ["by itself", steps],
  ["as the plan promised", [...steps, "RUN test -f a.txt"]],
])("a check that the model runs %s is left to pai, at no call more", async (_, steps) => {
  const lines = [planTo(...steps), `${done}RUN::test -f a.txt\n${finish()}`];
  const ran = await play({ files, lines, options: { checks: ["test -f a.txt"], allowRun: true } });
  expect(ran.outcome).toMatchObject({ code: 0, status: "verified", calls: { made: 2 } });
  expect(ran.eventsOf("call.finished").map(({ action }) => action)).toEqual(["MODIFY"]);
  expect(ran.told(2)).toContain('(no need to run them):\n<check command="test -f a.txt" exit="0" note="passes">');
});

test("when all is done and only something extra was refused words without a script end the run", async () => {
  const first = `${done}RM::b.txt\n${finish("It says 1 now.\nNEXT: Add two")}`;
  const lines = [plan({ steps, complexity: "moderate" }), first, "Sorry! Everything is done."];
  const ran = await play({ files: { ...files, "b.txt": "two\n" }, lines, options: { allowDelete: true } });
  expect(ran.outcome).toMatchObject({ code: 0, text: "It says 1 now.", next: ["Add two"], calls: { made: 3 } });
  expect(ran.asked(3)).toContain("only what is left, ended with FINISH (alone when nothing is)");
});

test("absolute paths below the root are relative ones: in plans, scripts and through a link to the folder", async () => {
  const place = makeFolder(files);
  const script = done.replace("MODIFY::a.txt", `MODIFY::${place.root}/a.txt`) + finish();
  const ran = await playIn(place, { lines: [planTo(`MODIFY ${place.root}/a.txt`), script] });
  expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 2 }, changes: [{ path: "a.txt" }] });
  expect(ran.outcome.plan?.execution_plan?.steps[0]?.target).toBe("a.txt");
});

test("a whole file in place of edits is answered once with what was seen and what to send", async () => {
  const lines = [planTo(...steps), `MODIFY::a.txt::EOT\n1\nEND::EOT\n${finish()}`, done + finish()];
  const ran = await play({ files, lines });
  expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 3 } });
  expect(ran.asked(3)).toContain("FAILED: MODIFY a.txt\n");
  expect(ran.asked(3)).toContain("it holds no complete SEARCH/REPLACE block\nSend blocks of <<<<<<< SEARCH");
});

test("a run that ends on words says how they began", async () => {
  const lines = [planTo(...steps), ...Array<string>(3).fill("I am sorry, I cannot do that.\nAsk me something else.")];
  const { outcome } = await play({ files, lines });
  expect(outcome.error).toMatchObject({
    code: "reply_invalid",
    message: "the reply held no action and no answer; it began: I am sorry, I cannot do that.",
  });
});

describe("a FINISH that was not written by the rules", () => {
  const said = async (end: string) => {
    const { outcome } = await play({ files, lines: [planTo(...steps), done + end] });
    return [outcome.code, outcome.text, outcome.next];
  };

  test("says all that follows it when its END is missing", async () => {
    expect(await said("FINISH::EOT\nIt is:\n\n    1\n\nNEXT: Add two\n")).toEqual([0, "It is:\n\n    1", ["Add two"]]);
    expect(await said("FINISH::EOT\nIt says 1.\nEND :: EOT\n```<|im_end|>")).toEqual([0, "It says 1.", []]);
  });

  test("keeps the next steps that follow it", async () => {
    expect(await said("FINISH::It says 1.\n\n- NEXT: Add two\n**NEXT:** Add three\nHave fun!")).toEqual([
      0,
      "It says 1.",
      ["Add two", "Add three"],
    ]);
    expect(await said(`${finish("It says 1.\nNEXT: Add two")}NEXT: Add three`)).toEqual([0, "It says 1.", ["Add two"]]);
  });
});

test("a file whose end nobody can tell is asked for again, with the reason", async () => {
  const lines = [
    planTo("WRITE b.txt", "RUN make"),
    "WRITE::b.txt::EOT\ntwo\nRUN::make\nFINISH::ok",
    write("b.txt", "two\n") + finish(),
  ];
  const ran = await play({ lines });
  expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 3 } });
  expect(ran.purposes).toBe("plan execute execute");
  expect(ran.asked(3)).toContain("line 1: WRITE::b.txt has no END::EOT: send it again");
  expect(ran.files).toEqual({ "b.txt": "two\n" });
});

describe("a step of eight-step", () => {
  const two = schedule({ complexity: "moderate", steps: ["one", "two"], create: ["b.txt"], modify: ["a.txt"] });
  const praise = JSON.stringify({ passed: true, quality_score: "8/10", reasons: ["Well done"], next_fix: [] });
  const checks = ["grep 1 a.txt && cat b.txt"];
  const setup = { files, flow: eightStep, options: { mode: "eight-step", checks } };

  test("does not fail by a check that only all steps together can pass", async () => {
    const lines = [two, done, praise, write("b.txt", "two\n"), praise, "Done."];
    const ran = await play({ ...setup, lines });
    expect(ran.purposes).toBe("plan execute integrity execute integrity summary");
    expect(ran.outcome).toMatchObject({ status: "verified", score: 8 });
    const shown = 'exit="1" note="failed before the work began; later steps may mend it">';
    expect([ran.asked(3), ran.asked(4)].map((text) => text.includes(shown))).toEqual([true, true]);
  });

  test("the last one does, even when it changes nothing; and FINISH before it ends nothing", async () => {
    const bad = write("b.txt", "two\n");
    const lines = [two, bad + finish(), praise, finish(), praise, finish(), "Done."];
    const ran = await play({ ...setup, lines });
    expect(ran.outcome).toMatchObject({ status: "failed", code: 9 });
    expect(ran.files).toEqual(files);
  });

  test("that is mended sees what it read, and is told once what is wrong, without praise", async () => {
    const bad = modify("b/a.txt", ["one\n", "1\n"]);
    const lines = [two, `READ::a.txt\n${bad}`, praise, done, write("b.txt", "two\n"), praise, "Done."];
    const ran = await play({ ...setup, lines });
    expect(ran.outcome.status).toBe("verified");
    expect(ran.told(4)).toContain('<file path="a.txt">\none\n</file>');
    expect(ran.asked(4)).not.toContain("Well done");
  });
});

describe("a tool-loop", () => {
  const textsOf = (ran: Ran, n: number) => resultsOf(ran, n).map(({ text }) => text);

  test("reads the names that models know from the tools of others", async () => {
    const lines = [
      calls(call("Read", { file_path: "a.txt" }), call("grep", { query: "one" })),
      calling("edit", { file_path: "a.txt", old_string: "one", new_string: "1" }),
      "Done.",
    ];
    const ran = await playLoop(lines, { files });
    expect(ran.files).toEqual({ "a.txt": "1\n" });
    expect(textsOf(ran, 2).map((text) => text.includes("one"))).toEqual([true, true]);
  });

  test("a call that lacks an input is answered with its name in the tool", async () => {
    const lines = [
      calls(call("edit", {}), call("edit", { path: "a.txt" }), call("rm", {}), call("mv", { from: "a.txt" })),
      "Sorry.",
    ];
    const ran = await playLoop(lines, { files });
    expect(ran.outcome.code).toBe(0);
    expect(textsOf(ran, 2).map((text) => text.match(/\w+(?=: missing)/g))).toEqual([
      ["path", "old_str", "new_str"],
      ["old_str", "new_str"],
      ["path"],
      ["to"],
    ]);
  });

  test("an edit that does not say by what deletes nothing", async () => {
    const ran = await playLoop([calling("edit", { path: "a.txt", old_str: "one" }), "Sorry."], { files });
    expect(ran.files).toEqual(files);
    expect(textsOf(ran, 2)[0]).toBe("unusable arguments (new_str: missing)");
  });

  test("its explorer is told the tools there are, and knows them in any case", async () => {
    const lines = [
      calling("explore", { task: "find one" }),
      calls(call("grep_search", { query: "one" }), call("Grep", { query: "one" })),
      "In a.txt, line 1.",
      "Done.",
    ];
    const ran = await playLoop(lines, { files });
    const [unknown, found] = textsOf(ran, 3);
    expect(unknown).toMatch(/^unknown tool: grep_search here; there are .*grep/);
    expect(found).toContain("a.txt");
  });
});
