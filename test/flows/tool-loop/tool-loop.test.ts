/** tool-loop: native calls through the same perform; Pilot's own cases and defects that concern the loop. */
import { expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import { noUsage } from "../../../src/core/model.ts";
import { renderTasks } from "../../../src/core/session/conversation.ts";
import { call, calling, calls, compact, playLoop, resultsOf, talkOf } from "../loop.ts";
import { capOf, faultOf, type Line, play } from "../scripted.ts";

test("a reply without calls ends the turn and is the answer", async () => {
  const ran = await playLoop(["Hello."]);
  expect(ran.outcome).toMatchObject({ status: "answered", text: "Hello.", calls: { made: 1, at_most: 50 } });
});

test("looks of one reply run at once and are answered in their order", async () => {
  const files = { "a.txt": "one\n", "b.txt": "two\n" };
  const looks = calls(call("read", { path: "b.txt" }), call("grep", { pattern: "one" }));
  const ran = await playLoop([looks, "Done."], { files });
  expect(resultsOf(ran, 2).map(({ ok, text }) => `${ok} ${text}`)).toEqual(["true 1 two", "true a.txt:1:one"]);
});

test("what cannot be done is told without the names that scripts give the actions", async () => {
  const wrong = calls(
    call("read", { path: "src" }),
    call("edit", { path: "new.txt", old_str: "one", new_str: "1" }),
    call("link", { path: "a.txt", target: "long.txt" }),
    call("write", { path: "long.txt", content: "new\n" }),
    call("read", { path: "long.txt" }),
  );
  const files = { "a.txt": "one\n", "src/b.txt": "two\n", "long.txt": "one line of text\n".repeat(100_000) };
  const ran = await playLoop([wrong, "Done."], { files });
  const told = resultsOf(ran, 2).map(({ text }) => text.replace(/\s*\d+\tone line of text/g, ""));
  const said = ["is a folder", "does not exist", "delete it first", "read it first", "left out"];
  expect(told.map((text, at) => text.includes(said[at] ?? ""))).toEqual(said.map(() => true));
  expect(told.join("\n")).not.toMatch(/\b(?:READ|SEARCH|TREE|LIST_PATH|WRITE|MODIFY|RM)\b/);
});

test("edit is exact and unique, write needs the file to have been shown", async () => {
  const long = "one\none\ntwo\n".repeat(3000);
  const lines = [
    calling("edit", { path: "a.txt", old_str: "one", new_str: "1" }),
    calling("edit", { path: "a.txt", old_str: "zzz", new_str: "1" }),
    calling("write", { path: "long.txt", content: "new\n" }),
    calling("write", { path: "a.txt", content: "new\n" }),
    "Done.",
  ];
  const ran = await playLoop(lines, { files: { "a.txt": "one\none\ntwo\n", "long.txt": long } });
  expect(resultsOf(ran, 2)[0]?.text).toContain("occurs 2 times");
  expect(resultsOf(ran, 3)[0]).toMatchObject({ ok: false });
  expect(resultsOf(ran, 4)[0]?.text).toContain("read it first");
  expect(resultsOf(ran, 5)[0]).toMatchObject({ ok: true });
  expect(ran.files).toEqual({ "a.txt": "new\n", "long.txt": long });
});

test("an unknown tool and unusable arguments are results, and every call has one", async () => {
  const ran = await playLoop([calls(call("fly", {}), call("read", {}), call("ls", {})), "Done."], { files: { a: "" } });
  expect(resultsOf(ran, 2).map(({ ok }) => ok)).toEqual([false, false, true]);
  expect(resultsOf(ran, 2)[0]?.text).toMatch(/^unknown tool: fly; the tools are read, grep, /);
  expect(faultOf(ran.requests[1]?.messages ?? [])).toBeNull();
});

test("an answer that was cut is gone on with, and is whole in the end", async () => {
  const ran = await playLoop([{ text: "One, ", stop: "length" }, { text: "two, ", stop: "length" }, "three."]);
  expect(ran.outcome).toMatchObject({ status: "answered", text: "One, two, three.", calls: { made: 3 } });
});

test("of a huge reply that is broken off the conversation keeps the beginning", async () => {
  const fail = new PaiError("interrupted", "interrupted");
  const ran = await playLoop([{ text: "word ".repeat(500_000), fail }]);
  const said = ran
    .eventsOf("message.added")
    .flatMap(({ message }) => (message.role === "assistant" ? message.text : []));
  expect(said.map((text) => [text.length < 9000, text.slice(0, 5), text.slice(-16)])).toEqual([
    [true, "word ", "[…]\n(broken off)"],
  ]);
});

test("three replies in a row that are cut before a word end the run: thoughts without end cost money", async () => {
  const silent: Line = { text: "", stop: "length" };
  const ran = await playLoop([silent, silent, { text: "Now: ", stop: "length" }, silent, silent, silent]);
  expect(ran.outcome).toMatchObject({ code: 7, error: { code: "reply_cut" }, calls: { made: 6 } });
});

test("only caps stop a loop: at the last call it ends as 13 and everything is taken back", async () => {
  const lines = ["a", "b", "c"].map((path) => calling("write", { path, content: "x" }));
  const ran = await playLoop(lines, { options: capOf(3) });
  expect(ran.outcome).toMatchObject({ status: "failed", code: 13, changes: [] });
  expect(ran.files).toEqual({});
});

test("a repeated call with the same result is told so", async () => {
  const files = { "a.txt": "x\n" };
  const read = () => calling("read", { path: "a.txt" });
  const ran = await playLoop([read(), read(), "Done."], { files });
  expect(resultsOf(ran, 3)[0]?.text).toContain("the same call had this same result before");
});

test("tasks live outside the messages and are in the next prompt", async () => {
  const tasks = [{ content: "Rename", description: "in a.py" }];
  const ran = await playLoop([
    calling("write_tasks", { tasks }),
    calling("update_task", { id: 1, status: "in_progress" }),
    "Done.",
  ]);
  expect(resultsOf(ran, 2)[0]?.text).toContain("[ ] 1. Rename");
  expect(resultsOf(ran, 3)[0]?.text).toContain("[~] 1. Rename");
  // What is cached and thought is bound to it.
  expect(new Set(ran.requests.map(({ system }) => system)).size).toBe(1);
  expect(renderTasks([])).toBe("No tasks.");
});

test("tasks without a description, or an id that is not there, are refused", async () => {
  const ran = await playLoop([
    calls(call("write_tasks", { tasks: [{ content: "x" }] }), call("update_task", { id: 7, status: "completed" })),
    "Done.",
  ]);
  expect(resultsOf(ran, 2).map(({ ok }) => ok)).toEqual([false, false]);
});

test("two updates in one reply are both kept, in call order", async () => {
  const tasks = ["a", "b"].map((content) => ({ content, description: content }));
  const ran = await playLoop([
    calling("write_tasks", { tasks }),
    calls(call("update_task", { id: 1, status: "completed" }), call("update_task", { id: 2, status: "in_progress" })),
    "Done.",
  ]);
  expect(resultsOf(ran, 3)[1]?.text).toContain("(0 pending, 1 in progress, 1 completed)");
});

test("explore looks in a separate conversation, and its calls count", async () => {
  const files = { "a.txt": "needle\n" };
  const lines = [
    calling("explore", { task: "find needle" }),
    calling("grep", { pattern: "needle" }),
    "It is in a.txt:1.",
    "Found.",
  ];
  const ran = await playLoop(lines, { files });
  expect(ran.purposes).toBe("turn explore explore turn");
  expect(ran.requests[1]?.tools.map(({ name }) => name)).toEqual(["read", "grep", "glob", "ls"]);
  expect(resultsOf(ran, 4)[0]?.text).toBe("It is in a.txt:1.");
  expect(ran.outcome.calls.made).toBe(4);
});

test("explore begins with the files that are likely for its own task", async () => {
  const others = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`other/part${n}.py`, `part = ${n}\n`]));
  const files = { ...others, "shop/invoice.py": "def round_invoice(): pass\n", "shop/tax.py": "rate = 7\n" };
  const lines = [calling("explore", { task: "where is the tax rate" }), "In shop/tax.py.", "Done."];
  const ran = await playLoop(lines, { files, task: "round the invoice" });
  const [asked] = ran.requests[1]?.messages ?? [];
  expect(asked).toMatchObject({ text: expect.stringMatching(/^<likely order="best first">\nshop\/tax\.py\n/) });
  expect(asked).not.toMatchObject({ text: expect.stringContaining("invoice") });
});

