/** What the change guard refuses is refused whole, and what is not a loss goes through. */
import { describe, expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import type { Json } from "../../../src/core/model.ts";
import { perform } from "../../../src/flows/perform.ts";
import { here } from "../../workspace/sandbox/here.ts";
import { old, other } from "../long-files.ts";
import { finish, modify, plan, planTo, write } from "../plans.ts";
import { play } from "../scripted.ts";

describe("a refused call is refused whole", () => {
  test("a moved file whose change is refused stays where it was, whatever the plan says of moving", async () => {
    const { files } = await play({
      files: { "a.txt": old },
      lines: [
        plan({ steps: ["MV a.txt -> new/b.txt", "MODIFY new/b.txt", "WRITE c.txt"], purpose: "move", read: ["a.txt"] }),
        `MV::a.txt::new/b.txt\n${modify("new/b.txt", [old, other])}${write("c.txt", "c\n")}${finish()}`,
        finish(),
      ],
      options: { allowDelete: true, keep: true },
    });
    expect(files).toEqual({ "a.txt": old, "c.txt": "c\n" });
  });

  test("folders that only a refused call wanted are not made", async () => {
    const text = "// ... rest of the code unchanged ...\n";
    const { files } = await play({
      lines: [
        planTo("WRITE a/b/c.js", "WRITE a/d.js", "MKDIR e"),
        `${write("a/b/c.js", text)}${write("a/d.js", "d\n")}MKDIR::e\n${finish()}`,
        finish(),
      ],
      options: { keep: true },
    });
    expect(files).toEqual({ "a/d.js": "d\n", "e/": "" });
  });
});

test("what the user's own check rewrites is not the model's doing", async () => {
  const check = "[ -e done ] || { seq 1 700 > a.txt; touch done; }";
  const { outcome, files } = await play({
    files: { "a.txt": old },
    lines: [plan({ steps: ["MODIFY a.txt"], read: ["a.txt"] }), modify("a.txt", ["line 7\n", "x\n"]) + finish()],
    options: { checks: [check] },
  });
  expect(outcome).toMatchObject({ code: 0, status: "verified" });
  expect(files["a.txt"]).toContain("\n649\n650\n651\n");
});

describe("what a command did against the guard", () => {
  const overwrite = "seq 1 700 > a.txt";
  const lines = [planTo(`RUN ${overwrite}`), `RUN::${overwrite}\n${finish()}`, finish()];

  test("is taken back at once, also when the run keeps what it did", async () => {
    const ran = await play({ files: { "a.txt": old }, lines, options: { allowRun: true, keep: true } });
    expect(ran.files).toEqual({ "a.txt": old });
    expect(ran.outcome.changes).toEqual([]);
  });

  test("never stays when a check of the plan did it", async () => {
    const ran = await play({
      files: { "a.txt": old },
      lines: [plan({ steps: ["WRITE b.txt"], checks: [overwrite] }), write("b.txt", "1\n") + finish()],
      options: { allowRun: true },
    });
    expect(ran.files).toEqual({ "a.txt": old, "b.txt": "1\n" });
    const [notice] = ran.eventsOf("notice").filter(({ code }) => code === "guard_refused");
    const said = `${overwrite}: what the command changed was taken back. a.txt: 1300 lines changed`;
    // On a copy of the project there is nothing to take back.
    if (here.proposes) expect(notice).toBeUndefined();
    else expect(notice?.text).toStartWith(said);
  });
});

describe("without a plan", () => {
  const change = (...calls: readonly (readonly [name: string, input: Json])[]) =>
    play({
      files: { "a.txt": old },
      lines: [],
      answers: "yes",
      options: { interactive: true },
      flow: async (run) => {
        for (const [at, [name, input]] of calls.entries()) {
          const { reports } = await perform(run, [{ id: `${at}`, name, input }], null);
          for (const { code, text } of reports) if (code !== null) throw new PaiError(code, text);
        }
      },
    });

  test("a deletion that was asked for by name and allowed is announced", async () => {
    const { outcome, files } = await change(["RM", { path: "a.txt" }]);
    expect([outcome.code, files]).toEqual([0, {}]);
  });

  test("writing it anew counts against what it was, and a command announces nothing", async () => {
    const anew = await change(["RM", { path: "a.txt" }], ["WRITE", { path: "a.txt", content: other }]);
    const command = await change(["RUN", { command: "rm a.txt" }]);
    for (const { outcome } of [anew, command])
      expect([outcome.code, outcome.error?.code]).toEqual([8, "guard_refused"]);
    expect(command.files).toEqual({ "a.txt": old });
  });
});

test("a new secret is a question, and headless a refusal with its own code", async () => {
  const key = `AIza${"Sy4kQ8Zp1LmW7xT".repeat(3).slice(0, 35)}`;
  const lines = [planTo("WRITE a.js"), `${write("a.js", `const key = "${key}";\n`)}${finish()}`];
  const refused = await play({ lines: [...lines, finish()] });
  expect(refused.outcome).toMatchObject({ code: 12, error: { code: "secret_refused" } });
  expect(refused.files).toEqual({});
  expect(refused.asked(3)).toMatch(/a\.js: the new content seems to hold a secret \(line 1: Google key\)/);
  const allowed = await play({ lines, answers: "yes" });
  expect(allowed.questions.at(-1)?.text).toStartWith("a.js: the new content seems to hold a secret");
  expect(Object.keys(allowed.files)).toEqual(["a.js"]);
});
