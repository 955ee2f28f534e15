/** How text is laid out: columns, amounts, the order of names, and the style that a terminal gets. */
import { expect, test } from "bun:test";
import { counted, grouped, priced, renderDuration } from "../../src/ui/amount.ts";
import { listNaturally } from "../../src/ui/diff/render-diff.ts";
import { openWrap, refit, wrap } from "../../src/ui/layout.ts";
import { chooseStyle } from "../../src/ui/style.ts";

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

test("thousands are grouped in every number, whatever its length", () => {
  expect([0, 999, 1000, 12_345, 1_234_567].map(grouped)).toEqual(["0", "999", "1,000", "12,345", "1,234,567"]);
  expect([counted(1, "call"), counted(2000, "call")]).toEqual(["1 call", "2,000 calls"]);
});

test("times and prices keep the digits that matter; an unknown price is not zero", () => {
  expect([400, 12_000, 125_000].map(renderDuration)).toEqual(["0.4 s", "12 s", "2 min 5 s"]);
  expect([null, 0, 0.0012, 1.5].map(priced)).toEqual(["price unknown", "$0.00", "$0.0012", "$1.50"]);
  expect(priced(0.000036)).toBe("$0.000036");
});

test("numbers in names count by their value", () => {
  const names = ["a10.py", "a2.py", "a1.py", "b", "a", "10", "9"];
  const listed = listNaturally(names, (path) => ({ path, isNewFolder: false }));
  expect(listed).toEqual(["9", "10", "a", "a1.py", "a2.py", "a10.py", "b"]);
});

test("a new folder is shown by the file in it, an empty one by itself", () => {
  const paths = ["src", "src/deep", "src/deep/f10", "src/deep/f9", "empty"];
  const listed = listNaturally(paths, (path) => ({ path, isNewFolder: !/f\d/.test(path) }));
  expect(listed).toEqual(["empty", "src/deep/f9", "src/deep/f10"]);
});

const style = (tty: boolean, env: Record<string, string>, plain = false) =>
  chooseStyle({ tty, env: { TERM: "xterm", ...env }, plain });

test("a terminal has colour and symbols, anything else plain ASCII (R12)", () => {
  expect(style(true, {})).toMatchObject({ color: true, plain: false, glyphs: { ok: "✓" } });
  expect(style(false, {})).toMatchObject({ color: false, plain: true, glyphs: { ok: "ok" } });
});

test("colour follows the flag, then the environment, then the stream (R30)", () => {
  const colorless = [
    style(true, { NO_COLOR: "1" }),
    style(true, { FORCE_COLOR: "0" }),
    style(true, { TERM: "dumb" }),
    style(true, { FORCE_COLOR: "1" }, true),
    style(true, { FORCE_COLOR: "1", NO_COLOR: "1" }),
  ];
  expect(colorless.map(({ color }) => color)).toEqual(colorless.map(() => false));
  expect(style(true, { NO_COLOR: "" }).color).toBe(true);
  expect(style(false, { FORCE_COLOR: "1" }).color).toBe(true);
  expect(style(true, { TERM: "dumb", FORCE_COLOR: "1" })).toMatchObject({ color: true, plain: true });
});

test("--plain and TERM=dumb are plain (R31, R18)", () => {
  expect(style(true, {}, true)).toMatchObject({ color: false, plain: true });
  expect(style(true, { TERM: "dumb" }).plain).toBe(true);
  expect(style(true, { TERM: "" }).plain).toBe(true);
});

test("a locale that is not UTF-8 gets ASCII symbols and keeps its colours (R32)", () => {
  expect(style(true, { LC_ALL: "C" })).toMatchObject({ color: true, plain: false, glyphs: { ok: "ok" } });
  expect(style(true, { LC_ALL: "POSIX", LANG: "en_US.UTF-8" }).glyphs.ok).toBe("ok");
  expect(style(true, { LC_ALL: "C.UTF-8" }).glyphs.ok).toBe("✓");
  expect(style(true, { LANG: "id_ID.utf8" }).glyphs.ok).toBe("✓");
});
