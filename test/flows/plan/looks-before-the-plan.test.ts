/** Looking before promising: rounds of looks without a question, their results in the next planning call, and their price. */
import { describe, expect, test } from "bun:test";
import { hybrid } from "../../../src/flows/auto.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { finish, modify, planTo, schedule, talk, verdict, write } from "../plans.ts";
import { capOf, play } from "../scripted.ts";
import { openTurns } from "../turns.ts";

const long = Array.from({ length: 4000 }, (_, n) => `value_${n} = ${n}`).join("\n");
const files = { "shop/money.py": "RATE = 1\n", "shop/long.py": `${long}\n` };
const look = (...steps: string[]) => JSON.stringify({ ...JSON.parse(planTo(...steps)), intent: "look" });
const change = modify("shop/money.py", ["RATE = 1\n", "RATE = 2\n"]) + finish("Fixed.");
const fix = planTo("MODIFY shop/money.py");

describe("a look", () => {
  test("needs no yes, its results are in the next planning call, and the change follows", async () => {
    const lines = [look("SEARCH RATE -> shop", "READ shop/long.py:10-12"), fix, change];
    const ran = await play({ files, lines });
    expect(ran.purposes).toBe("plan plan execute");
    expect(ran.asked(2)).toContain("shop/money.py:1:RATE = 1");
    expect(ran.asked(2)).toContain("10 value_9 = 9\n11 value_10 = 10\n12 value_11 = 11\n</result>");
    expect(ran.asked(2)).toContain("one more round of looks is left");
    expect(ran.questions.map(({ kind }) => kind)).toEqual(["plan"]);
    expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 3, expected: 3, at_most: 4 }, looks: 2 });
    expect(ran.files["shop/money.py"]).toBe("RATE = 2\n");
  });

  test("of a long log keeps its end, which matters most", async () => {
    const log = Array.from({ length: 40_000 }, (_, n) => `11:00:00 INFO request ${n} was answered`);
    const lines = [look("READ app.log", "READ shop/long.py"), talk("The disk.")];
    const ran = await play({ files: { ...files, "app.log": `${log.join("\n")}\n11:59:59 ERROR disk s7\n` }, lines });
    expect(ran.asked(2)).toContain("40001 11:59:59 ERROR disk s7");
    expect(ran.asked(2)).toMatch(/^ *1 11:00:00 INFO request 0 /m);
    const [, from, to] = /\[… lines (\d+)-(\d+) are left out: READ app\.log:\1-\2\]/.exec(ran.asked(2)) ?? [];
    expect(ran.asked(2)).toContain(`${Number(from) - 1} 11:00:00 INFO request ${Number(from) - 2} `);
    expect(ran.asked(2)).toContain(`${Number(to) + 1} 11:00:00 INFO request ${to} `);
  });

  test("is answered without any yes when it was a question", async () => {
    const ran = await play({ files, lines: [look("READ shop/money.py"), talk("The rate is 1.")], answers: [] });
    expect(ran.outcome).toMatchObject({ code: 0, status: "answered", text: "The rate is 1.", calls: { made: 2 } });
    expect(ran.eventsOf("look.shown").length).toBe(1);
  });

  test("of something denied or missing is reported to the model, and ends nothing", async () => {
    const lines = [look("READ .env", "READ none.py"), talk("Neither can be read.")];
    const ran = await play({ files: { ...files, ".env": "KEY=canary\n" }, lines });
    expect(ran.asked(2)).toContain('action="READ none.py" ok="false"');
    expect(JSON.stringify(ran.requests)).not.toContain("canary");
    expect(ran.outcome.status).toBe("answered");
  });
});

