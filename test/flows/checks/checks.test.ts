/** Checks and commands of a run: what they prove, what they fail, what they change. */
import { describe, expect, test } from "bun:test";
import { renderProof } from "../../../src/core/outcome.ts";
import { here } from "../../workspace/sandbox/here.ts";
import { finish, modify, plan, planTo, talk, write } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { "a.txt": "one\n" };
const work = modify("a.txt", ["one\n", "two\n"]);
const change = work + finish("Tests pass!");
const steps = ["MODIFY a.txt"];
const bad = "grep -q one a.txt";
const good = "grep -q . a.txt";
const allowed = { allowRun: true };

describe("status is computed here", () => {
  test("unverified: changed, and no check ran; the plan's checks are listed as not run", async () => {
    const ran = await play({ files, lines: [plan({ steps, checks: ["touch x.txt"] }), change] });
    expect(ran.outcome).toMatchObject({ code: 0, status: "unverified" });
    expect(ran.outcome.checks).toEqual([{ command: "touch x.txt", by: "plan", exit: null, ms: 0, passed: null }]);
    expect(ran.eventsOf("notice").map(({ code }) => code)).toEqual(["checks_not_run"]);
    expect(ran.files).toEqual({ "a.txt": "two\n" });
  });

  test("a failing check is reported to the next phase, which corrects it", async () => {
    const lines = [planTo(...steps), change, modify("a.txt", ["two\n", "two one\n"]) + finish("Now.")];
    const ran = await play({ files, lines, options: { checks: [`cat a.txt; ${bad}`] } });
    expect(ran.outcome).toMatchObject({ code: 0, status: "verified", text: "Now.", calls: { made: 3 } });
    expect(ran.asked(3)).toContain(`<check command="cat a.txt; ${bad}" exit="1">\ntwo\n</check>`);
    expect(ran.asked(3)).toContain("-one\n+two\n");
    expect(ran.asked(3)).toContain("Your edits are in the files now. Correct what the failed check shows");
  });

  test("a failing user check fails also where nothing had to be changed", async () => {
    const lines = [planTo("WRITE a.txt"), write("a.txt", "one\n") + finish(), finish()];
    expect((await play({ files, lines, options: { checks: ["false"] } })).outcome.code).toBe(9);
  });

  test.each(["false", bad])("a plan's check that fails at the end fails the run: %s", async (check) => {
    const lines = [plan({ steps, checks: [check] }), change, finish()];
    const ran = await play({ files, lines, options: allowed });
    const checks = [{ by: "plan", passed: false }];
    expect(ran.outcome).toMatchObject({ code: 9, status: "failed", changes: [], checks });
    expect(ran.files).toEqual(files);
  });

  test("a plan's check without the tool that it names could not run: no further call, unverified, and said", async () => {
    const check = "sh -c 'echo /usr/bin/python3: No module named pytest >&2; exit 1' pytest";
    const ran = await play({ files, lines: [plan({ steps, checks: [check] }), change], options: allowed });
    expect(ran.outcome).toMatchObject({ code: 0, status: "unverified", calls: { made: 2 } });
    expect(ran.outcome.checks[0]?.passed).toBeNull();
    expect(ran.outcome.checks[0]?.note).toContain("No module named pytest");
    const own = "sh -c 'echo No module named area; exit 1' area";
    const lines = [plan({ steps: ["WRITE area.py"], checks: [own] }), write("area.py", "x\n") + finish(), finish()];
    expect((await play({ files, lines, options: allowed })).outcome.code).toBe(9);
  });

  test("a failed check names its flags only where nobody is asked whether the changes stay", async () => {
    const lines = [plan({ steps, checks: ["false"] }), change, finish()];
    const ran = await play({ files, lines, options: { interactive: true }, answers: ["yes", "no"] });
    expect([ran.outcome.code, ran.outcome.error?.hint, ran.questions.at(-1)?.kind]).toEqual([9, null, "keep"]);
  });

  test.each([
    ["no-such-program-x", 127, /program was not found/],
    ["./a.txt", 126, /could not be executed/],
    ["echo 'EROFS: read-only file system'; exit 1", 1, /perhaps the sandbox/],
  ])("a plan's check that could not judge is no failure and its reason is told: %s", async (check, exit, note) => {
    if (exit === 1 && here.level === null) return;
    const ran = await play({ files, lines: [plan({ steps, checks: [check] }), change], options: allowed });
    expect(ran.outcome).toMatchObject({ code: 0, status: "unverified", checks: [{ exit, passed: null }] });
    expect(renderProof(ran.outcome)).toMatch(note);
  });

  test("with a user's check no run is only answered: where nothing changed the check decides", async () => {
    for (const check of [good, "false"]) {
      const [status, code] = check === good ? ["verified", 0] : ["failed", 9];
      const ran = await play({ files, lines: [talk("It says one.")], options: { checks: [check] } });
      expect(ran.outcome).toMatchObject({ status, code, text: "It says one.", checks: [{ command: check }] });
    }
  });

  test("an answer to a person is no work that a check judges", async () => {
    const options = { checks: ["false"], interactive: true };
    const { outcome } = await play({ files, lines: [talk("It says one.")], options });
    expect(outcome).toMatchObject({ status: "answered", code: 0, text: "It says one.", checks: [{ passed: false }] });
  });

  test("the check of a plan of looks decides too", async () => {
    const ran = await play({ files, lines: [planTo("READ a.txt"), talk("It says one.")], options: { checks: [good] } });
    expect(ran.outcome).toMatchObject({ code: 0, status: "verified", checks: [{ command: good, passed: true }] });
  });
});

