/** What a phase leaves to the next, and what a run that ends with something left becomes. */
import { describe, expect, test } from "bun:test";
import { finish, modify, plan, planTo, write } from "../plans.ts";
import { play } from "../scripted.ts";

describe("partial failure", () => {
  const files = { "a.txt": "one\n", "b.txt": "the\ntwo\n" };
  const first = planTo("MODIFY a.txt", "MODIFY b.txt");
  const half = modify("a.txt", ["one\n", "1\n"]) + modify("b.txt", ["the\ntow\n", "2\n"]) + finish("All done!");

  test("what failed drops out, the rest is in; the next phase is told both and corrects it", async () => {
    const ran = await play({
      files,
      lines: [first, half, modify("b.txt", ["the\ntwo\n", "2\n"]) + finish("Both done.")],
    });
    expect(ran.files).toEqual({ "a.txt": "1\n", "b.txt": "2\n" });
    expect(ran.outcome).toMatchObject({ code: 0, text: "Both done.", calls: { made: 3, at_most: 3 } });
    const asked = ran.asked(3);
    expect(asked).toContain("done: MODIFY a.txt");
    expect(asked).toContain("FAILED: MODIFY b.txt\n<result>\nthe text to replace is not in the file");
    expect(asked).toContain('file "two"');
    expect(asked).toContain("-one\n+1\n");
    expect(asked).toContain("Still to do from the plan:\n- change b.txt");
    const applied = ran.eventsOf("changes.applied").map(({ batch, changes }) => `${batch} ${changes[0]?.path}`);
    expect(applied).toEqual(["1 a.txt", "2 b.txt"]);
  });

  test("a claim of success does not make it one: still failed at the end, all phases are taken back with 8", async () => {
    const ran = await play({ files, lines: [first, half, modify("b.txt", ["the\ntow\n", "2\n"]) + finish("Done!")] });
    expect(ran.files).toEqual(files);
    expect(ran.outcome).toMatchObject({ ok: false, status: "failed", code: 8, changes: [], diff: "" });
    expect(ran.outcome.error?.message).toBe("MODIFY b.txt: the text to replace is not in the file");
    expect(ran.outcome.refused.map(({ why }) => why)).toEqual(["the text to replace is not in the file"]);
    expect(ran.eventsOf("changes.rolled_back")).toMatchObject([{ changes: [{ path: "a.txt" }] }]);
  });

  test("--keep keeps what was done; the run has failed all the same", async () => {
    const lines = [first, half, finish()];
    const ran = await play({ files, lines, options: { keep: true } });
    expect(ran.files).toEqual({ "a.txt": "1\n", "b.txt": "the\ntwo\n" });
    expect(ran.outcome).toMatchObject({
      ok: false,
      status: "failed",
      code: 8,
      changes: [{ path: "a.txt", op: "modify" }],
      ...{ text: "kept, but MODIFY b.txt: the text to replace is not in the file", claimed: "Done." },
    });
    const red = await play({
      files: {},
      lines: [planTo("WRITE c.txt"), write("c.txt", "c\n") + finish(), finish()],
      options: { keep: true, checks: ["false"] },
    });
    expect(red.outcome.error).toMatchObject({ code: "check_failed", hint: null });
  });

  test.each([true, false])("FINISH alone below a red check is the last word (%p)", async (old) => {
    const lines = [
      plan({ steps: ["WRITE c.txt"], complexity: "moderate" }),
      write("c.txt", "c\n") + finish(),
      finish("It fails for another reason."),
      finish("As I said."),
    ];
    const ran = await play({ files: {}, lines, options: { checks: [old ? "false" : "test ! -e c.txt"] } });
    expect([ran.outcome.error?.code, ran.requests.length, ran.files]).toEqual(["check_failed", 3, {}]);
    expect(ran.outcome.claimed).toBe("It fails for another reason.");
  });

  test("at a terminal the person is asked whether to keep it", async () => {
    const lines = [first, half, finish()];
    const ran = await play({ files, lines, answers: "yes", options: { interactive: true } });
    expect(ran.questions.map(({ kind }) => kind)).toEqual(["plan", "keep"]);
    expect(ran.files).toEqual({ "a.txt": "1\n", "b.txt": "the\ntwo\n" });
  });

  test("FINISH alone is not a success: the promised paths are named, then 8", async () => {
    const ran = await play({ files, lines: [first, finish("Done."), finish("Really done.")] });
    const message = "promised and not done: change a.txt, change b.txt";
    expect(ran.outcome).toMatchObject({ code: 8, error: { message } });
    expect(ran.asked(3)).toContain("- change a.txt\n- change b.txt");
  });

  test("a file that the run has made may be written again, in the next phase and in the same reply", async () => {
    const lines = [
      planTo("WRITE c.txt", "WRITE d.txt"),
      write("c.txt", "first\n") + write("c.txt", "second\n") + finish(),
      write("c.txt", "third\n") + write("d.txt", "new\n") + finish(),
    ];
    const ran = await play({ files, lines });
    expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 3 } });
    expect(ran.files).toEqual({ ...files, "c.txt": "third\n", "d.txt": "new\n" });
  });

  test("what is there already is success with a note, and no more than unverified: it was promised", async () => {
    const ran = await play({ files, lines: [planTo("WRITE a.txt"), write("a.txt", "one\n") + finish()] });
    expect(ran.outcome).toMatchObject({ code: 0, status: "unverified", changes: [] });
    expect(ran.eventsOf("call.finished").map(({ text }) => text)).toEqual(["already there, nothing to do"]);
  });

  test("after two failed edits of a file its whole text is asked for, shown as it is now", async () => {
    const complexity = "moderate" as const;
    const lines = [
      plan({ steps: ["MODIFY a.txt"], complexity }),
      modify("a.txt", ["one\n", "1\n"]) + modify("a.txt", ["x\n", "y\n"]) + finish(),
      modify("a.txt", ["z\n", "y\n"]) + finish(),
      write("a.txt", "1\n2\n") + finish(),
    ];
    const ran = await play({ files, lines });
    expect(ran.asked(3)).not.toContain("send the whole file");
    expect(ran.asked(4)).toContain('<file path="a.txt">\n1\n</file>\nEdits of a.txt failed twice: send the whole file');
    expect([ran.outcome.code, ran.files["a.txt"]]).toEqual([0, "1\n2\n"]);
  });
});

