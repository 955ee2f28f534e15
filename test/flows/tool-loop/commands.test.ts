/** Commands of the tool loop, and checks as its end. */
import { expect, test } from "bun:test";
import { functions, old } from "../long-files.ts";
import { call, calling, calls, playLoop, resultsOf } from "../loop.ts";

test("changes before a command are decided before it: it may be one of them that it runs", async () => {
  const both = calls(call("write", { path: "x.sh", content: "echo hi" }), call("bash", { command: "sh x.sh" }));
  const ran = await playLoop([both, "Done."], { options: { interactive: true }, answers: "yes" });
  expect(ran.questions.map(({ kind }) => kind)).toEqual(["batch", "command"]);
  expect(resultsOf(ran, 2)[1]?.text).toContain("hi");
});

test("no command is known to be harmless: each is asked about, whole, whatever it begins with", async () => {
  const commands = ["ls", "ls && touch x", "find . -delete", "git -c pager=x log", "ls\ntouch x", "echo $(touch x)"];
  const ran = await playLoop([calls(...commands.map((command) => call("bash", { command }))), "Done."], {
    options: { interactive: true },
    answers: commands.map(() => "no" as const),
    files: { "a.txt": "x" },
  });
  expect(ran.questions.length).toBe(commands.length);
  for (const [at, command] of commands.entries())
    for (const line of command.split("\n")) expect(ran.questions[at]?.text).toContain(line);
  expect(ran.files).toEqual({ "a.txt": "x" });
});

test("commands are offered only where they may run, and each is asked about", async () => {
  const headless = await playLoop(["Hi."]);
  expect(headless.requests[0]?.tools.map(({ name }) => name).join(" ")).toBe(
    "read grep glob tree ls map_root sniff_logs diagnose write edit mkdir " +
      "rm mv copy link mode explore write_tasks update_task read_tasks",
  );
  const asked = await playLoop([calling("bash", { command: "echo hi" }), "Done."], {
    options: { interactive: true },
    answers: ["no"],
  });
  expect(asked.questions.map(({ kind }) => kind)).toEqual(["command"]);
  expect(resultsOf(asked, 2)[0]).toMatchObject({ ok: false });
  const allowed = await playLoop([calling("bash", { command: "echo hi; exit 3" }), "Done."], {
    options: { allowRun: true },
  });
  expect(resultsOf(allowed, 2)[0]?.text).toMatch(/^exit 3 after \d+ ms(?: \(in a sandbox.*\))?\nhi$/);
});

test("what is refused is told in words that fit a mode without a plan", async () => {
  const lost = calls(call("read", { path: "a.js" }), call("read", { path: "b.txt" }));
  const changes = calls(
    call("bash", { command: "npm test" }),
    call("write", { path: "a.js", content: functions(0, 5) }),
    call("write", { path: "b.txt", content: "" }),
  );
  const ran = await playLoop([lost, changes, "Done."], {
    files: { "a.js": functions(0, 9), "b.txt": old.slice(0, 1500) },
  });
  const told = resultsOf(ran, 3).map(({ text }) => text);
  expect(told).toEqual([
    expect.stringContaining("where nobody is asked, commands of the model run only with --allow-run"),
    expect.stringContaining("these definitions would be lost, and the task does not name them"),
    expect.stringContaining("would be deleted and appear nowhere else, and the task does not say so"),
  ]);
  expect(JSON.stringify([told, ran.outcome.refused])).not.toContain("plan");
});

test("a failing check of the user sends the model back to work, with its output", async () => {
  const lines = [
    calling("write", { path: "a.sh", content: "echo broken; exit 1\n" }),
    "Done.",
    calling("write", { path: "a.sh", content: "exit 0\n" }),
    "Now it works.",
  ];
  const ran = await playLoop(lines, { options: { checks: ["sh a.sh"] } });
  expect(ran.asked(3)).toContain("broken");
  const ended = { calls: { made: 4, expected: 50, at_most: 50 } };
  expect(ran.outcome).toMatchObject({ status: "verified", text: "Now it works.", ...ended });
});

test("headless, a refusal that leaves nothing done is the end of the run, whatever the model says of it", async () => {
  const files = { "a.txt": "x" };
  const removes = await playLoop([calling("rm", { path: "a.txt" }), "Deleted."], { files });
  const lines = [calling("write", { path: "b.txt", content: "x" }), "Done."];
  const outside = await playLoop(lines, { files, options: { only: [["a.txt"]] } });
  for (const { outcome } of [removes, outside]) expect(outcome).toMatchObject({ status: "failed", code: 12 });
});

test("a refusal the model finds a way around within its rights is not a failure", async () => {
  const put = (path: string) => calling("write", { path, content: "x" });
  const lines = [put(".env"), put("env.example"), "Done."];
  expect((await playLoop(lines)).outcome).toMatchObject({ status: "unverified", code: 0 });
});

test("headless, a command that may not run and nothing else is 12 with the flag, whatever the model says of it", async () => {
  const { outcome } = await playLoop([calling("bash", { command: "pytest -q" }), "All tests pass."]);
  expect(outcome).toMatchObject({ code: 12, status: "failed", error: { code: "command_refused" } });
  expect(outcome.error?.hint).toContain("--allow-run");
});

test("at a terminal an answer is an answer, whatever the user's check says of the files", async () => {
  for (const check of ["true", "false"]) {
    const setup = { options: { checks: [check], interactive: true }, files: { "a.txt": "x" } };
    const { outcome } = await playLoop([calling("read", { path: "a.txt" }), "It holds x."], setup);
    expect([outcome.status, outcome.code, outcome.text]).toEqual(["answered", 0, "It holds x."]);
  }
});
