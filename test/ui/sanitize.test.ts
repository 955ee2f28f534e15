/** Hostile text on its way to the terminal. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { openVisible, visible, visibleBut, visibleLine } from "../../src/ui/sanitize.ts";

const hostile: readonly (readonly [name: string, text: string, shown: string])[] = [
  ["CSI", "a\x1b[31mb", "a\\x1b[31mb"],
  ["OSC 52, which writes the clipboard", "\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07"],
  ["a one-byte CSI and OSC (C1)", "\u009b2J\u009d0;t\u009c", "\\x9b2J\\x9d0;t\\x9c"],
  ["CR and backspace", "rm -rf /\r\bls", "rm -rf /\\x0d\\x08ls"],
  ["bidi", "a\u202eb\u2066c\u200f", "a\\u202eb\\u2066c\\u200f"],
  ["zero width", "a\u200bb\u2060c\ufeff", "a\\u200bb\\u2060c\\ufeff"],
  ["tag characters", "a\u{e0041}", "a\\u{e0041}"],
  ["fillers and line separators", "\u3164\u2028", "\\u3164\\u2028"],
  ["half a character", "a\ud83d", "a\\ud83d"],
];

for (const [name, text, shown] of hostile) {
  test(`makes ${name} visible (R34)`, () => expect(visible(text)).toBe(shown));

  test(`makes ${name} visible when it is cut anywhere`, () => {
    for (let cut = 0; cut <= text.length; cut++) {
      const next = openVisible();
      const pieces = next(text.slice(0, cut)) + next(text.slice(cut)) + next(".");
      expect(pieces).toBe(`${shown}.`);
    }
  });
}

test("leaves text, tabs, line feeds and emoji as they are", () => {
  const text = "Halo, dunia\n\tкириллица 你好 é ✓ ❤️ 👨‍👩‍👧 👋🏽";
  expect(visible(text)).toBe(text);
  const next = openVisible();
  expect([...text].map((character) => next(character)).join("")).toBe(text);
});

test("one line stays one line", () => expect(visibleLine("a\nb\tc")).toBe("a\\nb\\tc"));

test("property: of all that acts on a terminal only our own codes are let through", () => {
  const own = new Set(["\x1b[31m", "\x1b[0m", "\x1b[1;2m"]);
  const codes = [...own, "\x1b[32m", "\x1b[m", "\x1b[31", "\x1b", "[0m", "\x1b[31mm"];
  const hidden = ["\u200b", "\u202e", "\ud83d", "\ude00", "\ufe0f", "\u200d", "👨", "│", "é", "plain", "\n", "\r"];
  const pieces = fc.array(fc.constantFrom(...codes, ...hidden), { maxLength: 12 });
  fc.assert(
    fc.property(pieces, (parts) => {
      const text = parts.join("");
      const kept = text.split(/(\x1b\[(?:31|0|1;2)m)/);
      expect(visibleBut(own, text)).toBe(kept.map((part, at) => (at % 2 === 1 ? part : visible(part))).join(""));
    }),
    { numRuns: 3000 },
  );
});
