/** A contract can be amended in the open, and never stretched. */
import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { followPlan } from "../../../src/flows/single-shot.ts";
import { finish, modify, plan, planOf, planTo, write } from "../plans.ts";
import { makeFolder, play, playIn, type Setup } from "../scripted.ts";

const files = { "a.py": "x = 1\n", "b.py": "y = 1\n", "c.py": "z = 1\n" };
const contract = planTo("MODIFY a.py");
const editA = modify("a.py", ["x = 1\n", "x = 2\n"]);
const editB = modify("b.py", ["y = 1\n", "y = 2\n"]);
const asking = "AMEND::MODIFY::b.py::the same fault is in b.py\n";

const playing = (over: Partial<Setup>) =>
  play({ files, lines: [contract, editA + asking + editB + finish()], ...over });

describe("without a person", () => {
  test("without AMEND the same edit is refused, and the model is told the line to write", async () => {
    const ran = await playing({ lines: [contract, editA + editB + finish(), asking + editB + finish()] });
    expect(ran.asked(2)).not.toContain("AMEND::MODIFY::b.py");
    expect(ran.asked(3)).toContain("AMEND::MODIFY::b.py::why");
    expect(ran.files["b.py"]).toBe("y = 2\n");
  });

  test("strict grants nothing: what needed it fails with 12, and the prompt names no AMEND", async () => {
    const options = { strict: true, checks: ["grep -q 'y = 2' b.py"] };
    const ran = await playing({ options, lines: [contract, editA + asking + editB + finish(), finish()] });
    expect(ran.outcome).toMatchObject({ code: 12, status: "failed" });
    expect(ran.outcome.error?.message).toContain("b.py");
    expect(ran.outcome.error?.hint).toContain("--strict");
    expect(ran.outcome.amended).toMatchObject([{ path: "b.py", accept: false, by: "policy" }]);
    expect(ran.outcome.refused).toMatchObject([{ action: "MODIFY", target: "b.py" }]);
    expect(ran.requests[1]?.system).not.toContain("AMEND");
    expect(ran.files).toEqual(files);
  });

  test("denied paths, files that steer, --only, deletions and commands keep their rules", async () => {
    const cases = [
      [`AMEND::WRITE::.env::keys\n${write(".env", "K=1\n")}`, {}],
      [`AMEND::WRITE::.vscode/tasks.json::tasks\n${write(".vscode/tasks.json", "{}\n")}`, {}],
      [`AMEND::WRITE::d.py::new\n${write("d.py", "1\n")}`, { only: [["a.py"]] }],
      ["AMEND::RM::c.py::unused\nRM::c.py\n", {}],
      ["AMEND::RUN::touch made::to see\nRUN::touch made\n", {}],
    ] as const;
    for (const [script, options] of cases) {
      const ran = await playing({ options, lines: [contract, editA + script + finish(), finish()] });
      expect([script, ran.files]).toEqual([script, { ...files, "a.py": "x = 2\n" }]);
      expect(ran.outcome.amended[0]?.accept).toBe(false);
      expect(ran.outcome.refused.length).toBe(1);
      expect(ran.outcome.status).toBe("unverified");
    }
    const both = "AMEND::RM::c.py::unused\nRM::c.py\nAMEND::RUN::touch made::x\nRUN::touch made\n";
    const options = { allowDelete: true, allowRun: true };
    const allowed = await playing({ options, lines: [contract, editA + both + finish()] });
    expect(allowed.files).toEqual({ "a.py": "x = 2\n", "b.py": "y = 1\n", made: "" });
  });

  test("a run has three, or as many as its plan names paths; one more is refused alone", async () => {
    const asked = ["1", "2", "3", "4"].map((n) => `AMEND::WRITE::${n}.py::part ${n}\n${write(`${n}.py`, "1\n")}`);
    const ran = await playing({ lines: [contract, editA + asked.join("") + finish(), finish()] });
    expect(Object.keys(ran.files).sort()).toEqual(["1.py", "2.py", "3.py", "a.py", "b.py", "c.py"]);
    expect(ran.outcome.amended.map(({ accept }) => accept)).toEqual([true, true, true, false]);
  });

  test("it grants a right, never evidence: WRITE over a file that was not shown is still refused", async () => {
    const script = `${editA}AMEND::WRITE::b.py::shorter\n${write("b.py", "y = 3\n")}${finish()}`;
    const large = { ...files, "b.py": "y = 1\n".repeat(30_000) };
    const ran = await playing({ files: large, lines: [contract, script, finish()] });
    expect(ran.outcome.amended[0]?.accept).toBe(true);
    expect(ran.files["b.py"]).toHaveLength(180_000);
  });

  test("a saved plan grants none, and an amendment that no action uses is listed as refused", async () => {
    const ran = await playing({ options: { command: "apply" }, lines: [contract, editA + asking + finish()] });
    expect(ran.outcome).toMatchObject({ code: 0, status: "unverified" });
    expect(ran.outcome.refused).toMatchObject([{ action: "MODIFY", target: "b.py" }]);
    expect(ran.outcome.refused[0]?.why).toBe("a saved plan is carried out as it is: it does not allow to change b.py");
  });

  test("MV and COPY: every path is judged", async () => {
    const script = `${editA}AMEND::COPY::b.py::lib/b.py::two\nCOPY::b.py::lib/b.py\nAMEND::MV::c.py::.git/c::hide\nMV::c.py::.git/c\n${finish()}`;
    const ran = await playing({ lines: [contract, script, finish()] });
    const granted = ran.outcome.amended.map(({ action, accept }) => `${action} ${accept}`).sort();
    expect(granted).toEqual(["COPY true", "MV false"]);
    expect(ran.files).toEqual({ ...files, "a.py": "x = 2\n", "lib/b.py": "y = 1\n" });
  });
});

