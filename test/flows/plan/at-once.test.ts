/** The first answer as the work itself: one call where all is in view, and today's way for everything else. */
import { describe, expect, test } from "bun:test";
import { finish, modify, planTo, talk, write } from "../plans.ts";
import { type Line, play, type Ran, type Setup } from "../scripted.ts";

const area = "def area(r):\n    return 3.14 * r * r\n";
const better = "def area(r):\n    return 3.1416 * r * r\n";
const change = modify("area.py", ["    return 3.14 * r * r\n", "    return 3.1416 * r * r\n"]);
const files = { "area.py": area, "README.md": "# Shapes\n" };
const head = "FILES: area.py\nI'll use a better pi.\n\n";
const script = head + change + finish("area() is better.");

const long = Array.from({ length: 9_000 }, (_, n) => `value_${n} = ${n}\n`).join("");

const check = "grep -q 3.1416 area.py";
/** A run with a check, as `--check` makes it. */
const once = (lines: readonly Line[], setup: Partial<Setup> = {}) =>
  play({ files, lines, ...setup, options: { atOnce: "auto", checks: [check], ...setup.options } });
const byHand = (lines: readonly Line[], setup: Partial<Setup> = {}) =>
  play({ files, lines, ...setup, options: { atOnce: "auto", interactive: true, ...setup.options } });

describe("a small task with a check takes one call", () => {
  test("whose plan is what the script does, and is told before the changes", async () => {
    const { outcome, files: after, requests, events, eventsOf, planned } = await once([script]);
    expect([outcome.code, outcome.status, after["area.py"], requests.length]).toEqual([0, "verified", better, 1]);
    const [ready] = eventsOf("plan.ready");
    expect(planned()).toEqual(["MODIFY area.py"]);
    expect(ready?.plan.reply).toBe("I'll use a better pi.");
    expect(ready?.promise).toMatchObject({ expected: 1, at_most: 3 });
    const order = events.map(({ type }) => type).filter((type) => /^(?:plan\.ready|changes\.proposed)$/.test(type));
    expect(order).toEqual(["plan.ready", "changes.proposed"]);
    expect(outcome.text).toBe("area() is better.");
  });

  test.each([
    ["in a fence", `${head}\`\`\`\n${change}${finish()}\`\`\`\n`],
    ["with chatter around", `Sure! Here you go.\n\n${script}\nHope this helps!\n`],
    ["without FILES", change + finish()],
    ["without FINISH, where FILES says what is needed", head + change],
    ["after thoughts", `<think>Shall I say PLAN?\nWRITE::x::EOT\n</think>\n${script}`],
    ["after a plan in a fence", `\`\`\`json\n${planTo("WRITE other.py")}\n\`\`\`\n\n${script}`],
    ["with a plan behind it", `${script}\n${planTo("WRITE other.py")}\n`],
    ["with the user's check as a command", `${head + change}RUN::${check}\n${finish()}`],
    [
      "as a diff",
      "FILES: area.py\n\n```diff\n--- a/area.py\n+++ b/area.py\n@@ -1,2 +1,2 @@\n def area(r):\n-    return 3.14 * r * r\n+    return 3.1416 * r * r\n```\n",
    ],
  ])("also %s", async (_, answer) => {
    const { outcome, files: after, requests } = await once([answer]);
    expect([outcome.code, after, requests.length]).toEqual([0, { ...files, "area.py": better }, 1]);
  });

  test("and a person sees plan and diff together, and says the only yes", async () => {
    const { outcome, questions, requests, eventsOf, files: after } = await byHand([script], { answers: ["yes"] });
    expect([outcome.code, requests.length, after["area.py"]]).toEqual([0, 1, better]);
    expect(questions).toMatchObject([{ kind: "plan", diff: expect.stringContaining("+    return 3.1416") }]);
    expect(eventsOf("changes.proposed")[0]).toMatchObject({ seen: true });
  });

  test("or none of the files is touched after a no, and words lead to another answer", async () => {
    const declined = await byHand([script], { answers: ["no"] });
    expect([declined.outcome.code, declined.files]).toEqual([declined.outcome.code, files]);
    expect(declined.outcome.status).toBe("declined");
    const other = head + modify("area.py", ["    return 3.14 * r * r\n", "    return 3.14159 * r * r\n"]) + finish();
    const corrected = await byHand([script, other], { answers: [{ feedback: "five digits" }, "yes"] });
    expect(corrected.asked(2)).toContain("Change this: five digits\nNothing of it was done.");
    expect([corrected.requests.length, corrected.files["area.py"]]).toEqual([2, better.replace("3.1416", "3.14159")]);
  });
});

