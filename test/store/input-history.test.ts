/** What was typed is there in the next session, bounded, private, without secrets. */
import { expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openInputHistory } from "../../src/store/input-history.ts";
import { newFolder } from "../grounds.ts";

const folder = newFolder("disk", "input");
let next = 0;
const place = () => join(folder, `${next++}`, "input.jsonl");

test("the next session knows the messages, several lines as one, in a file of the owner only (R19)", () => {
  const file = place();
  const history = openInputHistory(file);
  for (const text of ["one", "two\nlines", "two\nlines"]) expect(history.add(text)).toBe(true);
  expect(openInputHistory(file).entries).toEqual(["one", "two\nlines"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("two sessions at once lose nothing", () => {
  const file = place();
  const [one, other] = [openInputHistory(file), openInputHistory(file)];
  one.add("a");
  other.add("b");
  expect(openInputHistory(file).entries).toEqual(["a", "b"]);
});

test("keys are kept masked, what is very long is known in this session only", () => {
  const file = place();
  const history = openInputHistory(file);
  history.add("use AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6");
  history.add("a password=Quok5kaaaa1 b");
  history.add('my password is "Okapi7&lemur x", ok?');
  const long = "x".repeat(10_000);
  expect([history.add(long), history.add(long)]).toEqual([false, false]);
  expect(history.entries.slice(3)).toEqual([long]);
  const [first, ...others] = openInputHistory(file).entries;
  expect(others).toEqual(["a password=[masked] b", 'my password is "Okap…[masked]", ok?']);
  expect(first).not.toContain("D4E5f6G7h8I9j0");
});

test("it is bounded, and a damaged or missing file is an empty history", () => {
  const file = place();
  const many = openInputHistory(file);
  many.add("first");
  writeFileSync(file, Array.from({ length: 1500 }, (_, at) => `"${at}"\n`).join(""));
  expect(openInputHistory(file).entries).toHaveLength(1000);
  writeFileSync(file, "no json\n");
  expect(openInputHistory(file).entries).toEqual([]);
  const none = openInputHistory(null);
  expect(none.add("kept in memory")).toBe(false);
  expect(none.entries).toEqual(["kept in memory"]);
  writeFileSync(join(folder, "a-file"), "");
  expect(openInputHistory(join(folder, "a-file", "input.jsonl")).add("nowhere")).toBe(false);
});
