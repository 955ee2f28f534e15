/** Replies in other formats, with odd names, and cut in the middle. */
import { describe, expect, test } from "bun:test";
import { finish, plan, planTo, write } from "../plans.ts";
import { past, play } from "../scripted.ts";

const files = { "a.py": "x = 1\ny = 2\n", "b.py": "z = 3\n" };
const diff = "```diff\n--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n-x = 1\n+x = 5\n y = 2\n```\n";

test("it stays inside the contract: a file that the plan does not list is refused", async () => {
  const other = diff.replaceAll("a.py", "b.py").replace("x = 1", "z = 3").replace(" y = 2\n", "");
  const ran = await play({ files, lines: [planTo("MODIFY a.py"), other, finish()] });
  expect(ran.files).toEqual(files);
  expect(ran.outcome.code).toBe(12);
});

test("what cannot be read is answered in two lines: what it held, and what to send, with the word of the tag", async () => {
  const tagged = { ...files, "b.py": "END::EOT\n" };
  const steps = ["MODIFY a.py", "MODIFY b.py"];
  const loose = "```\n<<<<<<< SEARCH\nx = 1\n=======\nx = 5\n>>>>>>> REPLACE\n```\n";
  const lines = [plan({ steps, complexity: "complex" }), loose, write("a.py", "x\n"), finish()];
  const ran = await play({ files: tagged, lines: [...lines, finish()], options: { keep: true } });
  expect(ran.asked(3)).toContain(
    "Your last reply could not be used: the reply held SEARCH/REPLACE blocks outside of an action.\nSend an existing file's change as MODIFY::path::EOT2,",
  );
});

test("words behind the last END, without FINISH, are the message when nothing is open", async () => {
  const reply = `${write("c.py", "print(1)\n")}\nI wrote c.py.\nRun it with python3.\n`;
  const ran = await play({ files, lines: [planTo("WRITE c.py"), reply] });
  expect(ran.outcome).toMatchObject({ code: 0, text: "I wrote c.py.\nRun it with python3.", calls: { made: 2 } });
});

test("MV onto a file is a failure whatever the names say", async () => {
  const files = { "Success.txt": "1\n", b: "2\n" };
  const script = `MV::Success.txt::b\n${finish("Success")}`;
  const ran = await play({ files, lines: [planTo("MV Success.txt -> b"), script, script] });
  expect([ran.outcome.code, ran.outcome.error?.message, ran.files]).toEqual([
    8,
    "MV Success.txt → b: b exists: nothing is moved over it",
    files,
  ]);
});

test("the system prompt of a purpose is the same in every run, whatever was asked before", async () => {
  const lines = [planTo("WRITE a.txt"), write("a.txt", "1\n") + finish()];
  const history = Array.from({ length: 9 }, (_, n) => past(`request ${n}`, "done"));
  const [early, late] = [await play({ lines }), await play({ lines, history })];
  expect(late.requests.map(({ system }) => system)).toEqual(early.requests.map(({ system }) => system));
});

describe("cut replies", () => {
  const steps = ["WRITE a.txt", "WRITE b.txt", "RM old.txt"];
  const files = { "old.txt": "old\n" };
  const options = { allowDelete: true };
  const first = `RM::old.txt\n${write("a.txt", "1\n")}WRITE::b.txt::EOT\nline 1\nline 2\nlin`;

  test("the rest is asked for and joined; deletions wait until the reply is whole", async () => {
    const rest = `line 2\nline 3\nEND::EOT\n${finish("Done.")}`;
    const ran = await play({ files, options, lines: [planTo(...steps), { text: first, stop: "length" }, rest] });
    expect(ran.purposes).toBe("plan execute resume");
    expect(ran.asked(3)).toContain("cut inside WRITE::b.txt::EOT, after the line «line 2»");
    const shown = ran.requests[2]?.messages.at(-2);
    expect(shown?.role === "assistant" && shown.text).toEndWith("\nline 1\nline 2\n");
    expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 3, expected: 2, at_most: 3 } });
    expect(ran.files).toEqual({ "a.txt": "1\n", "b.txt": "line 1\nline 2\nline 3\n" });
    expect(ran.eventsOf("changes.applied").length).toBe(1);
  });

  test("cut twice: complete actions are kept, RM never runs, and without a call left it ends with 7, all taken back", async () => {
    const ran = await play({
      files,
      options,
      lines: [planTo(...steps), { text: first, stop: "length" }, { text: "line 3\nli", stop: "length" }],
    });
    expect([ran.outcome.code, ran.outcome.error?.code, ran.files]).toEqual([7, "reply_cut", files]);
    expect(ran.eventsOf("call.started").map(({ action }) => action)).toEqual(["WRITE"]);
  });

  test("an empty answer to the resume costs the spare, not what was complete", async () => {
    const lines = [
      plan({ steps, complexity: "moderate" }),
      { text: first, stop: "length" as const },
      "",
      `RM::old.txt\n${write("b.txt", "all\n")}${finish()}`,
    ];
    const ran = await play({ files, options, lines });
    expect(ran.purposes).toBe("plan execute resume execute");
    expect([ran.outcome.code, ran.files]).toEqual([0, { "a.txt": "1\n", "b.txt": "all\n" }]);
  });

  test("a command in a cut reply is never run", async () => {
    const lines = [
      planTo("RUN touch x", "WRITE a.txt"),
      { text: "RUN::touch x\nWRITE::a.txt::EOT\n", stop: "length" as const },
      { text: "b", stop: "length" as const },
    ];
    const ran = await play({ lines, options: { allowRun: true } });
    expect([ran.outcome.code, ran.files]).toEqual([7, {}]);
  });
});

test("a reply that was cut within the message of its FINISH is whole: its command runs, and no call is made for it", async () => {
  const cut = { text: "RUN::echo made > x\nFINISH::EOT\nThe file x is made. It ho", stop: "length" as const };
  const planned = await play({ lines: [planTo("RUN echo made > x"), cut], options: { allowRun: true } });
  expect([planned.outcome.code, planned.requests.length, planned.files]).toEqual([0, 2, { x: "made\n" }]);
  const head = "I'll make it.\n\nFILES: a.txt\nWRITE::a.txt::EOT\n1\nEND::EOT\n";
  const options = { atOnce: "auto", interactive: true } as const;
  const text = `${head}FINISH::EOT\na.txt is made.\nIt ho`;
  const first = await play({ lines: [{ text, stop: "length" }], options, answers: "yes" });
  expect([first.requests.length, first.files]).toEqual([1, { "a.txt": "1\n" }]);
  expect(first.outcome.text).toBe("a.txt is made. […]");
});

test("a server that ignores the limit is left, and what arrived is paid for", async () => {
  const endless = { text: "word ".repeat(80_000) };
  const options = { planOnly: true, caps: { calls: null, tokens: 9000, cost: null } };
  const ran = await play({ lines: [endless, endless], options });
  expect([ran.outcome.error?.code, ran.requests.length]).toEqual(["budget_tokens", 1]);
  const most = 32 * (ran.requests[0]?.maxOutputTokens ?? 0);
  expect(ran.outcome.usage.output * 4).toBeLessThan(most + 1000);
});

test("where no cap is set a reply may be a megabyte, however little the model is thought to write", async () => {
  const long = { text: plan({ intent: "conversation", reply: "word ".repeat(210_000) }) };
  expect((await play({ lines: [long] })).outcome.code).toBe(0);
});
