/** What a terminal can show: flag, then environment, then what the stream is (R30-R32). */
import { expect, test } from "bun:test";
import { chooseStyle } from "../../src/ui/style.ts";

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
