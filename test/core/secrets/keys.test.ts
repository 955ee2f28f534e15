/** Keys that pai learns are taken out of texts in every spelling. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createVeil } from "../../../src/core/secrets/veil.ts";

const hider = (...known: readonly string[]) => createVeil({ part: "k3f9", known }).cover;

test("property: a key that pai holds is gone in every spelling", () => {
  const key = fc.string({ minLength: 16, maxLength: 60, unit: "grapheme-ascii" });
  const around = fc.string({ maxLength: 20 });
  fc.assert(
    fc.property(key, around, around, (secret, before, after) => {
      fc.pre(new Set(secret).size > 6 && !/^[a-z]{1,15}$/i.test(secret));
      const whole = before + secret + after;
      const bytes = Buffer.from(whole);
      const texts = [whole, encodeURIComponent(whole), JSON.stringify(whole), JSON.stringify(JSON.stringify(whole))];
      texts.push(bytes.toString("hex"), bytes.toString("hex").toUpperCase());
      for (const text of texts) {
        expect(hider(secret)(text)).not.toContain(secret);
        expect(hider(secret)(text)).toContain("<<SECRET_k3f9_");
      }
      for (const encoding of ["base64", "base64url"] as const) {
        expect(hider(secret)(bytes.toString(encoding))).toContain("<<SECRET_k3f9_");
      }
    }),
  );
});

test("each way to write a key in an address is hidden, and the text that an encoded one stands for", () => {
  const hide = hider("Zx9k!Q2m (R7t)*'Lp4");
  const url = "Zx9k!Q2m%20(R7t)*'Lp4";
  const strict = "Zx9k%21Q2m%20%28R7t%29%2A%27Lp4";
  for (const each of [url, strict, strict.replace(/%../g, (code) => code.toLowerCase()), strict.replace("%20", "+")])
    expect(hide(`a=${each}&b`)).toMatch(/^a=<<SECRET_k3f9_\d>>&b$/);
  expect(hider("Zx9k%40Q2mR7tLp4Vw")("as Zx9k@Q2mR7tLp4Vw")).toBe("as <<SECRET_k3f9_1>>");
  expect(hider("Zx9k%zzQ2mR7%ffLp4")("as Zx9k%zzQ2mR7%ffLp4")).toBe("as <<SECRET_k3f9_1>>");
});

test("a word that a local server takes as its key is left in texts, and so is a short one", () => {
  expect(hider("password", "", "short")("type the short password")).toBe("type the short password");
  expect(hider("passwords-77")("type passwords-77")).toBe("type <<SECRET_k3f9_1>>");
});

test("a key that is learned during a run is hidden from then on", () => {
  const veil = createVeil({ part: "k3f9", known: ["my-secret-value-123"] });
  const said = "my-secret-value-123 and later-token-value-456";
  expect(veil.cover({ said })).toEqual({ said: "<<SECRET_k3f9_1>> and later-token-value-456" });
  veil.learn("later-token-value-456");
  expect(veil.hide(said)).toBe("<<SECRET_k3f9_1>> and <<SECRET_k3f9_2>>");
  expect(veil.pending("it is later-to")).toBe(8);
});

test("a resumed session goes on with its names, and gives none of them to another secret", () => {
  const veil = createVeil({ known: ["my-secret-value-123"] });
  veil.resume(["used <<SECRET_k3f9_1>> and <<SECRET_k3f9_4>>"]);
  expect(veil.hide("my-secret-value-123")).toBe("<<SECRET_k3f9_5>>");
  expect(veil.namesIn("<<SECRET_k3f9_4>>")).toEqual(["<<SECRET_k3f9_4>>"]);
  const begun = createVeil({ known: ["my-secret-value-123"] });
  begun.cover("my-secret-value-123");
  begun.resume(["used <<SECRET_k3f9_1>>"]);
  expect(begun.cover("my-secret-value-123")).toBe(`<<SECRET_${begun.part}_1>>`);
  expect(begun.reveal("<<SECRET_k3f9_1>>", () => true).kept).toEqual(["<<SECRET_k3f9_1>>"]);
});