test("explore that runs out of calls returns what it found so far", async () => {
  const look = (): Line => ({ text: "a.txt looks right", calls: [call("ls", {})] });
  const ran = await playLoop([calling("explore", { task: "find" }), look(), look()], { options: capOf(3) });
  expect(ran.outcome.code).toBe(13);
});

test("a full window is summarized with the last turn whole; tasks survive, analysis does not", async () => {
  const conversation = talkOf(16_000, [
    { id: 1, content: "Keep me", description: "d", active_form: null, status: "pending" },
  ]);
  const lines = ["<analysis>hm</analysis>They said x.", "Done."];
  const ran = await playLoop(lines, { conversation, task: "go on", window: 9000 });
  expect(ran.purposes).toBe("compact turn");
  const [first] = ran.requests[1]?.messages ?? [];
  expect(first?.role === "user" ? first.text : "").toBe(
    `Summary of the conversation so far (3 messages; what they showed is out of view unless it stands below: read it again where you need it):\nThey said x.\n\nCurrent tasks:\n${renderTasks(conversation.tasks)}\n\nThe last request:\ngo on`,
  );
});

test("a summary that is empty leaves the conversation as it was", async () => {
  const conversation = talkOf(16_000);
  const ran = await playLoop(["<analysis>only</analysis>", "Done."], { conversation, task: "go on", window: 9500 });
  expect(ran.requests[1]?.messages.length).toBe(3);
});