describe("at a terminal", () => {
  const script = `${editA}${asking}${editB}AMEND::RM::c.py::nothing uses it\nRM::c.py\n${finish()}`;
  const options = { interactive: true };

  test("one question for all of a reply, with the reasons and the diff of what they change", async () => {
    const ran = await playing({ options, answers: "yes", lines: [contract, script] });
    expect(ran.questions.map(({ kind }) => kind)).toEqual(["plan", "amend"]);
    const [, question] = ran.questions;
    expect(question?.text).toContain("MODIFY b.py: the same fault is in b.py");
    expect(question?.text).toContain("RM c.py: nothing uses it");
    expect(question?.diff).toContain("+y = 2");
    expect(question?.diff).toContain("deleted file");
    expect(question?.diff).not.toContain("x = 2");
    expect(ran.files).toEqual({ "a.py": "x = 2\n", "b.py": "y = 2\n" });
    expect(ran.outcome.amended.map(({ by }) => by)).toEqual(["user", "user"]);
  });

  test("a saved plan asks as well", async () => {
    const flow = followPlan(planOf({ steps: ["MODIFY a.py"] }), null);
    const setup = { flow, options: { ...options, command: "apply" }, answers: "yes" } as const;
    const ran = await playing({ ...setup, lines: [editA + asking + editB + finish()] });
    expect(ran.questions.map(({ kind }) => kind)).toEqual(["plan", "amend"]);
    expect(ran.files).toMatchObject({ "a.py": "x = 2\n", "b.py": "y = 2\n" });
  });

  test("a no drops them and what needs them, asks nothing again, and the rest goes on", async () => {
    const ran = await playing({ options, answers: ["yes", "no"], lines: [contract, script] });
    expect(ran.files).toEqual({ ...files, "a.py": "x = 2\n" });
    expect(ran.questions.length).toBe(2);
    expect(ran.outcome.refused.map(({ target }) => target).sort()).toEqual(["b.py", "c.py"]);
    expect(ran.outcome).toMatchObject({ status: "unverified", calls: { made: 2 } });
    const claim = "x, y and z are set.";
    const claiming = [contract, script.replace(finish(), finish(claim))];
    const said = await playing({ options, answers: ["yes", "no"], lines: claiming });
    expect(said.outcome).toMatchObject({ ok: true, claimed: claim, text: "not done, as the user said no: b.py, c.py" });
    const open = plan({ steps: ["MODIFY a.py", "WRITE d.py"], complexity: "moderate" });
    const lines = [open, script, editB + write("d.py", "1\n") + finish()];
    const again = await playing({ options, answers: ["yes", "no"], lines });
    expect(again.questions.length).toBe(2);
    expect(again.files["b.py"]).toBe("y = 1\n");
  });

  test("a request that no action uses is told with the reason, by whomever it was refused", async () => {
    const place = makeFolder(files);
    symlinkSync("gone.py", join(place.root, "main.py"));
    const wish = "AMEND::MODIFY::main.py::it must lead to c.py\nLINK::main.py::c.py\n";
    const lines = [contract, `${editA + wish}${asking}${finish()}`, finish()];
    const { outcome, questions } = await playIn(place, { lines, options, answers: ["yes", "no", "yes", "yes"] });
    expect(questions.map(({ kind }) => kind)).toEqual(["plan", "amend", "scope", "keep"]);
    expect(outcome.refused.map(({ action, target, why }) => `${action} ${target}: ${why}`)).toEqual([
      "LINK main.py → c.py: main.py exists: nothing is linked over it; delete it first",
      'MODIFY main.py: main.py is a link to "gone.py"; links are not followed',
      "MODIFY b.py: the user declined to change b.py",
    ]);
  });

  test("a command is shown with its sandbox, each of its lines marked", async () => {
    const wish = "AMEND::RUN::touch made::to see it\nRUN::touch made\n";
    const ran = await playing({ options, answers: ["yes", "no"], lines: [contract, editA + wish + finish()] });
    expect(ran.questions[1]?.text).toMatch(/- RUN \(in .+(?:sandbox|sandboxed).*\): to see it\n│ touch made\n/);
    expect(ran.files).toEqual({ ...files, "a.py": "x = 2\n" });
  });
});
