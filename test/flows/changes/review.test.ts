/** `--review`: an approved plan is asked about again, change by change, with the diff before the question. */
import { describe, expect, test } from "bun:test";
import { finish, modify, planTo, write } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { "a.txt": "one\n" };
const lines = [planTo("MODIFY a.txt"), modify("a.txt", ["one\n", "1\n"]) + finish("Done.")];
const options = { interactive: true, review: "change" as const };

describe("review", () => {
  test("shows the diff of each batch, then asks, then applies", async () => {
    const ran = await play({ files, lines, options, answers: ["yes", "yes"] });
    expect(ran.questions.map(({ kind }) => kind)).toEqual(["plan", "batch"]);
    expect(ran.files).toEqual({ "a.txt": "1\n" });
    expect(ran.eventsOf("changes.proposed")[0]?.diff).toContain("-one\n+1\n");
    expect(ran.eventsOf("changes.proposed")[0]?.asked).toBe(true);
    expect(ran.eventsOf("changes.decided")).toMatchObject([{ accept: true, by: "user" }]);
  });

  test("shows each change alone, a new folder with its file, and words at one go to the model with that change", async () => {
    const steps = ["MODIFY a.txt", "WRITE src/b.txt", "MV c.txt -> d.txt"];
    const work = `${modify("a.txt", ["one\n", "first\n"]) + write("src/b.txt", "b\n")}MV::c.txt::d.txt\n`;
    const setup = { files: { ...files, "c.txt": "c\n" }, lines: [planTo(...steps), work + finish()], options };
    const ran = await play({ ...setup, answers: ["yes", "yes", "yes", "yes"] });
    const shown = ran.eventsOf("changes.proposed").map(({ changes }) => changes.map(({ path }) => path));
    expect(shown).toEqual([["a.txt"], ["src", "src/b.txt"], ["d.txt"]]);
    expect(ran.eventsOf("changes.applied")).toHaveLength(1);
    expect(ran.files).toEqual({ "a.txt": "first\n", "d.txt": "c\n", "src/b.txt": "b\n" });

    const again = { ...setup, lines: [...setup.lines, work.replace("\nb\n", "\nB\n") + finish()] };
    const said = await play({ ...again, answers: ["yes", "yes", { feedback: "in capitals" }, "yes", "yes"] });
    expect(said.asked(3)).toContain("in capitals");
    expect(said.asked(3)).toContain("+b");
    // What was agreed to before is not asked about again, and what was not shown yet is asked about once.
    const later = said.eventsOf("changes.proposed").map(({ changes }) => changes.map(({ path }) => path));
    expect(later).toEqual([["a.txt"], ["src", "src/b.txt"], ["src", "src/b.txt"], ["d.txt"]]);
    expect(said.outcome.code).toBe(0);
    expect(said.files).toEqual({ "a.txt": "first\n", "d.txt": "c\n", "src/b.txt": "B\n" });
  });

  test("a no ends the run as declined with everything as it was", async () => {
    const ran = await play({ files, lines, options, answers: ["yes", "no", "no"] });
    expect(ran.files).toEqual(files);
    expect(ran.outcome).toMatchObject({ status: "declined", code: 10, changes: [] });
  });

  test("asks nothing in a dry run, and nothing of who did not want it", async () => {
    const dry = await play({ files, lines, options: { ...options, dryRun: true } });
    expect([dry.outcome.code, dry.questions.length]).toEqual([0, 0]);
    expect(dry.eventsOf("changes.proposed")[0]).not.toHaveProperty("asked");
    const plain = await play({ files, lines, options: { interactive: true }, answers: ["yes"] });
    expect(plain.questions.map(({ kind }) => kind)).toEqual(["plan"]);
  });

  test("where nobody can be asked -y answers it, and without -y the diff is shown and nothing is changed", async () => {
    const headless = { interactive: false, review: "change" as const };
    const yes = await play({ files, lines, options: headless });
    expect([yes.outcome.code, yes.files]).toEqual([0, { "a.txt": "1\n" }]);
    const ran = await play({ files, lines, options: headless, answers: ["policy no", "policy no"] });
    expect(ran.eventsOf("changes.proposed")[0]?.diff).toContain("-one\n+1\n");
    expect(ran.outcome).toMatchObject({ status: "declined", code: 10, error: { hint: "approve changes with -y" } });
    expect(ran.files).toEqual(files);
  });

  test("a plan with a command needs its yes before anything runs", async () => {
    const options = { interactive: false, review: "change" as const, allowRun: true };
    const steps = ["RUN touch ran.txt", "MODIFY a.txt"];
    const ran = await play({ files, lines: [planTo(...steps)], options, answers: ["policy no"] });
    expect([ran.outcome.code, ran.requests.length, ran.files]).toEqual([10, 1, files]);
  });

  const words = { feedback: "write it in words" } as const;
  const again = modify("a.txt", ["one\n", "uno\n"]) + finish("Done in words.");

  test("words at the diff go to the model with that diff, in a call that is left, and what it makes is asked about", async () => {
    const ran = await play({ files, lines: [...lines, again], options, answers: ["yes", words, "yes"] });
    expect([ran.outcome.code, ran.outcome.text, ran.files]).toEqual([0, "Done in words.", { "a.txt": "uno\n" }]);
    expect(ran.outcome.calls).toEqual({ made: 3, expected: 2, at_most: 3 });
    expect(ran.outcome.refused).toEqual([]);
    expect(ran.asked(3)).toContain("-one\n+1\n</diff>\nThe user says: write it in words");
    expect(ran.questions.map(({ kind }) => kind)).toEqual(["plan", "batch", "batch"]);
  });

  test("once the promised calls are used, words take one more, which is told", async () => {
    const more = modify("a.txt", ["one\n", "un\n"]) + finish("In French.");
    const french = { feedback: "in French, rather" } as const;
    const ran = await play({ files, lines: [...lines, again, more], options, answers: ["yes", words, french, "yes"] });
    expect(ran.files).toEqual({ "a.txt": "un\n" });
    expect(ran.outcome.calls).toEqual({ made: 4, expected: 3, at_most: 4 });
    expect(ran.notices()).toContain("one more call: at most 4 now");
  });

  test("a cap of the user on calls holds against words, too", async () => {
    const ran = await play({
      files,
      lines,
      options: { ...options, caps: { calls: 2, tokens: null, cost: null } },
      answers: ["yes", words, "no"],
    });
    expect([ran.outcome.error?.code, ran.files]).toEqual(["budget_calls", files]);
  });

  test("what followed the changes in the same reply waits for them", async () => {
    const steps = ["MODIFY a.txt", "RUN touch ran.txt", "WRITE b.txt"];
    const first = `${modify("a.txt", ["one\n", "1\n"])}RUN::touch ran.txt\n${write("b.txt", "b\n")}${finish("Done.")}`;
    const ran = await play({
      files,
      lines: [planTo(...steps), first, modify("a.txt", ["one\n", "uno\n"]) + write("b.txt", "b\n") + finish("Done.")],
      options,
      answers: ["yes", words, "yes", "yes"],
    });
    expect(ran.files).toEqual({ "a.txt": "uno\n", "b.txt": "b\n" });
    expect(ran.asked(3)).toContain("The user says: write it in words");
  });
});
