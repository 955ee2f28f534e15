/** Text that arrives in pieces is wrapped as if it had come whole. */
import { expect, test } from "bun:test";
import { openWrap, refit, wrap } from "../../src/ui/layout.ts";

function wrapInPieces(text: string, columns: number, size: number): string {
  const stream = openWrap(columns);
  let wrapped = "";
  for (let at = 0; at < text.length; at += size) wrapped += stream.push(text.slice(at, at + size));
  return wrapped + stream.end();
}

test("no line ends in a space or is wider than the terminal, whatever the pieces", () => {
  const text = "The file has two functions, and the second one\n\n- calls  the first\n- prints it, in 資料 too";
  const whole = "The file has two\nfunctions, and the\nsecond one\n\n- calls  the first\n- prints it, in\n資料 too";
  for (let size = 1; size <= text.length; size++) expect(wrapInPieces(text, 18, size)).toBe(whole);
});

test("a path wider than the row is broken after a slash", () => {
  expect(wrap("in /tmp/some-folder/of-a/project there", 16)).toEqual([
    "in /tmp/",
    "some-folder/",
    "of-a/project",
    "there",
  ]);
  const dim = wrap("x  \x1b[2min /tmp/some-folder/of-a/project\x1b[22m", 16).map((line) => Bun.stripANSI(line));
  expect(dim).toEqual(["x  in /tmp/", "some-folder/", "of-a/project"]);
});

test("what was laid out for a wider terminal goes on below its last column", () => {
  const text = "name    what it is for, in words\n  one  two three four\nshort";
  expect(refit(text, 20)).toBe(
    "name    what it is\n        for, in\n        words\n  one  two three\n       four\nshort",
  );
  expect([refit(text, 80), refit(text, null)]).toEqual([text, text]);
  expect(refit(`${"x".repeat(15)}  y and z`, 20)).toBe(`${"x".repeat(15)}  y\nand z`);
});
