/** What a turn printed that no request has shown: the check that failed it, and the commands of its last reply; and what ended it. */
import { expect, test } from "bun:test";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { call, calls } from "../loop.ts";
import { finish, modify, plan, planTo, write } from "../plans.ts";
import { placeFiles } from "../scripted.ts";
import { ask, openTurns } from "../turns.ts";

const edit = (from: string, to: string) => modify("a.txt", [`${from}\n`, `${to}\n`]) + finish(`It says ${to}.`);
const red = {
  lines: [planTo("MODIFY a.txt"), edit("one", "two"), edit("two", "three")],
  options: { interactive: true, checks: ["grep -q ok a.txt || { cat a.txt; exit 1; }"] },
  answers: ["yes", "no", "no"],
} as const;

test("the next request has what the check printed last, in the same session and after it is resumed", async () => {
  const turns = openTurns({ "a.txt": "one\n" });
  const ran = await turns.say("make it another", red);
  expect([ran.outcome.ok, ran.files]).toEqual([false, { "a.txt": "one\n" }]);
  const last = ran.events.findLast((event) => event.type === "check.finished");
  const told = `printed at last:\n  ${last?.output.trim()}`;
  expect((await turns.say("what went wrong?", ask)).past).toContain(told);
  turns.resume();
  expect((await turns.say("and now?", ask)).past).toContain(told);
});

test("a check that did not run again behind the last changes is told as that", async () => {
  const turns = openTurns({ "a.txt": "one\n" });
  const meddle = () => placeFiles(turns.root, { "t.sh": "# mine\ngrep -q three a.txt\n" });
  const ran = await turns.say("make it three", {
    lines: [
      plan({ steps: ["MODIFY a.txt", "WRITE t.sh"], checks: ["sh t.sh"] }),
      write("t.sh", "grep -q three a.txt\n") + edit("one", "two"),
      { text: edit("two", "three"), before: meddle },
    ],
    ...{ options: { interactive: true, allowRun: true }, answers: "yes" },
  });
  expect([ran.outcome.error?.code, ran.files["a.txt"]]).toEqual(["conflict", "three\n"]);
  expect(ran.outcome.checks).toMatchObject([{ passed: false, note: "ran before the last changes" }]);
  const { past } = await turns.say("what went wrong?", ask);
  expect(past).toContain("checks that failed: sh t.sh (exit 1, and ran before the last changes)");
});

test("only the last two turns have it, and a long output keeps its end", async () => {
  const turns = openTurns({ "a.txt": "one\n" });
  const check = "grep -q ok a.txt || { seq 1 5000; echo the end; exit 1; }";
  await turns.say("make it another", { ...red, options: { interactive: true, checks: [check] } });
  const { past } = await turns.say("what went wrong?", ask);
  expect(past).toContain("\n  the end");
  expect(past.length).toBeLessThan(5000);
  await turns.say("and now?", ask);
  turns.resume();
  expect((await turns.say("and then?", ask)).past).not.toContain("\n  the end");
});

test("what each of a turn's last commands printed is told, also after the session is resumed", async () => {
  const turns = openTurns({ "a.txt": "one\n" });
  const lines = [planTo("RUN seq 7 9", "RUN true"), `RUN::seq 7 9\n${finish("It printed numbers.")}`];
  const options = { interactive: true, allowRun: ["seq *", "true"] };
  await turns.say("count", { lines, options, answers: "yes" });
  const told = "the command seq 7 9 printed at last:\n  7\n  8\n  9";
  expect((await turns.say("what did it print?", ask)).past).toContain(told);
  turns.resume();
  expect((await turns.say("and now?", ask)).past).toContain(told);
});

test.each([
  ["a.txt", "b.txt"],
  ["a file.txt", "by"],
])("%s in the way of a run is told with its step, and %s behind it as not come to", async (name, other) => {
  const turns = openTurns({ [name]: "one\n", [other]: "one\n" });
  const ran = await turns.say("translate", {
    lines: [
      planTo(`MODIFY ${name}`, `MODIFY ${other}`),
      modify(name, ["one\n", "uno\n"]) + modify(other, ["one\n", "uno\n"]) + finish(),
    ],
    ...{ options: { interactive: true, review: "batch" }, answers: "yes" },
    onQuestion: ({ kind }) => {
      if (kind === "batch") placeFiles(turns.root, { [name]: "two\n" });
    },
  });
  const { error, refused, undone = [] } = ran.outcome;
  const met = [...refused, ...undone].filter(({ target }) => target === name);
  expect([error?.code, ...met.map(({ why }) => why)]).toEqual(["conflict", error?.message]);
  expect((await turns.say("what is missing?", ask)).past).toContain(
    `not done: MODIFY ${name} (${error?.message}), MODIFY ${other} (the run ended before it)`,
  );
});

test.each(["tool-loop", "single-shot"] as const)(
  "%s: a folder that got a file meanwhile is told with its deletion, not with the command behind",
  async (mode) => {
    const turns = openTurns({ "docs/a.md": "a\n" });
    const script = "MV::docs/a.md::a.md\nRM::docs\nRUN::true\n";
    const moves = [call("mv", { from: "docs/a.md", to: "a.md" }), call("rm", { path: "docs" })];
    const inLoop = [...moves, call("bash", { command: "true" })];
    const ran = await turns.say("empty docs", {
      ...(mode === "tool-loop"
        ? { flow: toolLoop, lines: [calls(...inLoop)] }
        : { lines: [planTo("MV docs/a.md -> a.md", "RM docs", "RUN true"), script + finish()] }),
      options: { mode, interactive: true, review: "batch" },
      answers: "yes",
      onQuestion: ({ kind }) => {
        if (kind === "batch") placeFiles(turns.root, { "docs/keep.md": "mine\n" });
      },
    });
    const { error, refused, undone = [] } = ran.outcome;
    const met = "docs still holds keep.md";
    const why = "the run ended before it";
    expect(error).toMatchObject({ code: "delete_refused", message: met });
    const told = [...refused, ...undone].map((each) => `${each.action} ${each.why}`);
    expect(told).toEqual([`MV ${why}`, `RM ${met}`, `RUN ${why}`]);
    expect(ran.questions.filter(({ kind }) => kind === "batch")).toHaveLength(1);
    expect((await turns.say("what is missing?", ask)).past).toContain(
      `not done: MV docs/a.md → a.md (${why}), RM docs (${met}), RUN true (${why})`,
    );
  },
);
