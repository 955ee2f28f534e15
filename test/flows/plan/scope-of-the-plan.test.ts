/** The plan is a contract: what it does not list is refused, and some things before the second call. */
import { describe, expect, test } from "bun:test";
import { here } from "../../workspace/sandbox/here.ts";
import { finish, modify, plan, planTo, write } from "../plans.ts";
import { capOf, play, type Setup } from "../scripted.ts";

const create = planTo("WRITE a.txt");
const made = write("a.txt", "1\n");

describe("rights", () => {
  const files = { "b.txt": "b\n", "dir/c.txt": "c\n", "dir/d.txt": "d\n" };
  const options = { allowDelete: true, allowRun: true };

  test.each([
    ["WRITE", write("x.txt", "x\n"), "change x.txt"],
    ["WRITE over a file", write("b.txt", "x\n"), "change b.txt"],
    [
      "MODIFY of three files",
      ["b.txt", "dir/c.txt", "dir/d.txt"].map((path) => modify(path, [`${path.at(-5)}\n`, "x\n"])).join(""),
      "change b.txt",
    ],
    ["TOUCH", "TOUCH::x.txt\n", "change x.txt"],
    ["MKDIR", "MKDIR::lib\n", "make folder lib"],
    ["RM", "RM::b.txt\n", "delete b.txt"],
    ["RM of a folder", "RM::dir\n", "delete dir"],
    ["MV", "MV::b.txt::e.txt\n", "move b.txt to e.txt"],
    ["RUN", "RUN::touch x.txt\n", "run: touch x.txt"],
  ])("%s of what the plan does not list is refused with 12; the model is told", async (_name, action, what) => {
    const lines = [create, made + action + finish(), made + action + finish()];
    const ran = await play({ files, options, lines });
    expect(ran.asked(3)).toContain(`the plan does not promise to ${what}`);
    expect(JSON.stringify(ran.outcome.refused)).not.toContain("not done");
    expect([ran.outcome.code, ran.outcome.error?.code]).toEqual([12, "scope_refused"]);
    expect(ran.files).toEqual(files);
  });

  test("a refusal that is not repeated is resolved; the promise remains", async () => {
    const ran = await play({ files, lines: [create, made + write("b.txt", "x\n") + finish(), finish("Only a.txt.")] });
    expect([ran.outcome.code, ran.outcome.text]).toEqual([0, "Only a.txt."]);
    expect(ran.files).toEqual({ ...files, "a.txt": "1\n" });
  });

  test("WRITE, MODIFY and TOUCH allow each other, parents of promised files are implied, RM and MV of a folder take all of it", async () => {
    const steps = ["MODIFY b.txt", "WRITE new/deep/x.txt", "RM dir", "MV old -> lib"];
    const script = `MKDIR::new/deep\nTOUCH::new/deep/x.txt\n${write("b.txt", "x\n")}RM::dir/c.txt\nRM::dir\nMV::old::lib\n${finish()}`;
    const ran = await play({ files: { ...files, "old/e/f.txt": "f\n" }, options, lines: [planTo(...steps), script] });
    expect(ran.outcome.code).toBe(0);
    expect(ran.files).toEqual({ "b.txt": "x\n", "lib/e/f.txt": "f\n", "new/deep/x.txt": "" });
  });

  test("at a terminal a wider step is a question that shows all that it does; a yes counts as an amendment", async () => {
    const lines = [create, made + modify("b.txt", ["b\n", "x\n"]) + finish()];
    const yes = await play({ files, lines, answers: "yes", options: { interactive: true } });
    expect([yes.outcome.code, yes.files["b.txt"]]).toEqual([0, "x\n"]);
    expect(yes.questions[1]).toEqual({
      kind: "scope",
      diff: "diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+x\n",
      text: "Not in the plan: change b.txt\nYes allows it; no leaves it out, and the rest goes on",
    });
    const amended = { action: "MODIFY", path: "b.txt", why: "", accept: true, by: "user" };
    expect(yes.outcome.amended).toMatchObject([amended]);
    const asked = { answers: ["yes", "no"], options: { interactive: true } } as const;
    const no = await play({ files, lines: [...lines, finish()], ...asked });
    expect([no.outcome.code, no.files["b.txt"]]).toEqual([0, "b\n"]);
  });

  test("a no to it fails nothing when no call is left to tell the model", async () => {
    const lines = [create, made + modify("b.txt", ["b\n", "x\n"]) + finish()];
    const options = { interactive: true, ...capOf(2) };
    const ran = await play({ files, lines, answers: ["yes", "no"], options });
    expect(ran.outcome).toMatchObject({ code: 0, status: "unverified" });
    expect(ran.files).toMatchObject({ "a.txt": "1\n", "b.txt": "b\n" });
  });

  test("the plan's own words widen nothing: only its steps do", async () => {
    const words = { reply: "I will also change b.txt", read: ["b.txt"], purpose: "and RM b.txt" };
    const text = plan({ steps: ["WRITE a.txt"], ...words });
    const script = made + write("b.txt", "x\n") + finish();
    expect((await play({ files, lines: [text, script, script] })).outcome.code).toBe(12);
  });

  test("WRITE over a file that was not sent is refused, with the way out", async () => {
    const big = "line\n".repeat(60_000);
    const script = write("big.txt", "x\n") + finish();
    const ran = await play({ files: { "big.txt": big }, lines: [planTo("WRITE big.txt"), script, script] });
    expect([ran.outcome.code, ran.outcome.error?.code]).toEqual([8, "file_unusable"]);
    expect(ran.asked(3)).toContain("read it first, or send edits of it");
  });
});