test("a finished turn that is too long is summarized as answered, not as a request that waits", async () => {
  const conversation = talkOf(16_000);
  const ran = await play({ lines: ["They said x."], flow: compact, conversation, window: 9000 });
  const messages = ran.eventsOf("conversation.replaced")[0]?.messages ?? [];
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
});

test("what a call is estimated at counts the calls made before it, and the tools", async () => {
  const content = "some words of a line\n".repeat(2000);
  const lines: Line[] = [
    { text: "", calls: [call("write", { path: "a.txt", content })], usage: noUsage },
    { text: "Done.", usage: noUsage },
  ];
  const [first, second] = (await playLoop(lines)).eventsOf("model.started");
  expect((second?.estimate ?? 0) - (first?.estimate ?? 0)).toBeGreaterThan(content.length / 4);
  const caps = { calls: null, cost: null, tokens: (first?.estimate ?? 0) + content.length / 4 + 2000 };
  const capped = await playLoop(lines, { options: { caps } });
  expect([capped.outcome.error?.code, capped.requests.length]).toEqual(["budget_tokens", 1]);
  const tools = capped.requests[0]?.tools ?? [];
  expect(first?.estimate).toBeGreaterThan(JSON.stringify(tools).length / 4);
});

test("a file that the words at a diff name by @path is shown with the results", async () => {
  const write = call("write", { path: "b.txt", content: "1\n" });
  const many = Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`src/m${n}.py`, `x = ${n}\n`]));
  const ran = await playLoop([calls(write), calls(write), "Done."], {
    files: many,
    options: { interactive: true },
    answers: [{ feedback: "like @src/m42.py" }, "yes"],
  });
  expect(resultsOf(ran, 2)[0]?.text).toEndWith('like @src/m42.py"\n\n<file path="src/m42.py">\nx = 42\n</file>');
});