describe("there are two rounds", () => {
  test("each adds a call to what is expected and to what is promised at most", async () => {
    const lines = [look("TREE"), look("READ shop/money.py"), fix, change];
    const ran = await play({ files, lines });
    expect(ran.asked(3)).toContain("No look is left");
    expect(ran.eventsOf("plan.ready")[0]?.promise).toMatchObject({ expected: 4, at_most: 5 });
    expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 4, expected: 4, at_most: 5 } });
  });

  test("a third is an unusable reply: the spare call asks again, then the run ends with 7", async () => {
    const rounds = [look("TREE"), look("GLOB **/*.py")];
    const saved = await play({ files, lines: [...rounds, look("TREE"), talk("Enough.")] });
    expect(saved.outcome).toMatchObject({ code: 0, text: "Enough.", calls: { made: 4 } });
    const stubborn = await play({ files, lines: [...rounds, look("TREE"), look("TREE")] });
    expect(stubborn.outcome).toMatchObject({ code: 7, calls: { made: 4, at_most: 4 } });
  });

  test("an unusable plan before them takes the spare call, and leaves the rounds", async () => {
    const lines = ["no plan", look("TREE"), look("GLOB **/*.py"), talk("Seen.")];
    expect((await play({ files, lines })).outcome).toMatchObject({ code: 0, text: "Seen.", calls: { made: 4 } });
  });

  test("feedback on the plan may look in the round that is left", async () => {
    const lines = [look("TREE"), fix, look("READ shop/money.py"), fix, change];
    const answers = [{ feedback: "look again" }, "yes"] as const;
    const ran = await play({ files, lines, options: { interactive: true }, answers });
    expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 5, expected: 5, at_most: 6 } });
  });
});

describe("results", () => {
  test("take 24,000 characters together, and a cut one says how to ask for the rest", async () => {
    const ran = await play({ files, lines: [look("READ shop/long.py", "READ shop/money.py"), talk("Long.")] });
    const asked = ran.asked(2);
    expect(asked.length).toBeLessThan(24_600);
    expect(asked.length).toBeGreaterThan(20_000);
    expect(asked).toContain("1 RATE = 1");
    const [, from = "", to = ""] = /lines (\d+)-(\d+) are left out: READ shop\/long\.py:\d+-\d+\]/.exec(asked) ?? [];
    expect(asked).toContain(`${Number(from) - 1} value_${Number(from) - 2} = `);
    expect([Number(from) > 500, Number(to) > Number(from)]).toEqual([true, true]);
  });

  test("are less for a model with a small window", async () => {
    const ran = await play({ files, lines: [look("READ shop/long.py"), talk("Long.")], window: 8192 });
    expect(ran.asked(2).length).toBeLessThan(6000);
  });
});

test("eight-step looks first too, asked in its own form or in that of a plan", async () => {
  const own = JSON.stringify({
    mode: "look",
    reply: "I look.",
    looks: [{ action: "READ", target: "shop/money.py", destination: "" }],
  });
  for (const first of [own, look("READ shop/money.py")]) {
    const lines = [first, schedule({ modify: ["shop/money.py"] }), change, verdict(), "Done."];
    const ran = await play({ files, flow: eightStep, lines, options: { mode: "eight-step" } });
    expect(ran.asked(2)).toContain("1 RATE = 1");
    expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 5, expected: 5, at_most: 7 } });
  }
});

describe("auto", () => {
  const small = { "shop/money.py": "RATE = 1\n" };
  const looks = Array.from({ length: 12 }, (_, n) => look(`SEARCH word_${n}`));
  const search = (lines: readonly string[], options = {}) =>
    play({ files: small, flow: hybrid, lines, options: { mode: "auto", ...options } });

  test("searches for twelve rounds, which are told and promised, and then answers", async () => {
    const ran = await search([...looks, talk("It is nowhere.")]);
    expect(ran.eventsOf("model.started")[0]?.at_most).toBe(14);
    expect(ran.outcome).toMatchObject({ code: 0, text: "It is nowhere.", calls: { made: 13 } });
    expect(ran.notices("looked").at(-1)).toBe("looked 11 of at most 12 times");
    expect(ran.asked(13)).toContain("No look is left");
  });

  test("searches only as far as a cap on calls leaves two for the work", async () => {
    const ran = await search([...looks.slice(0, 4), fix, change], capOf(6));
    expect(ran.asked(5)).toContain("No look is left");
    expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 6 } });
  });
});