describe("what commands and checks change", () => {
  test("a RUN before the first change is done before the execution call, and not again", async () => {
    const lines = [planTo("RUN echo once | tee -a log.txt", ...steps), `RUN::echo once | tee -a log.txt\n${change}`];
    const ran = await play({ files, lines, options: allowed });
    expect(ran.asked(2)).toMatch(
      /<result action="RUN echo once[^>]*ok="true">\nexit 0 after \d+ ms(?: \(in a sandbox.*\))?\n\(it changed log.txt\)\nonce/,
    );
    expect([ran.outcome.code, ran.outcome.calls.made, ran.files["log.txt"]]).toEqual([0, 2, "once\n"]);
  });

  test("a reply that only repeats it is told that it was done, and its findings appear once", async () => {
    const lines = [planTo("RUN echo once | tee -a log.txt"), "RUN::echo once | tee -a log.txt\n", finish("Once.")];
    const ran = await play({ lines, options: allowed });
    expect(ran.asked(3)).toContain("RUN echo once | tee -a log.txt was done before your reply: its output is above");
    expect([ran.outcome.text, ran.outcome.calls.made, ran.files["log.txt"]]).toEqual(["Once.", 3, "once\n"]);
  });

  test("a RUN behind a change of the same reply sees it", async () => {
    const lines = [planTo("RUN cat a.txt", ...steps), `${work}RUN::cat a.txt\n${finish()}`];
    const ran = await play({ files, lines, options: allowed });
    expect(ran.eventsOf("look.shown").map(({ text }) => text.trim())).toEqual(["one", "two"]);
  });

  test("a RUN sees the changes before it, and its output and exit code reach the model", async () => {
    const run = "cat a.txt; exit 3";
    const lines = [planTo(...steps, `RUN ${run}`), `${work}RUN::${run}\nREAD::b.txt\n`, finish("It says two.")];
    const ran = await play({ files: { ...files, "b.txt": "b\n" }, lines, options: allowed });
    expect(ran.outcome).toMatchObject({ code: 15, status: "partial", text: "It says two." });
    expect(ran.outcome.undone).toEqual([{ action: "RUN", target: run, why: "exit 3" }]);
    expect(ran.asked(3)).toMatch(
      /FAILED: RUN cat a\.txt; exit 3\n<result>\nexit 3 after \d+ ms(?: \(in a sandbox.*\))?\ntwo/,
    );
  });

  test("what a RUN changed is shown to the next phase and keeps the plan's promise", async () => {
    const run = "echo three >> a.txt";
    const lines = [planTo(`RUN ${run}`, ...steps), `RUN::${run}\nREAD::b.txt\n`, finish()];
    const ran = await play({ files: { ...files, "b.txt": "b\n" }, lines, options: allowed });
    expect(ran.asked(2)).toContain("@@ -1 +1,2 @@\n one\n+three\n");
    expect([ran.outcome.code, ran.files["a.txt"]]).toEqual([0, "one\nthree\n"]);
  });

  const withRun = [planTo(...steps, "RUN touch x.txt"), `RUN::touch x.txt\n${change}`];

  test("headless without --allow-run a RUN beside changes is dropped: named once, no failure, no further call (R17)", async () => {
    const ran = await play({ files, lines: withRun });
    expect([ran.outcome.code, ran.outcome.status, ran.files]).toEqual([0, "unverified", { "a.txt": "two\n" }]);
    expect(ran.outcome.refused).toEqual([{ action: "RUN", target: "touch x.txt", why: expect.any(String) }]);
    expect(ran.outcome.actions).toEqual({ done: 1, failed: 0, refused: 1 });
    expect(ran.eventsOf("call.finished").map(({ action }) => action)).toEqual(["MODIFY"]);
    expect(ran.notices("commands_not_run")[0]).toContain("--allow-run");
    expect(ran.outcome.plan?.execution_plan?.steps.map(({ action }) => action)).toEqual(["MODIFY"]);
    const checked = await play({ files, lines: withRun, options: { checks: [good] } });
    expect(checked.outcome).toMatchObject({ code: 0, status: "verified", refused: [{ target: "touch x.txt" }] });
  });

  test("a plan of nothing but commands that may not run ends with 12 before a second call", async () => {
    const ran = await play({ files, lines: [planTo("READ a.txt", "RUN ls")] });
    expect(ran.outcome).toMatchObject({ ok: false, code: 12, calls: { made: 1 }, refused: [{ target: "ls" }] });
    expect([ran.outcome.error?.message, ran.outcome.error?.hint].join()).toMatch(/ls.*--allow-run/);
    const lines = [planTo("RUN ls"), "RUN::ls\nFINISH::Listed.\n"];
    expect((await play({ files, lines, options: allowed })).outcome).toMatchObject({ code: 0, status: "unverified" });
  });

  test.each(["auto", "never"] as const)(
    "a check that the user asks for, behind no change, is run (at once: %s)",
    async (atOnce) => {
      const build = "cat a.txt > out.txt; echo built";
      const script = `I build.\nRUN::${build}\nREAD::out.txt\n${finish("Built.")}`;
      const lines = [atOnce === "auto" ? script : planTo(`RUN ${build}`, "READ out.txt"), finish("Built.")];
      const options = { interactive: true, atOnce, checks: [build] };
      const ran = await play({ files, lines, task: "build", answers: "yes", options });
      expect(ran.planned()).toEqual([`RUN ${build}`, "READ out.txt"]);
      expect(ran.told(2)).toMatch(/action="RUN cat a\.txt[\s\S]*\nbuilt[\s\S]*one/);
      expect(ran.told(2)).not.toContain("runs them again at the end");
      expect(ran.outcome).toMatchObject({ code: 0, commands: [{ command: build, exit: 0 }] });
    },
  );

  test("a planned RUN that is a check of the user is that check", async () => {
    const ran = await play({
      files,
      lines: [planTo(`RUN ${good}`), `RUN::${good}\nFINISH::It passes.\n`],
      options: { checks: [good] },
    });
    expect(ran.outcome).toMatchObject({ code: 0, status: "verified", text: "It passes.", refused: [] });
  });
});

describe("a check that has judged this very tree", () => {
  const edit = (from: string, to: string) => modify("a.txt", [from, to]) + finish();

  test("is not run again for a reply that changes nothing", async () => {
    const lines = [planTo(...steps), edit("one\n", "two\n"), finish("It cannot be done.")];
    const ran = await play({ files, lines, options: { checks: ["grep -q three a.txt"], baseline: false } });
    expect(ran.outcome).toMatchObject({ code: 9, calls: { made: 3 } });
    expect(ran.told(2)).toContain("Checks of the user, which pai runs after changes (no need to run them):");
    expect(ran.eventsOf("check.started")).toHaveLength(1);
  });

  test("is run again after a change", async () => {
    const lines = [planTo(...steps), edit("one\n", "two\n"), edit("two\n", "three\n")];
    const ran = await play({ files, lines, options: { checks: ["grep -q three a.txt"], baseline: false } });
    expect(ran.outcome).toMatchObject({ code: 0, status: "verified" });
    expect(ran.eventsOf("check.started")).toHaveLength(2);
  });
});
