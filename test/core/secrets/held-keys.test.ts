/** Keys that pai holds are taken out of values of any shape, in every spelling. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { coverAll, maskHeld } from "../../../src/core/secrets/held-keys.ts";
import { createVeil } from "../../../src/core/secrets/veil.ts";

test("property: a key we hold is gone in every spelling", () => {
  const key = fc.string({ minLength: 16, maxLength: 60, unit: "grapheme-ascii" });
  const around = fc.string({ maxLength: 20 });
  fc.assert(
    fc.property(key, around, around, (secret, before, after) => {
      fc.pre(new Set(secret).size > 6);
      const whole = before + secret + after;
      const bytes = Buffer.from(whole);
      const texts = [whole, encodeURIComponent(whole), JSON.stringify(whole), JSON.stringify(JSON.stringify(whole))];
      texts.push(bytes.toString("hex"), bytes.toString("hex").toUpperCase());
      for (const text of texts) {
        const masked = maskHeld([secret])(text);
        expect(masked).not.toContain(secret);
        expect(masked).toContain("[masked]");
      }
      for (const encoding of ["base64", "base64url"] as const) {
        expect(maskHeld([secret])(bytes.toString(encoding))).toContain("[masked]");
      }
    }),
  );
});

test("each way to write a key in an address is masked, and the text that an encoded one stands for", () => {
  const { text } = maskHeld(["Zx9k!Q2m (R7t)*'Lp4"]);
  const url = "Zx9k!Q2m%20(R7t)*'Lp4";
  const strict = "Zx9k%21Q2m%20%28R7t%29%2A%27Lp4";
  for (const each of [url, strict, strict.replace(/%../g, (code) => code.toLowerCase()), strict.replace("%20", "+")])
    expect(text(`a=${each}&b`)).toBe("a=Zx9k…[masked]&b");
  expect(maskHeld(["Zx9k%40Q2mR7tLp4Vw"]).text("as Zx9k@Q2mR7tLp4Vw")).toBe("as Zx9k…[masked]");
  expect(maskHeld(["Zx9k%zzQ2mR7%ffLp4"]).text("as Zx9k%zzQ2mR7%ffLp4")).toBe("as Zx9k…[masked]");
});

test("keeps the rest of the text around a known key, and shows at most four characters of it", () => {
  expect(maskHeld(["my-secret-value-123", "", "short"])("a my-secret-value-123 b")).toBe("a my-s…[masked] b");
  expect(maskHeld(["12345678", "short"])("a 12345678 short")).toBe("a [masked] short");
  expect(maskHeld(["my-secret-value-123"])("nothing here")).toBe("nothing here");
});

test("a word that a local server takes as its key is left in texts", () => {
  expect(maskHeld(["password"])("type the password")).toBe("type the password");
  expect(maskHeld(["passwords-77"])("type passwords-77")).toBe("type [masked]");
});

test("masks every text of a value, and nothing else of it", () => {
  const key = "my-secret-value-123";
  const value = { a: [`x ${key}`, 1, null, true], b: { c: btoa(`?${key}?`) } };
  expect(maskHeld([key])(value)).toEqual({
    a: ["x my-s…[masked]", 1, null, true],
    b: { c: expect.stringMatching(/^P.my-s…\[masked\]/) },
  });
  expect(maskHeld([])(value)).toBe(value);
});

test("property: what leaves a run is masked first and covered then, whether or not the veil knows the keys", () => {
  const part = fc.constantFrom("my-secret-", "value-123", "my-secret-value-123", "veiled-value-77", " ", "x");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.boolean(), (parts, isKnown) => {
      const keys = maskHeld(["my-secret-value-123"]);
      const veil = createVeil({ part: "abcd", known: ["veiled-value-77", ...(isKnown ? keys.keys : [])] });
      const text = parts.join("");
      expect(coverAll(keys, veil)(text)).toBe(veil.coverText(keys.text(text)));
    }),
  );
});

test("a key that is printed during a run is masked and veiled from then on", () => {
  const keys = maskHeld(["my-secret-value-123"]);
  const veil = createVeil({ part: "abcd", known: keys.keys });
  const cover = coverAll(keys, veil);
  const said = "my-secret-value-123 and later-token-value-456";
  expect(cover(said)).toBe("my-s…[masked] and later-token-value-456");
  keys.onHeld(veil.know);
  keys.hold("later-token-value-456");
  expect(veil.hide("later-token-value-456")).toMatch(/^<<SECRET_abcd_\d>>$/);
  expect(keys.text(said)).toBe("my-s…[masked] and late…[masked]");
  expect(cover(said)).toBe("my-s…[masked] and late…[masked]");
});