describe("looks in a reply", () => {
  test("a READ without FINISH is answered with the file whole, and the work goes on", async () => {
    const ran = await play({
      files: { "a.txt": "one\n", "more.txt": "the\nsecret\n" },
      lines: [planTo("MODIFY a.txt"), "READ::more.txt\n", modify("a.txt", ["one\n", "1\n"]) + finish()],
    });
    expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 3, at_most: 3 } });
    expect(ran.told(3)).toContain('<file path="more.txt">\nthe\nsecret\n</file>');
  });

  test("a READ that checks the reply's own work costs no call", async () => {
    const ran = await play({
      files: { "a.txt": "one\n" },
      lines: [
        planTo("MODIFY a.txt", "READ a.txt"),
        `READ::a.txt\n${modify("a.txt", ["one\n", "1\n"])}READ::a.txt\n${finish()}`,
      ],
    });
    expect([ran.outcome.code, ran.outcome.calls.made]).toEqual([0, 2]);
  });

  test("a look that no call is left for takes back nothing that was promised and done", async () => {
    const files = { "a.txt": "one\n", "b.txt": "two\n" };
    const again = `${modify("a.txt", ["one\n", "1\n"])}READ::b.txt\n${finish()}`;
    const ran = await play({ files, lines: [planTo("MODIFY a.txt"), again, `READ::c.txt\nSEARCH::x\n`] });
    expect([ran.outcome.code, ran.files["a.txt"]]).toEqual([0, "1\n"]);
  });
});

