/** Of a long text the end, the beginning and the newest lines of errors are kept, each whole. */
import { expect, test } from "bun:test";
import { clipText, openClip, shareOut } from "../../../src/core/command/clip.ts";

const logOf = (count: number, isError: (n: number) => boolean) =>
  Array.from({ length: count }, (_, n) => (isError(n) ? `${n} ERROR disk ${n}` : `${n} all is well`)).join("\n");

test("a text that fits is as it was", () => {
  const text = logOf(50, () => false);
  expect(clipText(text, shareOut(text.length))).toBe(text);
});

test("lines of errors are kept wherever they stand, also where the beginning and the end are cut", () => {
  for (let at = 0; at < 2000; at += 7)
    expect(
      clipText(
        logOf(2000, (n) => n === at),
        shareOut(4000),
      ),
    ).toContain(`\n${at} ERROR disk ${at}\n`.trimStart());
});

test("of a flood of errors the newest are kept, once and in their order", () => {
  const text = clipText(
    logOf(90_000, (n) => n < 80_000),
    shareOut(4000),
  );
  const kept = [...text.matchAll(/ERROR disk (\d+)/g)].map(([, n]) => Number(n)).filter((n) => n > 1000);
  expect(kept.at(-1)).toBe(79_999);
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, n) => 80_000 - kept.length + n));
  expect(text).toContain(`; lines of errors among them, the newest ${kept.length}:]\n`);
  expect(text.length).toBeLessThan(4200);
});

test("the pieces in which a text comes make no difference", () => {
  const bytes = new TextEncoder().encode(logOf(3000, (n) => n % 500 === 3));
  const whole = clipText(new TextDecoder().decode(bytes), shareOut(3000));
  for (const size of [1, 7, 4096]) {
    const clip = openClip(shareOut(3000));
    for (let at = 0; at < bytes.length; at += size) clip.add(bytes.subarray(at, at + size));
    expect([clip.isCut, clip.total, clip.text()]).toEqual([true, bytes.length, whole]);
  }
});

test("of a line without end the part around the word is kept, cut between words", () => {
  const text = clipText(`${"fine words ".repeat(3000)} panic ${"more words ".repeat(3000)}`, shareOut(12_000));
  expect(text).toMatch(/, all 1:\]\n(?:fine|words| )+panic (?:more|words| )+\n\[and the end\]/);
});
