/** How many calls single-shot makes, what it shows before and between them, and that the promise holds. */
import { describe, expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import { noUsage } from "../../../src/core/model.ts";
import { keepPlans } from "../../../src/flows/plans/plan-state.ts";
import type { Flow } from "../../../src/flows/run.ts";
import { singleShot } from "../../../src/flows/single-shot.ts";
import { finish, modify, plan, planOf, planTo, talk, write } from "../plans.ts";
import { makeFolder, openCache, play, playIn, usage } from "../scripted.ts";

const create = planTo("WRITE a.txt");
const created = write("a.txt", "one\n") + finish("Made a.txt.\nNEXT: Read it");

describe("calls", () => {
  test("a conversation is one call and its reply the answer, streamed", async () => {
    const ran = await play({ lines: [talk("Hello!\nRM::a.txt")], files: { "a.txt": "1\n" } });
    expect(ran.outcome).toEqual({
      v: 2,
      ok: true,
      command: "run",
      run: "r1",
      mode: "single-shot",
      status: "answered",
      code: 0,
      text: "Hello!\nRM::a.txt",
      next: [],
      plan: { ...JSON.parse(talk("Hello!\nRM::a.txt")) },
      changes: [],
      diff: "",
      checks: [],
      calls: { made: 1, expected: 1, at_most: 2 },
      usage: { ...usage, weighed: 150 },
      cost: null,
      model: { requested: "test:model", served: ["model-1"], key: "k1" },
      score: null,
      ms: expect.any(Number),
      ...{ actions: { done: 0, failed: 0, refused: 0 }, looks: 0, amended: [], refused: [], sandbox: null },
      error: null,
    });
    expect(ran.files).toEqual({ "a.txt": "1\n" });
    const streamed = ran.eventsOf("model.delta").map(({ text }) => text);
    expect(streamed.join("")).toBe("Hello!\nRM::a.txt");
    expect(ran.questions).toEqual([]);
  });

  test("a conversation with steps is a reply only", async () => {
    const ran = await play({ lines: [plan({ intent: "conversation", reply: "No.", steps: ["WRITE a.txt"] })] });
    expect([ran.outcome.status, ran.outcome.text, ran.files, ran.purposes]).toEqual(["answered", "No.", {}, "plan"]);
  });

  test("requests: JSON is asked for once, a script once; nothing else", async () => {
    const { requests } = await play({ lines: [create, created] });
    expect(requests.map(({ purpose, tools, format }) => [purpose, tools, format?.name ?? null])).toEqual([
      ["plan", [], "plan"],
      ["execute", [], null],
    ]);
  });

  test("a script of nothing but FINISH is an answer too, behind a look", async () => {
    const lines = [planTo("READ a"), finish("It holds a one.")];
    const { outcome } = await play({ files: { a: "1\n" }, lines });
    expect(outcome).toMatchObject({ status: "answered", code: 0, text: "It holds a one." });
  });

  test("looks are done before call 2, failing ones are reported to the model and end nothing", async () => {
    const files = { "src/a.py": "def area(r):\n    pass\n", "src/b.txt": "x\n" };
    const steps = ["TREE", "SEARCH area -> src", "GLOB **/*.py", "LIST_PATH src", "READ none.py", "READ src/a.py"];
    const ran = await play({ files, lines: [planTo(...steps), talk("Seen.")] });
    const asked = ran.asked(2);
    expect(ran.outcome).toMatchObject({ status: "answered", code: 0 });
    expect(asked).toContain("src/a.py:1:def area(r):");
    expect(asked).toContain("└── src/");
    expect(asked).toContain("none.py does not exist");
    expect(asked).toContain("1 def area(r):\n2     pass");
  });

  test("call 2 holds request, plan and every planned file whole, siblings too", async () => {
    const ran = await play({
      task: "rename area",
      files: { "a.py": "import b\n", "b.py": "area = 1\n", "c.py": "print(2)\n" },
      lines: [
        plan({ steps: ["MODIFY a.py", "MODIFY b.py"], read: ["c.py"] }),
        modify("a.py", ["import b\n", "import b as c\n"]) + modify("b.py", ["area = 1\n", "size = 1\n"]) + finish(),
      ],
    });
    for (const part of ["import b\n", "area = 1\n", "print(2)\n", "Request: rename area"])
      expect(ran.told(2).split(part).length).toBe(2);
    expect(ran.files).toEqual({ "a.py": "import b as c\n", "b.py": "size = 1\n", "c.py": "print(2)\n" });
  });
});

describe("feedback", () => {
  test("is one more planning call, shown with the new promise, as often as wanted", async () => {
    const plans = [create, planTo("WRITE b.txt"), planTo("WRITE b.txt", "WRITE c.txt")];
    const ran = await play({
      answers: [{ feedback: "call it b.txt" }, { feedback: "two files" }, "yes"],
      options: { interactive: true },
      lines: [...plans, write("b.txt", "b\n") + write("c.txt", "c\n") + finish()],
    });
    expect(ran.purposes).toBe("plan replan replan execute");
    const promises = ran.eventsOf("plan.ready").map(({ promise }) => `${promise.expected} ${promise.at_most}`);
    expect(promises).toEqual(["2 3", "3 4", "4 5"]);
    expect(ran.asked(3)).toContain("two files");
    expect(ran.files).toEqual({ "b.txt": "b\n", "c.txt": "c\n" });
    expect(ran.outcome.calls).toEqual({ made: 4, expected: 4, at_most: 5 });
  });
});

describe("plan cache", () => {
  test("a plan whose run succeeded is used again, with a notice: one call less; not when a shown file changed", async () => {
    const planCache = openCache();
    const place = makeFolder({ "a.txt": "1\n" });
    const change = planTo("MODIFY a.txt");
    const undo = modify("a.txt", ["2\n", "1\n"]) + finish();
    const flip = modify("a.txt", ["1\n", "2\n"]) + finish();
    const playFlip = (...lines: string[]) => playIn(place, { task: "flip a.txt", lines, planCache });
    await playFlip(change, flip);
    await playFlip(change, undo);
    const hit = await playFlip(flip);
    expect(hit.purposes).toBe("execute");
    expect(hit.outcome.calls).toEqual({ made: 1, expected: 1, at_most: 2 });
    expect(hit.eventsOf("plan.ready").map(({ cached }) => cached)).toEqual([true]);
    expect(hit.eventsOf("notice").map(({ code }) => code)).toEqual(["plan_cached"]);
  });

  test("a plan that was saved to a file is kept too", async () => {
    const planCache = openCache();
    const flow: Flow = async (run) => {
      await singleShot(run);
      keepPlans(run.planning);
    };
    const place = makeFolder();
    await playIn(place, { flow, options: { planOnly: true }, lines: [create], planCache });
    const ran = await playIn(place, { lines: [created], planCache });
    expect([ran.outcome.code, ran.purposes]).toEqual([0, "execute"]);
  });

  test("keeps no plan of a failed run, of a dry run, or of a conversation", async () => {
    const planCache = openCache();
    await play({ lines: [talk("hi")], planCache });
    await play({ lines: [create, created], planCache, options: { dryRun: true } });
    await play({ lines: [create, finish(), finish()], planCache });
    expect([...planCache.saved]).toEqual([]);
  });
});

describe("the promise in tokens and money", () => {
  const files = { "big.txt": `${"some words of a line\n".repeat(2000)}` };
  const steps = ["MODIFY big.txt"];

  test("counts what will be sent: the files the plan names, not only what call 1 cost", async () => {
    const options = { planOnly: true };
    const promised = async (parts: Parameters<typeof plan>[0]) =>
      (await play({ files, options, lines: [{ text: plan(parts), usage: noUsage }] })).eventsOf("plan.ready")[0]
        ?.promise.tokens ?? 0;
    const small = await promised({ steps: ["WRITE new.txt"] });
    const large = await promised({ steps: ["WRITE big.txt"] });
    expect(small).toBeGreaterThan(1500);
    expect(small).toBeLessThan(5000);
    expect(large - small).toBeGreaterThan(9000);
    expect(large - small).toBeLessThan(13000);
    expect(await promised({ steps: ["WRITE big.txt"], complexity: "complex" })).toBeGreaterThan(large * 1.7);
  });

  test("takes the estimate for calls that the provider did not count: no cap and no promise is passed by silence", async () => {
    const silent = { text: planTo(...steps), usage: noUsage };
    const ran = await play({ files, lines: [silent], options: { planOnly: true } });
    const [started, finished] = [ran.eventsOf("model.started")[0], ran.eventsOf("model.finished")[0]];
    const output = Math.ceil(silent.text.length / 4);
    expect(finished?.usage).toMatchObject({ input: started?.estimate, cached: 0, output });
    expect(ran.outcome.usage).toMatchObject(finished?.usage ?? noUsage);
    const capped = { caps: { calls: null, tokens: (started?.estimate ?? 0) + 500, cost: null } };
    expect((await play({ files, lines: [silent], options: capped })).outcome.error?.code).toBe("budget_tokens");
  });

  test("what arrived of a reply that broke off is paid, and no reply may be longer than the caps leave room for", async () => {
    const broken = { text: "x".repeat(4000), fail: new PaiError("reply_cut", "the stream ended early") };
    const price = { input: 1, cached: 0.1, output: 4 };
    const options = { planOnly: true, caps: { calls: null, tokens: 9000, cost: null } };
    const ran = await play({ files, price, lines: [broken, planTo(...steps)], options });
    const [lost, kept] = ran.eventsOf("model.finished");
    expect([lost?.stop, lost?.usage.output]).toEqual(["failed", 1000]);
    expect(ran.outcome.usage.output).toBe(1000 + (kept?.usage.output ?? 0));
    expect(ran.outcome.cost).toBeGreaterThan(0.004);
    const estimate = ran.eventsOf("model.started")[0]?.estimate ?? 0;
    expect(ran.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([
      9000 - Math.ceil(estimate * 1.2),
      9000 - Math.ceil(estimate * 1.2) - estimate - 1000,
    ]);
  });

  test("costs tokens times price when a price is known, else no cost is shown", async () => {
    const price = { input: 1, cached: 0.1, output: 4 };
    const ran = await play({ files, price, options: { planOnly: true }, lines: [planTo(...steps)] });
    const promise = ran.eventsOf("plan.ready")[0]?.promise;
    expect(promise?.cost).toBeGreaterThan(((promise?.tokens ?? 0) * 1) / 1e6);
    expect(promise?.cost).toBeLessThan(((promise?.tokens ?? 0) * 2) / 1e6);
    const unknown = await play({ files, options: { planOnly: true }, lines: [planTo(...steps)] });
    expect(unknown.eventsOf("plan.ready")[0]?.promise.cost).toBeNull();
  });
});

test("pai plan stops after the plan: nothing is asked, nothing done, 0", async () => {
  const ran = await play({ options: { planOnly: true }, lines: [create] });
  expect(ran.outcome).toMatchObject({ code: 0, status: "answered" });
  expect([ran.purposes, ran.questions, ran.files]).toEqual(["plan", [], {}]);
  expect(ran.outcome.plan).toEqual(planOf({ steps: ["WRITE a.txt"] }));
});