describe("one reply", () => {
  test("too many actions: the first are done, the others named to the next phase", async () => {
    const all = ["a", "b", "c"].map((name) => write(`${name}.txt`, `${name}\n`)).join("");
    const lines = [
      planTo("WRITE a.txt", "WRITE b.txt", "WRITE c.txt"),
      `${"MKDIR::.\n".repeat(7)}${all}${finish()}`,
      write("b.txt", "b\n") + write("c.txt", "c\n") + finish(),
    ];
    const ran = await play({ lines, options: { maxActions: 3 } });
    expect(ran.asked(3)).toContain("the first 8 actions were done. Send these again:\n- WRITE b.txt\n- WRITE c.txt");
    const text = "the reply held 10 actions: only the first 8 are done now, the rest is asked for again";
    expect(ran.eventsOf("notice")).toContainEqual(expect.objectContaining({ level: "warning", text }));
    expect(ran.outcome.code).toBe(0);
    expect(ran.files).toEqual({ "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
  });

  test("an unknown action is reported to the next phase and does not prevent the end", async () => {
    const lines = [
      planTo("WRITE a.txt", "WRITE b.txt"),
      `${write("a.txt", "1\n")}CHOWN::a.txt\n${finish()}`,
      write("b.txt", "2\n") + finish(),
    ];
    const ran = await play({ lines });
    expect(ran.asked(3)).toContain("CHOWN");
    expect(ran.outcome.code).toBe(0);
  });
});

describe("the change guard", () => {
  const python = Array.from({ length: 30 }, (_, n) => `def f${n}():\n    return ${n}\n`).join("\n");

  test("refuses what loses most of a file unsaid; counts and the way out reach the next phase", async () => {
    const ran = await play({
      files: { "a.py": python, "b.txt": "b\n" },
      lines: [
        planTo("WRITE a.py", "WRITE c/b.txt"),
        write("a.py", "def f0():\n    return 0\n") + write("c/b.txt", "2\n") + finish(),
        modify("a.py", ["    return 0\n", "    return 100\n"]) + finish(),
      ],
    });
    expect(ran.outcome.code).toBe(0);
    expect(ran.files["a.py"]).toBe(python.replace("return 0\n", "return 100\n"));
    expect(ran.asked(3)).toMatch(/FAILED: WRITE a\.py\n.*\d+ of \d+ lines would be deleted/);
  });
});

describe("what is asked for again", () => {
  const versions = Array.from({ length: 800 }, (_, n) => `## ${800 - n}.0\n\n- entry ${800 - n} of it\n`).join("\n");
  const files = { "a.txt": "one\n", "CHANGES.md": `# Changes\n\n${versions}` };
  const work = modify("a.txt", ["one\n", "two\n"]);

  test("comes with the parts of the file that the model had not seen, and with none a second time", async () => {
    const entry = modify("CHANGES.md", ["- entry 3 of it\n", "- entry 3 of it, mended\n"]);
    const lines = [planTo("MODIFY a.txt", "MODIFY CHANGES.md"), work + finish(), entry + finish()];
    const ran = await play({ files, lines });
    expect(ran.asked(2)).not.toContain("entry 3 of it");
    expect(ran.asked(3)).toContain("entry 3 of it");
    expect(ran.told(3).split("- entry 800 of it").length).toBe(2);
    expect([ran.outcome.code, ran.outcome.calls.made]).toEqual([0, 3]);
  });

  test("a look is named as the reason, not the work that waits for it", async () => {
    const lines = [planTo("MODIFY a.txt"), "READ::CHANGES.md\n", work + finish()];
    const ran = await play({ files, lines });
    const [again] = ran.eventsOf("notice").filter(({ text }) => text.startsWith("asking again"));
    expect(again?.text).toBe("asking again: the model wants to see READ CHANGES.md");
    expect(ran.outcome.code).toBe(0);
  });

  test("and where no call is left for a look, the failure says so", async () => {
    const look = "READ::CHANGES.md\n";
    const ran = await play({ files, lines: [planTo("RUN true"), look, look, look], options: { allowRun: true } });
    expect(ran.outcome.error?.message).toBe("the model wants to see READ CHANGES.md, and no call is left");
  });
});
