/** What the first request shows of a project: chosen files, mentioned ones, and as much as the window holds. */
import { describe, expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import type { Message } from "../../../src/core/model.ts";
import { type Preview, preview } from "../../../src/flows/preview.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { finish, modify, planTo, write } from "../plans.ts";
import { play, type Setup } from "../scripted.ts";

const create = [planTo("WRITE a.txt"), write("a.txt", "one\n") + finish()];

describe("the execution call", () => {
  test("sees a file that is to be moved, and may change it where the plan changes it under either name", async () => {
    for (const changed of ["old.py", "new.py"]) {
      const script = `MV::old.py::new.py\n${modify("new.py", ["a = 1\n", "a = 2\n"])}${finish()}`;
      const { told, files, outcome } = await play({
        files: { "old.py": "a = 1\n" },
        lines: [planTo("MV old.py -> new.py", `MODIFY ${changed}`), script],
      });
      expect(told(2)).toContain('<file path="old.py">\na = 1\n</file>');
      expect([files, outcome.code]).toEqual([{ "new.py": "a = 2\n" }, 0]);
    }
  });

  test("is told when the commands of the plan will not run", async () => {
    const lines = [planTo("WRITE a.txt", "RUN cat a.txt"), `${write("a.txt", "one\n")}RUN::cat a.txt\n${finish()}`];
    const told = "Commands are not run this time";
    expect((await play({ lines })).asked(2)).toContain(told);
    expect((await play({ lines, options: { allowRun: true } })).asked(2)).not.toContain(told);
  });

  test("is not asked again for a FINISH it forgot when everything promised is done", async () => {
    const { outcome, purposes } = await play({ lines: [create[0] ?? "", write("a.txt", "one\n")] });
    expect([purposes, outcome.code]).toEqual(["plan execute", 0]);
  });
});

test("what a check leaves behind is reported, with the check", async () => {
  const check = "mkdir -p __pycache__ dist && echo 1 | tee __pycache__/a.pyc > dist/a";
  const ran = await play({ files: { ".gitignore": "dist/\n" }, lines: create, options: { checks: [check] } });
  const told = ran.notices().filter((text) => text.includes("no undo"));
  // A tool's cache is not worth a line.
  expect(told).toContain(`${check}: dist is ignored: no undo takes its change back`);
  expect(told.join()).not.toContain("__pycache__ is");
});

const files = { ".gitignore": "out/\n", "out/log.txt": `${"line\n".repeat(4000)}the end\n`, "a.txt": "a\n" };

test("the plan call is shown an ignored file whole, once, and the receipt knows it", async () => {
  const ran = await play({ files, mentioned: ["out/log.txt"], lines: [planTo("READ a.txt"), finish("Read.")] });
  expect(ran.asked(1).split("the end").length).toBe(2);
  expect(ran.eventsOf("context.sent")[0]?.files.map(({ path }) => String(path))).toContain("out/log.txt");
});

test("a turn of the tool-loop is shown it before the request", async () => {
  const ran = await play({ files, mentioned: ["a.txt"], task: "explain", flow: toolLoop, lines: ["It is an a."] });
  expect(ran.asked(1)).toMatch(/a\.txt[\s\S]*explain$/);
});

/** Paths of the first hits for "total", in the task of rounding an invoice. */
async function pathsFound(others: Readonly<Record<string, string>>): Promise<(string | undefined)[]> {
  const files = { ...others, "shop/invoice.py": `def round_invoice(total):\n    return total\n` };
  const lines = [planTo("SEARCH total", "WRITE new.txt"), write("new.txt", "x\n") + finish()];
  const { asked } = await play({ files, lines, task: "round the invoice" });
  const [, shown = ""] = /<result action="SEARCH total"[^>]*>\n([\s\S]*?)<\/result>/.exec(asked(2)) ?? [];
  return shown
    .split("\n")
    .slice(0, 3)
    .map((line) => line.split(":")[0]);
}

const inOrder = ["shop/invoice.py", "shop/invoice.py", "a/part0.py"];

test("what is not text ends the run before any call", async () => {
  const ran = await play({ files: { "b.bin": "a\0b" }, mentioned: ["b.bin"], lines: [] });
  expect([ran.outcome.error?.code, ran.requests.length]).toEqual(["file_unusable", 0]);
});

test("hits in likely files come before those in other files, also where not all can be shown", async () => {
  const others = Array.from({ length: 400 }, (_, n) => [`a/part${n}.py`, "total = 0\n"] as const);
  expect(await pathsFound(Object.fromEntries(others))).toEqual(inOrder);
});

test("so do those of a project that is shown whole", async () => {
  expect(await pathsFound({ "a/part0.py": "total = 0\n", "a/part1.py": "total = 0\n" })).toEqual(inOrder);
});

const call = { id: "1", name: "read", input: { path: "a.txt" } };
const messages: readonly Message[] = [
  { role: "user", text: "read a.txt" },
  { role: "assistant", text: "I look.", calls: [call], native: null },
  { role: "tools", results: [{ id: "1", name: "read", ok: true, text: "1 a word\n".repeat(500) }] },
  { role: "assistant", text: "It says a word.", calls: [], native: null },
];

test("tool-loop: the conversation, output that goes along and files behind @ are counted", async () => {
  const setup: Omit<Setup, "lines" | "flow"> = {
    files: { "a.txt": "a word\n".repeat(500), "b.txt": "b\n".repeat(900), "AGENTS.md": "# Rules\n" },
    task: "go on",
    context: "$ make\nit is made\n(exit 0)",
    mentioned: ["b.txt"],
    conversation: { messages, tasks: [] },
    options: { mode: "tool-loop" },
  };
  const seen: Preview[] = [];
  await play({ ...setup, lines: [], flow: async (run) => void seen.push(await preview(run)) });
  const sent = await play({ ...setup, lines: ["Done."], flow: toolLoop });
  expect(seen[0]?.parts.map(({ kind, path }): string => path ?? kind)).toEqual([
    "instructions",
    "AGENTS.md",
    "conversation",
    "context",
    "b.txt",
    "request",
  ]);
  const estimate = sent.eventsOf("model.started")[0]?.estimate ?? 0;
  expect(Math.abs((seen[0]?.tokens ?? 0) - estimate)).toBeLessThan(estimate / 20);
});

const many = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`src/part${n % 9}/module${n}.py`, "x = 1\n"]));
const large = { ...many, "AGENTS.md": "rule\n".repeat(4000), "invoice.py": "def total(): pass\n".repeat(900) };
const task = "round the invoice total";