describe("before anybody is asked", () => {
  test("a placeholder for code that is left out is mended, and its diff is not shown", async () => {
    const holed = `FILES: area.py\n${write("area.py", "def area(r):\n    # ... rest unchanged\n")}${finish()}`;
    const { questions, asked, files: after } = await byHand([holed, change + finish()], { answers: ["yes"] });
    expect(asked(2)).toContain("FAILED: WRITE area.py: a placeholder replaces code");
    expect(questions.map(({ diff = "" }) => diff.includes("unchanged"))).toEqual([false]);
    expect(after["area.py"]).toBe(better);
  });

  test("what cannot be done is mended, and one diff shows all of it", async () => {
    const wrong = `FILES: area.py, README.md\n${modify("area.py", ["    return 3.15 * r * r\n", "    return 3.1416 * r * r\n"])}${modify("README.md", ["# Shapes\n", "# Round\n"])}${finish()}`;
    const ran = await byHand([wrong, change + finish()], { answers: ["yes"] });
    expect(ran.asked(2)).toContain("Nothing of it is done yet:\nFAILED: MODIFY area.py");
    expect(ran.questions[0]?.diff).toContain("# Round");
    expect(ran.questions[0]?.diff).toContain("3.1416");
    expect([ran.requests.length, ran.questions.length, ran.eventsOf("changes.applied").length]).toEqual([2, 1, 1]);
    expect(ran.files).toEqual({ "area.py": better, "README.md": "# Round\n" });
  });

  test("a file of FILES that the answer itself leaves out costs no call, and the person is told why", async () => {
    const skipped = `FILES: area.py, README.md\n${change}SKIP::README.md::it names no number\n${finish("Done.")}`;
    const { outcome, requests, notices } = await byHand([skipped], { answers: ["yes"] });
    expect([outcome.code, requests.length]).toEqual([0, 1]);
    expect(outcome.skipped).toEqual([{ target: "README.md", why: "it names no number" }]);
    const told = "left out of the plan: MODIFY README.md: it names no number";
    expect(notices()).toContain(told);
    const asPlan = skipped.replace("SKIP::", "RUN::true\nREAD::area.py\nSKIP::");
    const planned = await byHand([asPlan, change + finish("Done.")], { answers: ["yes", "yes", "yes"] });
    expect(planned.notices()).toContain(told);
    const headless = await once([skipped]);
    expect([headless.outcome.code, headless.requests.length]).toEqual([0, 1]);
  });

  test("a file that was named and forgotten is asked for", async () => {
    const half = `FILES: area.py, README.md\n${change}${finish()}`;
    const rest = modify("README.md", ["# Shapes\n", "# Round\n"]) + finish();
    const { asked, files: after, outcome } = await once([half, rest]);
    expect(asked(2)).toContain("FILES names README.md, and no action changes it.");
    expect([outcome.status, after]).toEqual(["verified", { "area.py": better, "README.md": "# Round\n" }]);
  });

  test("and a file that stays unchanged is told as undone, unless the answer takes it back", async () => {
    const half = `FILES: area.py, README.md\n${change}${finish()}`;
    const stubborn = await once([half, finish("All is done.")]);
    expect([stubborn.outcome.status, stubborn.files["area.py"]]).toEqual(["partial", better]);
    expect(stubborn.outcome.undone?.map(({ target }) => target)).toEqual(["README.md"]);
    const honest = await once([half, `FILES: area.py\n${finish("README.md is right as it is.")}`]);
    expect([honest.outcome.status, honest.requests.length]).toEqual(["verified", 2]);
  });

  test("a file that is named and forgotten is in the plan, too, where the answer counts as a plan", async () => {
    const copy = `FILES: backup.py, README.md, docs/new.md\nCOPY::area.py::backup.py\n${finish("Copied.")}`;
    const { outcome, planned } = await once([copy, copy, finish("All done.")], { options: { checks: ["true"] } });
    expect(planned()).toEqual(["COPY area.py", "MODIFY README.md", "WRITE docs/new.md"]);
    expect([outcome.code, outcome.undone?.map(({ target }) => target).join()]).toEqual([15, "README.md,docs/new.md"]);
  });

  test("a yes to a diff is no yes to another one", async () => {
    const red = head + modify("area.py", ["    return 3.14 * r * r\n", "    return 3.2 * r * r\n"]) + finish();
    const mended = modify("area.py", ["    return 3.2 * r * r\n", "    return 3.1416 * r * r\n"]) + finish();
    const { questions, outcome } = await byHand([red, mended], { answers: "yes", options: { checks: [check] } });
    expect(outcome.status).toBe("verified");
    expect(questions.map(({ kind }) => kind)).toEqual(["plan", "batch"]);
  });
});

