/** What is answered at the question about a plan, and a plan that was saved. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../../../src/core/change.ts";
import type { RelPath } from "../../../src/core/path.ts";
import { resumePlan } from "../../../src/flows/auto.ts";
import { withCorrections } from "../../../src/flows/briefing/briefing.ts";
import { followPlan } from "../../../src/flows/single-shot.ts";
import { finish, modify, planOf, planTo, talk, write } from "../plans.ts";
import { type Line, makeFolder, openCache, play, playIn, type Setup } from "../scripted.ts";

const files = { "area.py": "def area(r):\n    return 3.14 * r * r\n" };
const change = modify("area.py", ["    return 3.14 * r * r\n", "    return 3.1416 * r * r\n"]);
const better = "def area(r):\n    return 3.1416 * r * r\n";
const script = `FILES: area.py\n${change}${finish()}`;
const planned = planTo("MODIFY area.py");
const byHand = (lines: readonly Line[], setup: Partial<Setup> = {}) =>
  play({ files, lines, ...setup, options: { atOnce: "auto", interactive: true, ...setup.options } });

const words = "They are enough here.";
const forms = [
  ["prose", words],
  ["FINISH", finish(words)],
  ["JSON", talk(words)],
  ["JSON in a fence", `\`\`\`json\n${talk(words)}\n\`\`\`\n`],
] as const;

describe("a question about what waits for a yes is answered on the screen, once,", () => {
  test.each(forms)("as %s", async (_, said) => {
    const answers = [{ feedback: "why four digits?" }, "yes"] as const;
    const work = change + finish();
    const ways = [
      await byHand([script, said], { answers }),
      await byHand([planned, said, work], { answers }),
      await byHand([planned, said, work], { answers, options: { atOnce: "never" } }),
    ];
    for (const { outcome, files: after, eventsOf, questions } of ways) {
      const shown = eventsOf("model.delta").flatMap(({ channel, text }) => (channel === "reply" ? [text] : []));
      expect(shown.join("").split(words)).toHaveLength(2);
      expect([outcome.code, after["area.py"], questions.length]).toEqual([0, better, 2]);
    }
  });

  test("with an example in a fence, too", async () => {
    const said = "Like this:\n\n```python\narea(2)\n```\n";
    const asked = await byHand([script, said], { answers: [{ feedback: "how do I call it?" }, "yes"] });
    expect([asked.outcome.code, asked.requests.length, asked.files["area.py"]]).toEqual([0, 2, better]);
    expect(asked.eventsOf("notice").map(({ code }) => code)).not.toContain("answer_unusable");
  });
});

test.each([
  "show me how to call area in python",
  "and what is pi here",
  "give me an example of a call",
  "please tell me how it works",
])("an example in a fence is an answer to: %s", async (task) => {
  const said = "An example:\n\n```python\narea(2)\n```\n\nThat is all.";
  const { outcome, requests } = await byHand([said], { task });
  expect([outcome.status, requests.length, outcome.text]).toEqual(["answered", 1, said]);
});

test.each(["show me a nicer area", "make it nicer", "and now write a test"])("but none to: %s", async (task) => {
  const said = "Sure:\n\n```python\ndef area(r):\n    return 3 * r * r\n```\n";
  const { eventsOf } = await byHand([said, talk("x")], { task });
  expect(eventsOf("notice").map(({ code }) => code)).toContain("answer_unusable");
});

test("a correction of the plan reaches the calls that do the work; that plan is not kept for later", async () => {
  const planCache = openCache();
  const create = planTo("WRITE a.txt");
  const ran = await play({
    planCache,
    task: "greet",
    answers: [{ feedback: "in French" }, { feedback: "and short" }, "yes"],
    options: { interactive: true },
    lines: [create, create, create, write("a.txt", "salut\n") + finish()],
  });
  for (const said of ["Request: greet", "Change the plan: in French", "Change the plan: and short"])
    expect(ran.told(4)).toContain(said);
  expect([ran.outcome.code, planCache.saved.size]).toEqual([0, 0]);
});

test("a plan that is carried on after an interrupt is worked with what the person had corrected", async () => {
  const approved = { plan: planOf({ steps: ["WRITE a.txt"] }), steps: null, review: false };
  const ran = await play({
    task: withCorrections("greet", ["in French"]),
    flow: resumePlan(approved),
    answers: "yes",
    options: { interactive: true },
    lines: [write("a.txt", "salut\n") + finish()],
  });
  expect(ran.told(1)).toContain("Request: greet\nCorrected by the user: in French");
  // It was said in the interrupted turn, whose record holds it.
  expect([ran.outcome.code, ran.outcome.corrections]).toEqual([0, undefined]);
});

const created = (path: string, text: string): Change => ({
  path: path as RelPath,
  before: null,
  after: { kind: "file", bytes: new TextEncoder().encode(text), mode: 0o644 },
  from: null,
});
const saved = planOf({ steps: ["WRITE a.txt"] });

const one = created("a.txt", "1\n");

test("edits that the steps name are applied without a call", async () => {
  const { outcome, files } = await play({ lines: [], flow: followPlan(saved, [one]) });
  expect(outcome).toMatchObject({ code: 0, calls: { made: 0, expected: 0, at_most: 0 }, actions: { done: 1 } });
  expect(files).toEqual({ "a.txt": "1\n" });
});

test.each([
  ["one that no step names, and with it all the others", [one, created("b.txt", "2\n")], 12, "scope_refused"],
  ["what the guard refuses", [created("a.txt", "// ... rest of the code unchanged ...\n")], 8, "guard_refused"],
] as const)("of finished edits is refused %s", async (_, changes, code, error) => {
  const { outcome, files } = await play({ lines: [], flow: followPlan(saved, changes) });
  expect([outcome.code, outcome.error?.code, files]).toEqual([code, error, {}]);
});

test("a file that the words at a question name by @path is shown with them", async () => {
  const all = { ...files, ".gitignore": "pi.ini\n", "pi.ini": "digits = 4\n" };
  const named = { feedback: "as in @pi.ini" };
  const work = change + finish();
  const ways = [
    await byHand([script, script], { files: all, answers: [named, "yes"] }),
    await byHand([planned, planned, work], { files: all, answers: [named, "yes"], options: { atOnce: "never" } }),
    await byHand([planned, work, work], { files: all, answers: ["yes", named, "yes"], options: { review: "batch" } }),
  ];
  for (const [at, { outcome, asked }] of ways.entries()) {
    expect(asked(at === 2 ? 3 : 2)).toContain('<file path="pi.ini">\ndigits = 4\n</file>');
    expect(outcome.code).toBe(0);
  }
});

describe("words that a SKIP answers", () => {
  const shapes = { ...files, "README.md": "# Shapes\n" };
  const both = `FILES: area.py, README.md\n${change}${modify("README.md", ["# Shapes\n", "# Round\n"])}${finish()}`;
  const large = planTo("READ area.py", "MODIFY area.py", "MODIFY README.md");
  const ways = [
    ["came with its work", both, {}],
    ["was only planned", large, {}],
    ["is asked for alone", large, { atOnce: "never" }],
  ] as const;

  test.each(ways)("take the step out of a plan that %s, and keep the rest", async (_, first, options) => {
    const skip = `SKIP::README.md::you want it as it is\n${finish("README.md stays.")}`;
    const answers = [{ feedback: "leave README alone" }, "yes"] as const;
    const ran = await byHand([first, skip, change + finish()], { files: shapes, answers, options });
    expect(ran.questions.map(({ kind }) => kind)).toEqual(["plan", "plan"]);
    expect([ran.outcome.code, ran.requests.length, ran.files]).toEqual([0, 3, { ...shapes, "area.py": better }]);
    expect(ran.outcome.skipped).toEqual([{ target: "README.md", why: "you want it as it is" }]);
  });

  test.each(ways)("end the turn where nothing is left of a plan that %s", async (_, first, options) => {
    const all = `SKIP::area.py::it is right\nSKIP::README.md::so is this\n${finish("Nothing to do.")}`;
    const answers = [{ feedback: "leave it all alone" }] as const;
    const ran = await byHand([first, all], { files: shapes, answers, options });
    expect([ran.outcome.code, ran.questions.length, ran.files]).toEqual([8, 1, shapes]);
    expect(ran.outcome.error?.message).toMatch(/^the model left out every step: .*area\.py.*README\.md/);
    expect(ran.outcome.skipped?.map(({ target }) => target)).toEqual(["area.py", "README.md"]);
  });
});

test("a script that answers words at a plan is read as the plan of its actions", async () => {
  const both = planTo("WRITE a.txt", "WRITE b.txt", "WRITE c.txt");
  const less = `Only this.\n${write("a.txt", "a\n")}SKIP::b.txt::not wanted\n${finish()}`;
  const setup = { answers: [{ feedback: "only a.txt" }, "yes"], options: { interactive: true } } as const;
  const ran = await play({ lines: [both, less, less.replace(/SKIP.*\n/, "")], ...setup });
  const { reply, execution_plan: held } = ran.eventsOf("plan.ready").at(-1)?.plan ?? {};
  expect([reply, held?.steps.map(({ target }) => target)]).toEqual(["Only this.", ["a.txt"]]);
  expect([ran.outcome.code, ran.requests.length, ran.files]).toEqual([0, 3, { "a.txt": "a\n" }]);
  expect(ran.outcome.skipped).toEqual([{ target: "b.txt", why: "not wanted" }]);
});

describe("a correction that asks for more than the first reply", () => {
  const old = { ...files, NOTES: "old\n" };
  const failing = `FILES: NOTES\n${modify("NOTES", ["not there\n", "x\n"])}${finish()}`;
  const notes = write("notes.txt", "notes\n");
  const more = `FILES: NOTES, notes.txt\nNotes instead of NOTES.\nRM::NOTES\n${notes}${finish("Notes made.")}`;

  test("is all of it in the question, and a yes does it", async () => {
    const ran = await byHand([failing, more], { answers: ["yes"], files: old });
    expect(ran.planned()).toEqual(["RM NOTES", "WRITE notes.txt"]);
    expect(ran.eventsOf("plan.ready")[0]?.plan.reply).toBe("Notes instead of NOTES.");
    expect(ran.questions[0]?.diff).toContain("notes.txt");
    expect([ran.outcome.code, ran.files]).toEqual([0, { ...files, "notes.txt": "notes\n" }]);
  });

  test("and counts as a plan where it cannot be done at once", async () => {
    const looks = `${more.replace(finish("Notes made."), "")}RUN::ls\n${write("list.md", "x\n")}${finish()}`;
    const { planned, questions } = await byHand([failing, looks], { answers: ["no"], files: old });
    expect(planned()).toEqual(["RM NOTES", "WRITE notes.txt", "RUN ls", "WRITE list.md"]);
    expect(questions[0]).not.toHaveProperty("diff");
  });
});

describe("what somebody does by hand while a question waits is told with", () => {
  const both = { ...files, "text.py": "shout\n" };
  /** Acts at the first question that gets words. */
  const whileAsked = async (act: (root: string) => void, setup: Omit<Setup, "files">) => {
    const place = makeFolder(both);
    let left = [setup.answers].flat().findIndex((each) => typeof each === "object");
    const onQuestion = () => {
      if (left-- === 0) act(place.root);
    };
    const options = { atOnce: "auto", interactive: true, ...setup.options } as const;
    return playIn(place, { onQuestion, ...setup, options }).finally(place.remove);
  };
  const words = { feedback: "five digits" };

  test("the words at the plan, the work or the diff of it", async () => {
    const byHand = (root: string) => writeFileSync(join(root, "text.py"), "shout\nhand\n");
    const work = change + finish();
    const ways = [
      { lines: [script, script], answers: [words, "yes"] },
      { lines: [planned, planned, work], answers: [words, "yes"], options: { atOnce: "never" } },
      { lines: [planned, work, work], answers: ["yes", words, "yes"], options: { review: "batch" } },
    ] as const;
    for (const [at, way] of ways.entries()) {
      const { asked, outcome } = await whileAsked(byHand, way);
      expect(asked(at === 2 ? 3 : 2)).toContain(" shout\n+hand\n");
      expect(outcome.code).toBe(0);
    }
  });
});
