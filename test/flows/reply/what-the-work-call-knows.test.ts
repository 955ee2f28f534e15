/** What each execution call knows: what the plan call showed, how many turns are left, and the files as they are now. */
import { describe, expect, test } from "bun:test";
import { createDialogue } from "../../../src/core/dialogue.ts";
import { PaiError } from "../../../src/core/error.ts";
import { finish, modify, plan, planTo, write } from "../plans.ts";
import { type Files, makeFolder, openCache, past, placeFiles, play, playIn } from "../scripted.ts";

const files = { "a.py": "x = 1\n", "b.py": "y = 2\n", "big.py": `${"z = 3 # filler of a long file\n".repeat(900)}` };
const change = modify("a.py", ["x = 1\n", "x = 2\n"]) + finish();

describe("the execution call", () => {
  test("continues the plan call byte for byte, and is shown nothing a second time", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 9 }, (_, n) => [`part${n}.py`, `value_${n} = 1 # ${"text ".repeat(440)}\n`] as const),
    );
    const said = planTo("MODIFY a.py");
    const ran = await play({ files: { ...many, ...files }, lines: [said, change] });
    const [first, second] = ran.requests;
    expect(second?.system).toBe(first?.system ?? "");
    expect(second?.messages.slice(0, 2)).toEqual([
      ...(first?.messages ?? []),
      { role: "assistant", text: said, calls: [], native: null },
    ]);
    expect(ran.asked(2).length).toBeLessThan(240);
  });

  test.each([
    ["of changes behind a command", `FILES: a.py\nRUN::cat a.py\n${change}`, change],
    ["of a command alone", `FILES:\nRUN::cat a.py\n${finish("It says so.")}`, finish("It says x = 1.")],
  ])("is told that nothing of a script is done but what it shows: %s", async (_, script, rest) => {
    const options = { atOnce: "always", allowRun: true, checks: ["true"] } as const;
    const ran = await play({ files, lines: [script, rest], options });
    expect(ran.outcome.code).toBe(0);
    expect(ran.asked(2)).toContain('<result action="RUN cat a.py" ok="true">');
    expect(ran.asked(2)).toContain(
      "The plan is approved. Of your script nothing is done but what results above show. Carry out the rest: an action script.",
    );
  });

  test("stands alone where the dialogue would pass half of the window: with request, plan and planned files only", async () => {
    const long = "text = 1 # a line of a file\n".repeat(330);
    const lines = [planTo("MODIFY a.py"), modify("a.py", ["x = 1\n", "x = 2\n"]) + finish()];
    const ran = await play({
      files: { "a.py": `x = 1\n${long}`, "b.py": `y = 2\n${long}` },
      lines,
      window: 9_000,
      context: "word ".repeat(2000),
    });
    expect(ran.outcome.code).toBe(0);
    expect(ran.requests[1]?.messages.length).toBe(1);
    for (const part of ["\nx = 1\n", "1. MODIFY a.py", "Request: ", "<context>"]) expect(ran.asked(2)).toContain(part);
  });

  test("stands alone with what every reply before it has done", async () => {
    const long = "text = 1 # a line of a file\n".repeat(330);
    const steps = ["MODIFY a.py", "WRITE c.py", "MODIFY b.py"];
    const ran = await play({
      files: { "a.py": `x = 1\n${long}`, "b.py": `y = 2\n${long}` },
      lines: [
        plan({ steps, complexity: "complex" }),
        modify("a.py", ["x = 1\n", "x = 2\n"]) + finish(),
        write("c.py", "c\n") + finish(),
        modify("b.py", ["y = 2\n", "y = 3\n"]) + finish(),
      ],
      window: 9_000,
      context: "word ".repeat(2000),
    });
    expect([ran.outcome.code, ran.requests[3]?.messages.length]).toEqual([0, 1]);
    expect(ran.asked(4)).toMatch(/So far:\n.*\ndone: MODIFY a\.py.*\ndone: WRITE c\.py/);
  });

  test("holds what the looks before the plan found", async () => {
    const look = planTo("SEARCH y = -> .");
    const ran = await play({ files, lines: [look, planTo("MODIFY a.py"), change] });
    expect(ran.told(3)).toContain("b.py:1:y = 2");
  });

  test("says how many turns are left, and offers to READ only while there is another", async () => {
    const steps = ["MODIFY a.py"];
    const simple = await play({ files, lines: [planTo(...steps), change] });
    expect(simple.asked(2)).toContain(
      "turns left: 1, this one included, and one more for what fails. Missing something?",
    );
    const moderate = await play({ files, lines: [plan({ steps, complexity: "moderate" }), "READ::b.py\n", change] });
    expect(moderate.asked(2)).toContain("turns left: 2, this one included, and one more for what fails.");
    expect(moderate.asked(3)).toContain("turns left: 1, this one included, and one more for what fails.");
  });

  test("a look that fails costs no turn; ranges are read as pai itself writes them", async () => {
    const lines = ["READ::nowhere.py:1-9\n", "READ::big.py:3-4\n", change];
    const ran = await play({ files, lines: [plan({ steps: ["MODIFY a.py"], complexity: "moderate" }), ...lines] });
    expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 4, at_most: 4 } });
    expect(ran.eventsOf("phase.started").map(({ phase }) => phase)).toEqual([1, 1, 2]);
    expect(ran.asked(3)).toContain("nowhere.py does not exist");
    expect(ran.asked(4)).toContain("3 z = 3 # filler of a long file\n4 z = 3");
  });
});