describe("the briefing", () => {
  test.each([4096, 8192, 16_384, 32_768])("fits a window of %d tokens, with room for the reply", async (window) => {
    const { asked } = await play({ files: large, lines: create, task, window });
    expect(asked(1).length).toBeLessThan(window * 0.75 * 3);
    expect(asked(1)).toContain(`Request: ${task}`);
    expect(asked(1)).toContain("more characters not shown]");
  });

  test("is whole for a model that holds much", async () => {
    const { asked } = await play({ files: { "AGENTS.md": "rule\n".repeat(1500) }, lines: create, task });
    expect(asked(1)).not.toContain("not shown");
  });

  test("keeps half of the room for what the person gave along", async () => {
    const context = Array.from({ length: 9000 }, (_, n) => (n === 4000 ? "ERROR 4000" : `log ${n}`)).join("\n");
    const ran = await play({ files: large, lines: create, task, window: 8192, context });
    for (const n of [1, 2]) {
      expect(ran.told(n).length).toBeLessThan(8192 * 0.75 * 3);
      expect(ran.told(n)).toMatch(/<context>\nlog 0\nlog 1\n[\s\S]*:\]\nERROR 4000\n[\s\S]*\nlog 8999\n<\/context>/);
    }
    const told = "standard input: the model is shown 6 of 78 KB: its end, its beginning, and lines of errors";
    expect(ran.notices()).toContain(told);
  });

  test("a reply is never asked longer than what is left of the window", async () => {
    const uncounted = create.map((text) => ({ text, usage: { input: 0, cached: 0, output: 0, thought: 0 } }));
    const { requests } = await play({ files: large, lines: uncounted, task, window: 4096 });
    expect(requests.length).toBe(2);
    for (const { maxOutputTokens, messages, system, format } of requests) {
      const said = messages.map((message) => ("text" in message ? message.text.length : 0));
      const sent = said.reduce((sum, each) => sum + each, system.length + JSON.stringify(format?.schema ?? "").length);
      expect(maxOutputTokens + sent / 4).toBeLessThan(4097);
    }
  });

  test("is asked once more with a quarter of it where the provider finds it too long", async () => {
    const said =
      "gemini rejected the request (HTTP 400): The input token count (9) exceeds the maximum number of tokens";
    const refused = { text: "", fail: new PaiError("request_too_long", said) };
    const ran = await play({ files: large, lines: [refused, ...create], task });
    expect([ran.outcome.code, ran.purposes, ran.outcome.calls.made]).toEqual([0, "plan plan execute", 2]);
    expect(ran.asked(2).length).toBeLessThan(ran.asked(1).length / 3);
    expect(ran.asked(2)).toContain(`Request: ${task}`);
    expect(ran.eventsOf("notice").map(({ code }) => code)).toContain("briefing_too_long");
    const again = await play({ files: large, lines: [refused, refused], task });
    expect([again.outcome.code, again.purposes]).toEqual([7, "plan plan"]);
  });
});
