/** What became of a change in whose file somebody else has written since. */
import { expect, test } from "bun:test";
import type { RelPath } from "../../../src/core/path.ts";
import { howTouched } from "../../../src/flows/changes/meanwhile.ts";
import { measureCpu } from "../../core/cpu-time.ts";

const path = "a.txt" as RelPath;
const before = "1\n2\n3\n4\n5\n";
const theirs = `${before}mine\n`;
const fileOf = (text: string) => ({ kind: "file", mode: 0o644, bytes: Buffer.from(text) }) as const;

test("a large file that somebody else changes, too, holds up no reply, as it is not compared line by line", () => {
  const lines = Array.from({ length: 200_000 }, (_, at) => `${at}\n`);
  const edited = lines.with(10, "ten\n");
  const change = { path, before: fileOf(lines.join("")), after: fileOf(edited.join("")), from: null };
  const both = fileOf(edited.with(199_000, "mine\n").join(""));
  expect(measureCpu(() => howTouched(change, both))).toBeLessThan(200);
  expect(howTouched(change, fileOf(lines.join("")))).toBe("undone");
});

test.each([
  ["above them", "0\na\nb\n2\n", "beside"],
  ["among them", "a\n0\nb\n2\n", "beside"],
  ["in the place of one", "a\n0\n2\n", "within"],
] as const)("a line that somebody puts next to lines of the run, %s", (_, now, how) => {
  for (const before of ["1\n2\n", "2\n"]) {
    const change = { path, before: fileOf(before), after: fileOf("a\nb\n2\n"), from: null };
    expect(howTouched(change, fileOf(now))).toBe(how);
  }
});

test("a line that somebody moves to another place of the file, as a sorter of imports does, is not gone", () => {
  const change = { path, before: fileOf(before), after: fileOf(`x\n${before}`), from: null };
  expect(howTouched(change, fileOf(`${before}x\n`))).toBe("beside");
  expect(howTouched(change, fileOf(theirs))).toBe("undone");
});

test("one of two lines of the run that somebody takes back is a line of the run that they changed", () => {
  const change = { path, before: fileOf(before), after: fileOf("one\n2\n3\n4\nfive\n"), from: null };
  expect(howTouched(change, fileOf("one\n2\n3\n4\n5\n"))).toBe("within");
  expect(howTouched(change, fileOf("one\n2\n3\n4\n5\nmine\n"))).toBe("within");
});

test("a line of a file that the run made is a line of the run", () => {
  const change = { path, before: null, after: fileOf("one\ntwo\n"), from: null };
  for (const now of ["one\n2\n", "x\n"]) expect(howTouched(change, fileOf(now))).toBe("within");
  expect(howTouched(change, fileOf("one\ntwo\n3\n"))).toBe("beside");
  expect(howTouched(change, fileOf(""))).toBe("undone");
});