test("looks behind the changes are done when they are, for the user to see", async () => {
  const ran = await play({ files, lines: [planTo("MODIFY a.py", "READ a.py", "SEARCH x ="), change] });
  const shown = ran.eventsOf("look.shown").map(({ action, text }) => `${action} ${text.trim()}`);
  expect(shown).toEqual(["READ 1 x = 2", "SEARCH a.py:1:x = 2"]);
  expect(ran.told(2)).toContain('<file path="a.py">\nx = 1\n</file>');
});

test("a third phase goes on, too: it is told what failed, and changes as a diff once", async () => {
  const lines = [
    plan({ steps: ["MODIFY a.py", "MODIFY b.py"], complexity: "complex" }),
    modify("a.py", ["x = 1\n", "x = 5\n"]) + finish(),
    modify("b.py", ["none\n", "y = 9\n"]) + finish(),
    modify("b.py", ["y = 2\n", "y = 3\n"]) + finish("Now."),
  ];
  const ran = await play({ files: { "a.py": "x = 1\n", "b.py": "y = 2\n" }, lines });
  expect(ran.outcome.code).toBe(0);
  expect(ran.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5, 7]);
  expect(ran.asked(3)).toContain("-x = 1\n+x = 5\n");
  expect(ran.asked(4)).toContain("FAILED: MODIFY b.py");
  expect(ran.asked(4)).not.toContain("x = 5");
});

describe("the next task of a session", () => {
  const other = planTo("MODIFY a.py");
  const again = modify("a.py", ["x = 2\n", "x = 3\n"]) + finish();

  test("goes on from the one before: told is what changed, as a diff, and what was not shown yet", async () => {
    const place = makeFolder(files);
    const dialogue = createDialogue();
    const first = await playIn(place, { task: "one", lines: [other, change], dialogue });
    placeFiles(place.root, { "b.py": "y = 20\n", "c.py": "w = 4\n" });
    const history = [past("one", "a.py is done", "kept: 1 file (+1 −1)")];
    const next = await playIn(place, { task: "two", history, lines: [other, again], dialogue });
    expect(next.outcome.code).toBe(0);
    expect(next.requests[0]?.messages.slice(0, 3)).toEqual([...(first.requests[1]?.messages ?? [])]);
    const asked = next.asked(1);
    for (const part of [
      "-x = 1\n+x = 2\n",
      "-y = 2\n+y = 20\n",
      '<file path="c.py">',
      "pai: kept: 1 file (+1 −1)",
      "Request: two",
    ])
      expect(asked).toContain(part);
    expect(asked).not.toContain("filler of a long file");
  });

  test("stands alone with another prompt, which a strict run has", async () => {
    const place = makeFolder(files);
    const dialogue = createDialogue();
    await playIn(place, { task: "one", lines: [other, change], dialogue });
    const next = await playIn(place, { task: "two", lines: [other, again], dialogue, options: { strict: true } });
    expect(next.outcome.code).toBe(0);
    expect(next.requests[0]?.messages.length).toBe(1);
  });

  test("asks again after a call that failed: its request becomes a part of the new one", async () => {
    const place = makeFolder(files);
    const dialogue = createDialogue();
    const fail = new PaiError("provider_down", "down");
    await playIn(place, { task: "one", lines: [{ text: "", fail }], dialogue });
    const next = await playIn(place, { task: "two", lines: [other, change], dialogue });
    expect(next.requests.map(({ messages }) => messages.length)).toEqual([1, 3]);
    expect(next.asked(1)).toMatch(/Request: one[\s\S]*Request: two/);
  });
});

