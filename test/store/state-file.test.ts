/** Small files of pai's own: what cannot be read is never overwritten. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openMemory } from "../../src/store/memory.ts";
import { setTrust, trustOf } from "../../src/store/trust.ts";
import { makeHome, put } from "./temp-home.ts";

const fact = { text: "tests run with make", run: null, at: "2026-01-01T00:00:00.000Z", pending: false, files: {} };

test.each(["{", "[]", '{"version": 1, "facts": [1]}', '{"version": 2, "facts": []}'])(
  "a damaged memory, or one of another version, is an error, and nothing is written over it: %s",
  (text) => {
    const { places } = makeHome();
    const file = put(join(places.stateDir, "memory.json"), text);
    const memory = openMemory(places.stateDir);
    for (const use of [() => memory.list(), () => memory.add([fact])])
      expect(use).toThrow(`${file} is damaged, or of another version of pai`);
    expect(readFileSync(file, "utf8")).toBe(text);
  },
);

test("a damaged list of trusted folders trusts none, and a new yes does not replace it", () => {
  const { places, root } = makeHome();
  const file = put(join(places.stateDir, "trust.json"), '{"version": 99, "roots": {}}');
  expect(trustOf(places, "roots", root, "0")).toBe("damaged");
  expect(() => setTrust(places, "roots", root, "0")).toThrow(`${file} is damaged`);
  expect(readFileSync(file, "utf8")).toContain("99");
});
