/** An error in words, as wide as the terminal. */
import { expect, test } from "bun:test";
import { PaiError } from "../../src/core/error.ts";
import { createLog, type LogOptions, renderError } from "../../src/ui/log.ts";

const error = new PaiError("no_key", "there is no key for gemini", {
  hint: "set GEMINI_API_KEY, store one with: pai key set, or see how pai works without one: pai demo",
});

test("at a terminal it is wrapped at words, what to do below what happened", () => {
  expect(renderError(error, 40)).toBe(
    [
      "pai: there is no key for gemini",
      "  set GEMINI_API_KEY, store one with:",
      "  pai key set, or see how pai works",
      "  without one: pai demo",
      "",
    ].join("\n"),
  );
});

test("elsewhere it is two lines", () => {
  expect(renderError(error, null).split("\n")).toHaveLength(3);
});

test("what others wrote into it acts on no terminal and shows no key (R34, R46)", () => {
  const key = `sk-${"0123456789abcdefghij".repeat(2)}`;
  const shown = renderError(new PaiError("network", `no \x1b[2Jhost\r ${key}`, { hint: "\x9b1m\u202ego on" }), null);
  expect(shown).toStartWith("pai: no \\x1b[2Jhost\\x0d ");
  expect(shown).toEndWith("\n  \\x9b1m\\u202ego on\n");
  expect(shown).not.toContain(key);
});

test.each([
  ["quiet", "pai: no\n"],
  ["usual", "a note\nwarning: look out\npai: no\n"],
] as const)("one call tells people, as loud as the log is, and programs: %s", (level: LogOptions["level"], shown) => {
  let text = "";
  const recorded: unknown[] = [];
  const err = (more: string) => {
    text += more;
  };
  const log = createLog({ err, level, columns: () => null, record: (notice) => recorded.push(notice) });
  log.notify({ level: "info", code: "note", text: "a note" });
  log.notify({ level: "warning", code: "look", text: "look out" });
  log.fail(new PaiError("usage", "no"));
  expect(text).toBe(shown);
  expect(recorded).toEqual([
    { level: "info", code: "note", text: "a note" },
    { level: "warning", code: "look", text: "look out" },
  ]);
});