describe("the work goes on as after any first call", () => {
  test("when the check is red", async () => {
    const red = head + modify("area.py", ["    return 3.14 * r * r\n", "    return 3.2 * r * r\n"]) + finish();
    const mended = modify("area.py", ["    return 3.2 * r * r\n", "    return 3.1416 * r * r\n"]) + finish();
    const { requests, outcome, files: after } = await once([red, mended]);
    expect([outcome.code, requests.length, after["area.py"]]).toEqual([0, 2, better]);
    expect(requests[1]?.messages.slice(0, 1)).toEqual([...(requests[0]?.messages ?? [])]);
    expect(requests[1]?.system).toBe(requests[0]?.system ?? "");
  });

  test("when it was cut: the rest is asked for, and one that is cut again is not done", async () => {
    const at = script.indexOf("3.1416");
    const cut = { text: script.slice(0, at), stop: "length" } as const;
    const resumed = await once([cut, `    return 3.1416 * r * r\n>>>>>>> REPLACE\nEND::EOT\n${finish()}`]);
    expect([resumed.outcome.code, resumed.requests.length]).toEqual([0, 2]);
    const again = await once([cut, cut, ...rest]);
    expect(again.notices()).toContain("the answer was cut: asking for a plan");
    expect(again.asked(3)).toContain("Your answer was cut, and nothing of it was done. Send a plan first.");
    expect([again.outcome.code, again.files["area.py"]]).toEqual([0, better]);
  });
});

const rest = [planTo("MODIFY area.py"), change + finish()];

describe("today's way is open", () => {
  test.each([
    ["the word PLAN", "PLAN"],
    ["PLAN behind a reason", "The output of the tests is needed first.\n\n**PLAN**"],
    ["prose alone", "I will change area.py as you asked."],
    ["a plan that is none", '{"intent": "task"}'],
    ["FINISH that claims work", `FILES: area.py\n${finish("I have changed area.py.")}`],
  ])("to %s", async (_, answer) => {
    const { outcome, requests, asked, files: after, purposes } = await once([answer, ...rest]);
    expect(asked(2)).toContain("A plan is one JSON value");
    expect([outcome.code, requests.length, after["area.py"]]).toEqual([0, 3, better]);
    expect(purposes).toBe("execute plan execute");
  });

  test("to a plan that comes at once", async () => {
    const { outcome, requests, files: after } = await once([`\`\`\`json\n${rest[0]}\n\`\`\``, change + finish()]);
    expect([outcome.code, requests.length, after["area.py"]]).toEqual([0, 2, better]);
  });

  test("to looks, whose results the next answer sees", async () => {
    const { outcome, requests, asked } = await once(["READ::area.py\nSEARCH::3.14\n", script]);
    expect(asked(2)).toContain('<result action="SEARCH 3.14"');
    expect(asked(2)).toContain("Reply with your script");
    expect([outcome.code, requests.length]).toEqual([0, 2]);
  });

  test("to answers and questions, which change nothing", async () => {
    for (const answer of [finish("It is a circle."), talk("It is a circle.")]) {
      const { outcome, files: after } = await play({ files, lines: [answer], options: { atOnce: "always" } });
      expect([outcome.status, outcome.text, after]).toEqual(["answered", "It is a circle.", files]);
    }
  });

  test("and its CHECK lines are the plan's checks, which a person sees with the diff", async () => {
    const proved = `${head}${change}CHECK::${check}\nCHECK::${check}\n${finish("Done.")}`;
    const { outcome, questions, files: after, requests, eventsOf } = await byHand([proved], { answers: ["yes"] });
    expect(requests[0]?.system).toContain("what proved an earlier task): CHECK::command before FINISH");
    expect(eventsOf("plan.ready")[0]?.plan.execution_plan?.checks).toEqual([check]);
    expect(questions[0]?.text).toContain(check);
    expect([outcome.status, after["area.py"], requests.length]).toEqual(["verified", better, 1]);
    expect(outcome.checks.map(({ command, by, passed }) => [command, by, passed])).toEqual([[check, "plan", true]]);
  });

  test("and only a person is there to be asked back", async () => {
    const [alone, person] = [await once([script]), await byHand([script], { answers: ["yes"] })];
    expect(alone.requests[0]?.system).not.toContain("ask back");
    expect(alone.asked(1)).toContain("Nobody answers");
    expect(person.requests[0]?.system).toContain("You must ask back: FINISH alone");
  });

  test("and so does one that edits a file it never saw, whose second call shows it", async () => {
    const edit = modify("long.py", ["value_17 = 17\n", "value_17 = 18\n"]) + finish();
    const options = { atOnce: "always", checks: ["grep -q 'value_17 = 18' long.py"] } as const;
    const ran = await once([edit, edit], { files: { "long.py": long }, task: "let value_17 be 18", options });
    expect([ran.outcome.code, ran.requests.length]).toEqual([0, 2]);
  });

  const many = Array.from({ length: 300 }, (_, n) => write(`f${n}.txt`, "x\n")).join("");
  const six = Array.from({ length: 6 }, (_, n) => write(`f${n}.txt`, "x\n")).join("");
  test.each([
    ["a command", `RUN::ls\n${finish()}`, "RUN ls"],
    ["a command before a change", `RUN::ls\n${change}${finish()}`, "RUN ls"],
    ["300 actions", many + finish(), "WRITE f0.txt"],
    ["a look among changes", `READ::area.py\n${change}${finish()}`, "READ area.py"],
  ])("and a script with %s counts as a plan", async (_, answer, step) => {
    const { planned, files: after, questions } = await byHand([answer], { answers: ["no"] });
    expect(planned()[0]).toBe(step);
    expect(questions[0]).not.toHaveProperty("diff");
    expect(after).toEqual(files);
  });

  test.each([
    ["a command behind it", `${change}RUN::cat area.py\n${finish()}`, { "area.py": better }],
    ["a deletion", `RM::README.md\n${change}${finish()}`, { "area.py": better, "README.md": null }],
    ["a move", `MV::README.md::READ.md\n${finish()}`, { "README.md": null, "READ.md": "# Shapes\n" }],
    ["a name that is asked about", write("Jenkinsfile", "x\n") + finish(), { Jenkinsfile: "x\n" }],
    ["six files", six + finish(), Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`f${n}.txt`, "x\n"]))],
    ["301 lines", write("long.txt", "x\n".repeat(301)) + finish(), { "long.txt": "x\n".repeat(301) }],
  ])("but with %s a person who saw it all has said yes to it: no second call", async (_, answer, changed) => {
    const { outcome, questions, files: after, requests } = await byHand([answer], { answers: "yes" });
    expect([outcome.code, requests.length, questions[0]?.kind]).toEqual([0, 1, "plan"]);
    expect(questions[0]?.diff).not.toBe("");
    const left = Object.entries({ ...files, ...changed }).filter(([, text]) => text !== null);
    expect(after).toEqual(Object.fromEntries(left.sort(([a], [b]) => (a < b ? -1 : 1))) as typeof after);
    const headless = await once([answer, answer], { options: { allowRun: true, allowDelete: true, checks: ["true"] } });
    expect(headless.eventsOf("plan.ready")[0]).not.toHaveProperty("at_once");
  });
});

