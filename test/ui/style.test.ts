/** What a terminal can show: flag, then environment, then what the stream is (R30-R32). */
import { expect, test } from "bun:test";
import { chooseStyle } from "../../src/ui/style.ts";

const none = { noColor: false, plain: false };
const style = (tty: boolean, env: Record<string, string>, flags = none) =>
  chooseStyle({ tty, env: { TERM: "xterm", ...env }, flags });

test("a terminal has colour and symbols, anything else plain ASCII (R12)", () => {
  expect(style(true, {})).toMatchObject({ color: true, plain: false, glyphs: { ok: "✓" } });
  expect(style(false, {})).toMatchObject({ color: false, plain: true, glyphs: { ok: "ok" } });
});

test("colour follows the flag, then the environment, then the stream (R30)", () => {
  const colors: [boolean, Record<string, string>, typeof none][] = [
    [true, { NO_COLOR: "1" }, none],
    [true, { CLICOLOR: "0" }, none],
    [true, { FORCE_COLOR: "0" }, none],
    [true, { TERM: "dumb" }, none],
    [true, { FORCE_COLOR: "1" }, { noColor: true, plain: false }],
    [true, { FORCE_COLOR: "1", NO_COLOR: "1" }, none],
  ];
  expect(colors.map(([tty, env, flags]) => style(tty, env, flags).color)).toEqual(colors.map(() => false));
  expect(style(true, { NO_COLOR: "" }).color).toBe(true);
  expect(style(false, { FORCE_COLOR: "1" }).color).toBe(true);
  expect(style(false, { CLICOLOR_FORCE: "1" }).color).toBe(true);
  expect([style(true, { CLICOLOR_FORCE: "0" }).color, style(false, { CLICOLOR_FORCE: "0" }).color]).toEqual([
    true,
    false,
  ]);
  expect(style(true, { TERM: "dumb", FORCE_COLOR: "1" })).toMatchObject({ color: true, plain: true });
});

test("--plain and TERM=dumb are plain (R31, R18)", () => {
  expect(style(true, {}, { noColor: false, plain: true })).toMatchObject({ color: false, plain: true });
  expect(style(true, { TERM: "dumb" }).plain).toBe(true);
  expect(style(true, { TERM: "" }).plain).toBe(true);
});

test("a locale that is not UTF-8 gets ASCII symbols and keeps its colours (R32)", () => {
  expect(style(true, { LC_ALL: "C" })).toMatchObject({ color: true, plain: false, glyphs: { ok: "ok" } });
  expect(style(true, { LC_ALL: "POSIX", LANG: "en_US.UTF-8" }).glyphs.ok).toBe("ok");
  expect(style(true, { LC_ALL: "C.UTF-8" }).glyphs.ok).toBe("✓");
  expect(style(true, { LANG: "id_ID.utf8" }).glyphs.ok).toBe("✓");
});
