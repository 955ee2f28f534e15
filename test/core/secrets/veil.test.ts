/** Secrets leave as names and come back as themselves. */
import { expect, test } from "bun:test";
import { createVeil } from "../../../src/core/secrets/veil.ts";

const key = "AIzaSyA1234567890abcdefghijklmnopqrstu";

test("a secret leaves as a name, the same one every time, and comes back as it was", () => {
  const veil = createVeil();
  expect(veil.hide(`KEY=${key}\nagain ${key}`)).toBe("KEY=<<SECRET_1>>\nagain <<SECRET_1>>");
  expect(veil.count).toBe(1);
  expect(veil.reveal("KEY=<<SECRET_1>>")).toBe(`KEY=${key}`);
});

test("a name that was never given out stays what it is", () => {
  expect(createVeil().reveal("<<SECRET_7>>")).toBe("<<SECRET_7>>");
});

test("calls are revealed in every text of their input, keys and numbers untouched", () => {
  const veil = createVeil();
  veil.hide(key);
  expect(veil.revealAll({ path: "a", edits: [{ search: "<<SECRET_1>>", all: true, n: 1 }], none: null })).toEqual({
    path: "a",
    edits: [{ search: key, all: true, n: 1 }],
    none: null,
  });
});

test("text without a secret is the very same text", () => {
  const text = "const a = 1;\n".repeat(50);
  expect(createVeil().hide(text)).toBe(text);
});

test("a name that stands in the text is given to no other secret, and stays what it is", () => {
  const veil = createVeil();
  expect(veil.hide(`<<SECRET_1>> and <<SECRET_3>>`)).toBe("<<SECRET_1>> and <<SECRET_3>>");
  expect(veil.hide(`KEY=${key}`)).toBe("KEY=<<SECRET_2>>");
  expect([veil.count, veil.reveal("<<SECRET_1>> <<SECRET_2>>")]).toEqual([1, `<<SECRET_1>> ${key}`]);
});