test("long runs of deleted lines are counted in the diff of a second phase", async () => {
  const old = Array.from({ length: 60 }, (_, n) => `line ${n}\n`).join("");
  const part = Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join("");
  const lines = [
    plan({ steps: ["MODIFY old.txt", "WRITE new.txt"], complexity: "moderate" }),
    modify("old.txt", [part, ""]) + write("new.txt", part),
    finish(),
    finish(),
  ];
  const ran = await play({ files: { "old.txt": old }, lines, options: { checks: ["false"] } });
  expect(ran.asked(3)).toContain("[… 34 more deleted lines]");
  expect(ran.asked(3)).not.toContain("-line 20\n");
});

test("how an unusable plan began is quoted to the model, and at the end to the user", async () => {
  const ran = await play({ lines: ["Sure! I will do that.", "Of course."] });
  expect(ran.asked(2).split("\n").length).toBe(2);
  expect(ran.asked(2)).toContain("it began: Sure! I will do that.");
  expect(ran.outcome.error?.message).toContain("it began: Of course.");
});

test("a plan is used again when a check says the same and took another time", async () => {
  const planCache = openCache();
  const place = makeFolder();
  const check = 'echo "1 passed in 0.$((RANDOM % 89 + 10))s"';
  const checked = (lines: readonly string[]) => {
    placeFiles(place.root, files);
    return playIn(place, { lines, planCache, options: { checks: [check] } });
  };
  await checked([planTo("MODIFY a.py"), change]);
  expect((await checked([change])).outcome).toMatchObject({ status: "verified", calls: { made: 1 } });
});

describe("a plan that looks came before is used again", () => {
  const look = planTo("READ a.py:1-1", "SEARCH needle");
  const parts = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`part${n}.py`, `y = ${n}\n`.repeat(400)]));
  const whole = { ...files, ...parts, "far.py": "needle = 1\n" };
  const open = () => {
    const planCache = openCache();
    const place = makeFolder(whole);
    const ask = (lines: readonly string[], other: Files = {}, context = "") => {
      placeFiles(place.root, { ...whole, ...other });
      return playIn(place, { lines, planCache, context });
    };
    return { planCache, ask };
  };
  const made = planTo("MODIFY a.py");

  test("with the looks, by no call at all", async () => {
    const { ask } = open();
    await ask([look, made, change]);
    const again = await ask([change]);
    expect(again.purposes).toBe("execute");
    expect(again.outcome).toMatchObject({ looks: 2, calls: { made: 1, expected: 1, at_most: 2 } });
    expect(again.asked(1)).toContain("needle = 1");
    expect(again.eventsOf("plan.ready").map(({ cached }) => cached)).toEqual([true]);
  });

  test("not when what was looked at has changed: only the looks are taken from it", async () => {
    const { ask } = open();
    await ask([look, made, change]);
    const again = await ask([made, change], { "far.py": "needle = 2\n" });
    expect(again.purposes).toBe("plan execute");
    expect(again.asked(1)).toContain("needle = 2");
    expect(again.outcome).toMatchObject({ looks: 2, calls: { made: 2 } });
  });

  test("not when what is piped in is another", async () => {
    const { ask } = open();
    await ask([look, made, change], {}, "one line");
    const again = await ask([look, made, change], {}, "another line");
    expect(again.purposes).toBe("plan plan execute");
  });
});