describe("when all looks are used up", () => {
  const reads = (count: number) => Array.from({ length: count }, (_, n) => `READ::m${n}.py`);
  const byHand = { interactive: true, mode: "auto", atOnce: "auto" } as const;

  test("a session asks for the answer, says what happened and how it goes on, and keeps what was seen", async () => {
    const many = Object.fromEntries(reads(14).map((_, n) => [`m${n}.py`, `x = ${n}\n`]));
    const turns = openTurns(many);
    const task = "find out why the sum is wrong";
    const ran = await turns.say(task, { flow: hybrid, lines: reads(14), options: byHand });
    expect(ran.asked(14)).toMatch(/^No look is left\. Answer with what you have seen: the whole answer, or, .*a plan/);
    expect(ran.outcome).toMatchObject({
      calls: { made: 14, at_most: 14 },
      error: {
        code: "reply_invalid",
        message: "the 12 looks of one request are used up, and there is no answer yet",
        hint: 'say "go on": what was seen is kept, and there are 12 more; /mode tool-loop has no such limit',
      },
    });
    expect(ran.outcome.text).toBe("");
    const lines = ["READ::m13.py", finish("m13.py is wrong.")];
    const next = await turns.say("go on", { flow: hybrid, lines, options: byHand });
    expect(JSON.stringify(next.requests[0]?.messages)).toContain("1 x = 11");
    expect(next.asked(1)).toContain("12 looks of one request are used up");
    expect(next.asked(2)).toContain("11 more rounds of looks are left");
    expect(next.outcome).toMatchObject({ code: 0, text: "m13.py is wrong." });
  });

  test.each([
    [{ mode: "single-shot" }, 2, "--mode auto looks up to 12 times"],
    [{ mode: "single-shot", asksOnly: true }, 2, "name what to look at, with @FILE or --show PATH"],
    [{ mode: "auto" }, 12, "--mode tool-loop has no such limit"],
    [{ mode: "auto", ...capOf(7) }, 5, "--max-calls allows more"],
  ] as const)("%j of a run names what gives more", async (options, rounds, hint) => {
    const ran = await play({ files, flow: hybrid, lines: reads(rounds + 2), options });
    const message = `the ${rounds} looks of one request are used up, and there is no answer yet`;
    expect(ran.outcome.error).toMatchObject({ code: "reply_invalid", message, hint });
  });

  test("a cap on calls that leaves none for the result of a look ends with the budget", async () => {
    const options = { atOnce: "always" as const, ...capOf(2) };
    const ran = await play({ files, lines: ["READ::m1.py", "READ::m2.py"], options });
    expect(ran.outcome).toMatchObject({ code: 13, calls: { made: 2 } });
    expect(JSON.stringify(ran.outcome.error)).toContain("--max-calls");
  });

  test("a look as a script in place of a plan is a look", async () => {
    const ran = await play({ files, lines: ["I look.\nREAD::shop/money.py", talk("The rate is 1.")] });
    expect(ran.outcome).toMatchObject({ code: 0, text: "The rate is 1.", calls: { made: 2 }, looks: 1 });
  });
});

test("a plan that comes as prose, and then cut, is continued in place of a round of looks", async () => {
  const whole = planTo("WRITE a.txt");
  const lines = [
    "I would write a.txt.",
    { text: whole.slice(0, 60), stop: "length" as const },
    whole.slice(60),
    write("a.txt", "1\n") + finish(),
  ];
  const ran = await play({ lines });
  expect(ran.purposes).toBe("plan repair resume execute");
  expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 4, expected: 3, at_most: 4 } });
  const twice = [lines[0] ?? "", lines[1] ?? "", { text: whole.slice(60, 80), stop: "length" as const }];
  expect((await play({ lines: twice })).outcome).toMatchObject({ code: 7, calls: { made: 3, at_most: 4 } });
});
