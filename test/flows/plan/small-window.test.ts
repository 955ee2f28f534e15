/** A model that holds little is shown less, visibly cut, and never sent what cannot fit. */
import { describe, expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import { finish, plan, write } from "../plans.ts";
import { play } from "../scripted.ts";

const lines = [plan({ steps: ["WRITE a.txt"] }), write("a.txt", "one\n") + finish()];
const many = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`src/part${n % 9}/module${n}.py`, "x = 1\n"]));
const files = { ...many, "AGENTS.md": "rule\n".repeat(4000), "invoice.py": "def total(): pass\n".repeat(900) };
const task = "round the invoice total";

describe("the briefing", () => {
  test.each([4096, 8192, 16_384, 32_768])("fits a window of %d tokens, with room for the reply", async (window) => {
    const { asked } = await play({ files, lines, task, window });
    expect(asked(1).length).toBeLessThan(window * 0.75 * 3);
    expect(asked(1)).toContain(`Request: ${task}`);
    expect(asked(1)).toContain("more characters not shown]");
  });

  test("is whole for a model that holds much", async () => {
    const { asked } = await play({ files: { "AGENTS.md": "rule\n".repeat(1500) }, lines, task });
    expect(asked(1)).not.toContain("not shown");
  });

  test("keeps half of the room for what the person gave along", async () => {
    const context = Array.from({ length: 9000 }, (_, n) => (n === 4000 ? "ERROR 4000" : `log ${n}`)).join("\n");
    const ran = await play({ files, lines, task, window: 8192, context });
    for (const n of [1, 2]) {
      expect(ran.told(n).length).toBeLessThan(8192 * 0.75 * 3);
      expect(ran.told(n)).toMatch(/<context>\nlog 0\nlog 1\n[\s\S]*:\]\nERROR 4000\n[\s\S]*\nlog 8999\n<\/context>/);
    }
    const told = "standard input: the model is shown 6 of 78 KB: its end, its beginning, and lines of errors";
    expect(ran.eventsOf("notice").map(({ text }) => text)).toContain(told);
  });

  test("a reply is never asked longer than what is left of the window", async () => {
    const uncounted = lines.map((text) => ({ text, usage: { input: 0, cached: 0, output: 0, thought: 0 } }));
    const { requests } = await play({ files, lines: uncounted, task, window: 4096 });
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
    const ran = await play({ files, lines: [refused, ...lines], task });
    expect([ran.outcome.code, ran.purposes, ran.outcome.calls.made]).toEqual([0, "plan plan execute", 2]);
    expect(ran.asked(2).length).toBeLessThan(ran.asked(1).length / 3);
    expect(ran.asked(2)).toContain(`Request: ${task}`);
    expect(ran.eventsOf("notice").map(({ code }) => code)).toContain("briefing_too_long");
    const again = await play({ files, lines: [refused, refused], task });
    expect([again.outcome.code, again.purposes]).toEqual([7, "plan plan"]);
  });
});