describe("10 and 12, before any further call", () => {
  const options = { allowDelete: true };
  const no: Partial<Setup> = { answers: ["policy no"] };

  test("10: a yes is missing and -y would give it", async () => {
    const ran = await play({ ...no, lines: [create] });
    expect(ran.outcome).toMatchObject({ code: 10, status: "declined", error: { code: "approval_needed" } });
    expect([ran.purposes, ran.files]).toEqual(["plan", {}]);
    expect(ran.outcome.plan?.execution_plan?.steps.length).toBe(1);
  });

  test.each<[string, string, Partial<Setup>]>([
    ["a path outside the root", "WRITE ../a.txt", {}],
    ["an absolute path", "WRITE /etc/a.txt", {}],
    ["a denied name", "WRITE .git/hooks/pre-commit", {}],
    ["a denied name on the far side of MV", "MV b.txt -> .env", { options }],
    ["a deletion without --allow-delete", "RM b.txt", {}],
    ["a target outside --only", "WRITE a.txt", { options: { only: [["src/**"]] } }],
    ["one outside any of several --only", "WRITE src/a.txt", { options: { only: [["src/**"], ["*.md"]] } }],
    ["what runs code later, unless --allow names it", "WRITE .github/workflows/ci.yml", {}],
    ["the root itself", "RM .", { options }],
  ])("12, decided without -y and with it: %s", async (_name, step, setup) => {
    for (const answers of [undefined, ["policy no"] as const]) {
      const lines = [planTo(step)];
      const ran = await play({ files: { "b.txt": "b\n" }, lines, ...setup, ...(answers ? { answers } : {}) });
      expect([ran.outcome.code, ran.purposes, ran.questions]).toEqual([12, "plan", []]);
      expect(ran.files).toEqual({ "b.txt": "b\n" });
    }
  });

  test("the question of a plan says whole what a yes will do", async () => {
    const steps = ["RM b.txt", "WRITE .envrc", "RUN make  all"];
    const lines = [plan({ steps, checks: ["make test"] })];
    const ran = await play({ files: { "b.txt": "b\n" }, lines, answers: ["no"], options: { interactive: true } });
    for (const part of ["b.txt", ".envrc", "make  all", "make test"]) expect(ran.questions[0]?.text).toContain(part);
  });
});

describe("-n", () => {
  test("both calls and the diff, nothing written, commands run on a copy or not at all, no question, 0", async () => {
    const steps = ["MODIFY b.txt", "WRITE new/a.txt", "RM c.txt", "RUN touch ran.txt"];
    const lines = [
      plan({ steps, checks: ["touch checked.txt"] }),
      `${modify("b.txt", ["b\n", "B\n"])}${write("new/a.txt", "1\n")}RM::c.txt\nRUN::touch ran.txt\n${finish()}`,
    ];
    const files = { "b.txt": "b\n", "c.txt": "c\n" };
    const options = { dryRun: true, allowRun: true, checks: ["touch user.txt"] };
    const ran = await play({ files, lines, options });
    expect(ran.files).toEqual(files);
    expect(ran.questions).toEqual([]);
    expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 2 }, checks: [] });
    expect(ran.outcome.changes.map(({ op, path }) => `${op} ${path}`).sort()).toEqual([
      "create new/a.txt",
      ...(here.proposes ? ["create ran.txt"] : []),
      "delete c.txt",
      "mkdir new",
      "modify b.txt",
    ]);
    expect(ran.outcome.diff).toContain("-b\n+B\n");
    expect(ran.eventsOf("changes.applied")).toEqual([]);
    const ends = ran.eventsOf("call.finished").map(({ text }) => text);
    expect(ends.filter((text) => text === "not run: this is a dry run")).toHaveLength(here.proposes ? 0 : 1);
  });

  test("a later phase sees what the earlier one would have done", async () => {
    const lines = [
      planTo("WRITE a.txt", "MODIFY b.txt"),
      `${made}READ::a.txt\n${finish()}`,
      `${modify("a.txt", ["1\n", "2\n"])}${modify("b.txt", ["b\n", "B\n"])}${finish()}`,
    ];
    const ran = await play({ files: { "b.txt": "b\n" }, lines, options: { dryRun: true } });
    expect(ran.outcome.code).toBe(0);
    expect(ran.outcome.diff).toContain("+2\n");
    expect(ran.files).toEqual({ "b.txt": "b\n" });
  });

  test("a failed one shows no changes as done", async () => {
    const bad = `${made}${modify("b.txt", ["two\n", "2\n"])}${finish()}`;
    const lines = [planTo("WRITE a.txt", "MODIFY b.txt"), bad, bad];
    const ran = await play({ lines, files: { "b.txt": "one\n" }, options: { dryRun: true } });
    expect(ran.outcome).toMatchObject({ code: 8, changes: [], diff: "" });
  });
});
