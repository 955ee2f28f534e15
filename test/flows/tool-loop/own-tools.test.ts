/** What the tool-loop starts with and what its own tools do: the briefing, the user's checks, helpers, time limits, a small window. */

import { describe, expect, test } from "bun:test";
import { defineQuery } from "../../../src/actions/command.ts";
import { allActions } from "../../../src/actions/registry.ts";
import { call, calling, calls, playLoop, resultsOf, talkOf } from "../loop.ts";
import { capOf, type Line } from "../scripted.ts";

const files = { "shop/money.py": "def parse(text):\n    return int(text)\n", "package.json": '{"name": "shop"}\n' };

test("a new conversation begins as a plan does: tree, stack, the likely files, the checks with their output, the request", async () => {
  const options = { checks: ["echo 'cents are lost in shop/money.py'; false"], baseline: true };
  const ran = await playLoop(["It is money.py."], { files, options: { ...options, noWorse: true }, task: "fix parse" });
  const [first] = ran.requests[0]?.messages ?? [];
  const told = first?.role === "user" ? first.text : "";
  expect(told).toContain("<tree stack=");
  expect(told).toContain('<file path="shop/money.py">');
  expect(told).toContain("cents are lost in shop/money.py");
  expect(told).toEndWith("fix parse");
  const later = await playLoop(["Done."], { files, conversation: talkOf(2) });
  expect(later.requests[0]?.messages.at(-1)).toEqual({ role: "user", text: "do it" });
});

describe("check", () => {
  const options = { checks: ["cat shop/money.py; grep -q float shop/money.py"], baseline: false };
  const edit = call("edit", { path: "shop/money.py", old_str: "int(text)", new_str: "float(text)" });

  test("runs the user's checks at any time, without --allow-run, and shows the failing tail", async () => {
    const ran = await playLoop([calling("check", {}), calls(edit, call("check", {})), "Done."], { files, options });
    expect(resultsOf(ran, 2)[0]).toMatchObject({ name: "check", ok: true });
    expect(resultsOf(ran, 2)[0]?.text).toContain("return int(text)");
    expect(resultsOf(ran, 3)[1]?.text).toContain("passed: cat shop/money.py");
    expect(ran.outcome).toMatchObject({ code: 0, status: "verified" });
  });

  test("is there only where the user named checks", async () => {
    const named = async (checks: readonly string[]) => {
      const ran = await playLoop(["Hi."], { files, options: { checks, baseline: false, noWorse: true } });
      return ran.requests[0]?.tools.some(({ name }) => name === "check");
    };
    expect([await named([]), await named(["true"])]).toEqual([false, true]);
  });
});

test("helpers of one reply explore at the same time; their answers come in the order of the calls", async () => {
  let open = 0;
  let most = 0;
  const slow = (text: string): Line => ({
    text,
    async before() {
      open += 1;
      most = Math.max(most, open);
      await Bun.sleep(40);
      open -= 1;
    },
  });
  const three = ["a", "b", "c"].map((task) => call("explore", { task }));
  const lines = [calls(...three), slow("one"), slow("two"), slow("three"), "Done."];
  const ran = await playLoop(lines, { files });
  expect(most).toBe(3);
  expect(resultsOf(ran, 5).map(({ id }) => id)).toEqual(three.map(({ id }) => id));
  expect(ran.outcome.calls.made).toBe(5);
  const capped = await playLoop(lines, { files, options: capOf(3) });
  expect(capped.outcome).toMatchObject({ code: 13, calls: { made: 3 } });
});

test("bash may ask for more time than the limit of commands that ask for none, and is told which limit ended it", async () => {
  const sleep = (timeout?: number) =>
    call("bash", { command: "sleep 0.7; echo over", ...(timeout === undefined ? {} : { timeout }) });
  const ran = await playLoop([calls(sleep(60), sleep()), "Done."], {
    options: { allowRun: true, commandTimeoutMs: 300 },
  });
  const [asked, short] = resultsOf(ran, 2).map(({ text }) => text);
  expect(asked).toMatch(/^exit 0 after \d+ ms(?: \(in a sandbox.*\))?\nover$/);
  expect(short).toMatch(/^ended by the time limit of 0\.3 s \(--command-timeout allows more\) after \d+ ms/);
});

describe("a small window", () => {
  test("shows what fits of a tool's answer, and no beginning of a key at its end", async () => {
    const key = ["sk-ant-api03", "Qm7Zt4Xp9Lw2Vb8N".repeat(5)].join("-");
    const query = async () => ({ ok: true, text: `${key} `.repeat(400) });
    const actions = allActions.map((each) => (each.name === "QUERY" ? { ...defineQuery(query), offered: true } : each));
    for (let window = 9000; window < 9200; window += 16) {
      const lines = [calling("query_tool", { tool: "t.log", input: {} }), "Done."];
      const [result] = resultsOf(await playLoop(lines, { actions, window }), 2);
      expect(result?.text).toMatch(/^<<SECRET_[\s\S]*more characters do not fit/);
      expect(result?.text).not.toMatch(/sk-|Qm7Z/);
    }
  });

  const long = "one line of text\n".repeat(4000);

  test("READ shows what fits and says how to go on; the file does not count as seen whole", async () => {
    const lines = [
      calling("read", { path: "long.txt" }),
      calling("write", { path: "long.txt", content: "x\n" }),
      "Done.",
    ];
    const ran = await playLoop(lines, { files: { "long.txt": long }, window: 16_000 });
    const text = resultsOf(ran, 2)[0]?.text ?? "";
    expect(text.length).toBeLessThan(16_000);
    expect(text.slice(-100)).toMatch(/\(4000 lines in all; start_line \d+, end_line 4000 shows more\)$/);
    expect(resultsOf(ran, 3)[0]?.text).toContain("read it first");
  });

  test("results together take at most a part of it; the longest are cut with a note", async () => {
    const searches = ["one", "line", "text"].map((pattern) => call("grep", { pattern }));
    const ran = await playLoop([calls(...searches), "Done."], { files: { "long.txt": long }, window: 9000 });
    const results = resultsOf(ran, 2);
    expect(results.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(9000);
    for (const { text } of results) expect(text).toContain("more characters do not fit");
  });

  test("what the model has not seen is never summarized, and a notice says what was", async () => {
    const free = { input: 0, cached: 0, output: 0, thought: 0 };
    const read = (start_line: number): Line => ({ ...calling("read", { path: "long.txt", start_line }), usage: free });
    const lines = [read(1), read(901), { text: "The summary.", usage: free }, "Done."];
    const conversation = talkOf(13_000);
    const ran = await playLoop(lines, { files: { "long.txt": long }, window: 12_000, conversation });
    const at = ran.purposes.split(" ").indexOf("compact");
    const after = ran.requests[at + 1]?.messages ?? [];
    expect(after.map(({ role }) => role)).toEqual(["user", "assistant", "tools"]);
    const asked = ran.requests[at]?.messages.at(-1);
    const unseen = after.at(-1)?.role === "tools" ? JSON.stringify(after.at(-1)) : "";
    expect(unseen).toContain("901 one line of text");
    expect(asked?.role === "user" ? asked.text : "").not.toContain("901 one line of text");
    expect(ran.notices("compacted")[0]).toMatch(/^summarized: \d+ messages/);
  });
});
