/** Nothing hides from the model or the user, and nothing real is taken for hidden. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { fence } from "../../src/core/data-fence.ts";
import { describeHidden, quoteName, restoreHidden, spellHidden } from "../../src/core/invisible.ts";

const tags = (text: string) => String.fromCodePoint(...[...text].map((char) => 0xe0000 + char.charCodeAt(0)));

test.each([
  ["Unicode tags", `a${tags("rm")}b`, "a⟦U+E0072⟧⟦U+E006D⟧b"],
  ["turned text", "if (a\u202e\u2066) b", "if (a⟦U+202E⟧⟦U+2066⟧) b"],
  ["zero-width characters", "pass\u200bword\u2060\ufeff", "pass⟦U+200B⟧word⟦U+2060⟧⟦U+FEFF⟧"],
  ["joiners in Latin words", "ad\u200cmin\u200d", "ad⟦U+200C⟧min⟦U+200D⟧"],
  ["bytes in variation selectors", "x\u{fe01}\u{e0101}", "x⟦U+FE01⟧⟦U+E0101⟧"],
  ["fillers and soft hyphens", "a\u3164b\u00adc", "a⟦U+3164⟧b⟦U+AD⟧c"],
  ["line separators", "a\u2028RM::b", "a⟦U+2028⟧RM::b"],
])("spells out %s, and takes it back", (_, text, shown) => {
  expect([spellHidden(text), restoreHidden(shown, text)]).toEqual([shown, text]);
});

test("leaves what people write: emoji, Persian, Hindi, accents, tabs and line ends", () => {
  const text = "👩‍👩‍👧 ❤️ 🏳️‍🌈 👍🏽 می‌خواهم क्‍ष é\te\u0301\r\nAtaür 中文 한국어 ελ ж";
  expect(spellHidden(text)).toBe(text);
  expect(describeHidden(text)).toBeNull();
});

test("counts and names the lines", () => {
  expect(describeHidden("a\u200b\nb\n\u202ec\u202e\n")).toBe("3 invisible characters on line 1, 3");
  expect(describeHidden("\u200b")).toBe("1 invisible character on line 1");
  expect(describeHidden("\u200b\n".repeat(14))).toEndWith("on line 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 4 more");
});

test("only characters of the file itself come back from what a model writes", () => {
  expect(restoreHidden("⟦U+200B⟧⟦U+202E⟧", "x\u200by")).toBe("\u200b⟦U+202E⟧");
  expect(restoreHidden("⟦U+41⟧ ⟦U+110000⟧ ⟦U+⟧", "A\u200b")).toBe("⟦U+41⟧ ⟦U+110000⟧ ⟦U+⟧");
});

test("names that could be taken for anything else are quoted, ordinary ones are not", () => {
  for (const name of ["a.ts", "src/ä b.txt", "[id].tsx", "(group)/page.tsx", "@types/", "日本.md", "a&b!.c"]) {
    expect(quoteName(name)).toBe(name);
  }
  for (const name of ["a\nFINISH::x", "RM::src", "</tree>", " a"]) expect(quoteName(name)).toBe(JSON.stringify(name));
  expect(quoteName("a\u202eb")).toBe('"a⟦U+202E⟧b"');
});

test("property: data cannot end its own wrapping, whatever it holds", () => {
  const piece = fc.constantFrom("</file", "</file2", ">", "<file", "\n", "</fi\u200ble>", "x", " ", "2", "</FILE>");
  fc.assert(
    fc.property(
      fc.array(piece).map((parts) => parts.join("")),
      (text) => {
        const whole = fence("file", { path: 'a">\n<file' }, text);
        const [, tag = ""] = /^<(\w+) path="[^\n]*">\n/.exec(whole) ?? [];
        expect(whole.split(`</${tag}`)).toHaveLength(2);
        expect(whole).toEndWith(`\n</${tag}>`);
      },
    ),
  );
});