describe("the offer is made", () => {
  test.each([
    ["without a check and a person", { checks: [] }],
    ["in a strict run", { strict: true }],
    ["with the setting never", { atOnce: "never" }],
    ["for a plan alone", { planOnly: true }],
  ] as const)("%s", async (_, options) => {
    const { requests } = await once(rest, { options });
    expect(requests[0]?.system).toContain("A plan is one JSON value");
  });

  const data = `${JSON.stringify({ text: "some words of a reply. ".repeat(500) })}\n`;
  test.each([
    ["only parts of the project are shown", { files: { ...files, "long.py": long } }],
    ["the project holds data, too", { files: { ...files, "reply.jsonl": data } }],
    ["the window leaves no room for an answer", { window: 2_500 }],
  ])("not where %s", async (_, setup) => {
    expect((await once(rest, setup)).requests[0]?.system).toContain("A plan is one JSON value");
  });

  test("in a window of 4,000 tokens", async () => {
    const { outcome, requests } = await once([script], { window: 4_000 });
    expect([outcome.status, requests.length]).toEqual(["verified", 1]);
  });

  test("and a line of 100 KB does no harm", async () => {
    const { outcome, files: after } = await once([`FILES: ${"x".repeat(100_000)}\n${change}${finish()}`, finish()]);
    expect([outcome.code === 0 || outcome.status === "partial", after["area.py"]]).toEqual([true, better]);
  });
});

test("a person sees the words of the answer before it is whole; nobody else does", async () => {
  const wordsOf = ({ eventsOf }: Ran) =>
    eventsOf("model.delta")
      .flatMap(({ channel, text }) => (channel === "reply" ? [text] : []))
      .join("")
      .trim();
  expect(wordsOf(await byHand([script], { answers: ["yes"] }))).toBe("I'll use a better pi.");
  const answer = "area() takes a radius and gives the area of the circle.";
  const answered = await byHand([`FINISH::${answer}`]);
  expect([wordsOf(answered), answered.outcome.text]).toEqual([answer, answer]);
  expect(wordsOf(await once([script]))).toBe("");
});

test("a fault is told to the person and to the model", async () => {
  const half = `FILES: area.py, README.md\nBoth.\n${change}${finish()}`;
  const { notices, requests } = await byHand([half, script], { answers: ["yes"] });
  expect(notices("mending")).toEqual(["asking again: FILES names README.md, and no action changes it."]);
  expect(JSON.stringify(requests[1]?.messages)).toContain("FILES names README.md, and no action changes it.");
});
