/** Patterns of --allow-run: which commands of a model run, and what the model learns of the others. */
import { expect, test } from "bun:test";
import { call, calls, playLoop, resultsOf } from "../loop.ts";
import { finish, modify, plan, planTo } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { "a.txt": "one\n" };
const change = modify("a.txt", ["one\n", "two\n"]);
const options = { allowRun: ["touch x*"] };

test("headless a planned command that a pattern matches runs, another is dropped and reported with its flag", async () => {
  const lines = [
    planTo("MODIFY a.txt", "RUN touch x.txt", "RUN touch y.txt"),
    `${change}RUN::touch x.txt\nRUN::touch y.txt\n${finish()}`,
  ];
  const ran = await play({ files, lines, options });
  expect(Object.keys(ran.files)).toEqual(["a.txt", "x.txt"]);
  expect(ran.outcome.refused).toEqual([
    { action: "RUN", target: "touch y.txt", why: "no pattern of --allow-run permits it; permitted: touch x*" },
  ]);
  expect(ran.eventsOf("plan.ready")[0]?.permitted).toEqual([{ command: "touch x.txt", pattern: "touch x*" }]);
  expect(ran.asked(2)).toContain("Not run this time: touch y.txt. Do not say what they showed.");
});

test("a plan of nothing but a command that no pattern matches is refused with the flag that permits it", async () => {
  const ran = await play({ files, lines: [planTo("RUN touch y.txt")], options });
  expect(ran.outcome).toMatchObject({ code: 12, error: { hint: "allow it with --allow-run='touch y.txt'" } });
  const joined = await play({ files, lines: [planTo("RUN touch x; touch y")], options });
  expect(joined.outcome).toMatchObject({ code: 12, error: { hint: "allow it with --allow-run" } });
  expect(Object.keys(joined.files)).toEqual(["a.txt"]);
  expect(joined.planned()).toEqual(["RUN touch x; touch y"]);
});

test("a check of the plan runs when a pattern matches it", async () => {
  const lines = [plan({ steps: ["MODIFY a.txt"], checks: ["grep -q two a.txt", "touch y.txt"] }), change + finish()];
  const ran = await play({ files, lines, options: { allowRun: ["grep *"] } });
  const judged = ran.outcome.checks.map(({ command, passed }) => `${command}: ${passed}`);
  expect(judged).toEqual(["grep -q two a.txt: true", "touch y.txt: null"]);
  expect(ran.notices()).toContain(
    "checks of the plan not run (headless they need --allow-run='touch y.txt'): touch y.txt",
  );
});

test("a script may ask for a command beyond the plan that a pattern matches, and for no other", async () => {
  const beyond =
    "AMEND::RUN::touch x2.txt::needed\nRUN::touch x2.txt\nAMEND::RUN::touch y.txt::needed\nRUN::touch y.txt\n";
  const lines = [planTo("MODIFY a.txt"), change + beyond + finish()];
  const ran = await play({ files, lines, options });
  const granted = ran.outcome.amended.map(({ path, accept }) => `${path} ${accept}`);
  expect(granted).toEqual(["touch x2.txt true", "touch y.txt false"]);
  expect(Object.keys(ran.files)).toEqual(["a.txt", "x2.txt"]);
});

test("the tool-loop runs what matches and tells the model which patterns there are", async () => {
  const both = calls(call("bash", { command: "touch x1" }), call("bash", { command: "touch x1 && touch y" }));
  const ran = await playLoop([both, "Done."], { options });
  expect(resultsOf(ran, 2).map(({ ok, text }) => [ok, text.split("\n")[0]])).toEqual([
    [true, expect.stringMatching(/^exit 0 after/)],
    [false, "not run: no pattern of --allow-run permits it; permitted: touch x*"],
  ]);
  expect(Object.keys(ran.files)).toEqual(["x1"]);
});

test("at a terminal the tool-loop asks about what no pattern matches", async () => {
  const both = calls(call("bash", { command: "touch x1" }), call("bash", { command: "touch y" }));
  const ran = await playLoop([both, "Done."], { options: { ...options, interactive: true }, answers: "yes" });
  expect(ran.questions.filter(({ kind }) => kind === "command").map(({ text }) => text.split("\n")[1])).toEqual([
    "│ touch y",
  ]);
});

test("a dry run rehearses no command that no pattern matches", async () => {
  const lines = [planTo("RUN touch y.txt"), `RUN::touch y.txt\n${finish()}`];
  const ran = await play({ files, lines, options: { ...options, dryRun: true } });
  expect(ran.outcome.changes).toEqual([]);
});

test("a dry run runs no command of the plan before the work is asked for", async () => {
  const lines = [planTo("RUN cat a.txt", "MODIFY a.txt"), change + finish()];
  const ran = await play({ files, lines, options: { allowRun: true, dryRun: true } });
  expect(ran.asked(2)).not.toMatch(/exit 0 after/);
  expect((await play({ files, lines, options: { allowRun: true } })).asked(2)).toMatch(/exit 0 after/);
});
