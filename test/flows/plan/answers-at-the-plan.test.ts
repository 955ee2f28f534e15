/** Answers in words: to a question about a plan that waits, and with an example in a fence. */
import { describe, expect, test } from "bun:test";
import { finish, modify, plan, talk } from "../plans.ts";
import { type Line, play, type Setup } from "../scripted.ts";

const files = { "area.py": "def area(r):\n    return 3.14 * r * r\n" };
const change = modify("area.py", ["    return 3.14 * r * r\n", "    return 3.1416 * r * r\n"]);
const better = "def area(r):\n    return 3.1416 * r * r\n";
const script = `FILES: area.py\n${change}${finish()}`;
const planned = plan({ steps: ["MODIFY area.py"] });
const byHand = (lines: readonly Line[], setup: Partial<Setup> = {}) =>
  play({ files, lines, ...setup, options: { atOnce: "auto", interactive: true, ...setup.options } });

const words = "They are enough here.";
const forms = [
  ["prose", words],
  ["FINISH", finish(words)],
  ["JSON", talk(words)],
  ["JSON in a fence", `\`\`\`json\n${talk(words)}\n\`\`\`\n`],
] as const;

describe("a question about what waits for a yes is answered on the screen, once,", () => {
  test.each(forms)("as %s", async (_, said) => {
    const answers = [{ feedback: "why four digits?" }, "yes"] as const;
    const work = change + finish();
    const ways = [
      await byHand([script, said], { answers }),
      await byHand([planned, said, work], { answers }),
      await byHand([planned, said, work], { answers, options: { atOnce: "never" } }),
    ];
    for (const { outcome, files: after, eventsOf, questions } of ways) {
      const shown = eventsOf("model.delta").flatMap(({ channel, text }) => (channel === "reply" ? [text] : []));
      expect(shown.join("").split(words)).toHaveLength(2);
      expect([outcome.code, after["area.py"], questions.length]).toEqual([0, better, 2]);
    }
  });

  test("with an example in a fence, too", async () => {
    const said = "Like this:\n\n```python\narea(2)\n```\n";
    const asked = await byHand([script, said], { answers: [{ feedback: "how do I call it?" }, "yes"] });
    expect([asked.outcome.code, asked.requests.length, asked.files["area.py"]]).toEqual([0, 2, better]);
    expect(asked.eventsOf("notice").map(({ code }) => code)).not.toContain("answer_unusable");
  });
});

test.each([
  "show me how to call area in python",
  "and what is pi here",
  "give me an example of a call",
  "please tell me how it works",
])("an example in a fence is an answer to: %s", async (task) => {
  const said = "An example:\n\n```python\narea(2)\n```\n\nThat is all.";
  const { outcome, requests } = await byHand([said], { task });
  expect([outcome.status, requests.length, outcome.text]).toEqual(["answered", 1, said]);
});

test.each(["show me a nicer area", "make it nicer", "and now write a test"])("but none to: %s", async (task) => {
  const said = "Sure:\n\n```python\ndef area(r):\n    return 3 * r * r\n```\n";
  const { eventsOf } = await byHand([said, talk("x")], { task });
  expect(eventsOf("notice").map(({ code }) => code)).toContain("answer_unusable");
});
