/** The line that is redrawn: what it says, when it is drawn, and that nothing of it stays. */
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { createSpinner, renderCountdown, renderElapsed, type SpinnerOptions } from "../../../src/ui/run/spinner.ts";
import { styleOf } from "../fixture.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const { glyphs } = styleOf(true);
const ascii = { ...glyphs, dot: "-", more: "..." };

const wait = { why: "gemini is not available (HTTP 503)", seconds: 12, attempt: 2, of: 5 };

const openSpinner = (options: Partial<SpinnerOptions>) =>
  createSpinner({
    ...{ live: true, style: styleOf(true), columns: () => 80, now: () => 0, note: "" },
    ...{ redraw: () => {}, say: () => {}, ...options },
  });

test("what is waited for, and since when (R36)", () => {
  const lines = [0, 999, 1000, 12_900, 125_000].map((ms) => renderElapsed("planning", ms, 40, glyphs));
  expect(lines).toEqual(["planning", "planning", "planning, 1 s", "planning, 12 s", "planning, 2 min 5 s"]);
  const long = (columns: number, of = glyphs) =>
    renderElapsed("planning with a model of a long name", 12_000, columns, of);
  expect([long(20), long(20, ascii), long(12)]).toEqual([
    "planning with…, 12 s",
    "planning wi..., 12 s",
    "plannin…, 1…",
  ]);
  for (let columns = -3; columns < 40; columns += 1)
    expect(Bun.stringWidth(long(columns))).toBeLessThanOrEqual(Math.max(columns, 0));
});

test("how to stop stands beside a wait in 80 columns, too: the name of the model gives way", () => {
  const planning = "planning in at most 4 calls with gemini:gemini-3.5-flash-lite";
  const line = renderElapsed(planning, 12_000, 76, glyphs, "Esc stops");
  expect(line).toBe("planning in at most 4 calls with gemini:gemini-3.5-flash-…, 12 s · Esc stops");
});

test("the seconds of a pause go down, and are seen before the reason (R36)", () => {
  const lines = [12_000, 11_001, 11_000, 1].map((ms) => renderCountdown(wait, ms, 100, glyphs, "Esc stops").join("\n"));
  const rest = "then asking again (2 of 5) · Esc stops · gemini is not available (HTTP 503)";
  expect(lines).toEqual([12, 12, 11, 1].map((seconds) => `waiting ${seconds} s, ${rest}`));
  expect(renderCountdown(wait, 12_000, 30, ascii)).toEqual([
    "waiting 12 s, then asking",
    "again (2 of 5) - gemini is not",
    "available (HTTP 503)",
  ]);
  const long = renderCountdown({ ...wait, why: "of many words ".repeat(30) }, 12_000, 60, glyphs);
  expect(long).toHaveLength(4);
  expect(long.filter((row) => Bun.stringWidth(row) > 60)).toEqual([]);
  expect(renderCountdown({ ...wait, why: "a\n\x1b[2Jb" }, 1000, 100, glyphs).join("")).not.toMatch(/[\x00-\x1f]/);
});

test("a pause counts down, then the line is what it was; taken away, nothing stays", () => {
  let [time, screen] = [0, ""];
  const redraw = (text: string) => {
    const [body = screen, turn = ""] = text.replace("\r\x1b[K \x1b[J\r", "").split("\r");
    screen = text.startsWith("\r\x1b[K") ? body.trim() && body : screen;
    screen = turn + screen.slice(turn.length);
  };
  const spinner = openSpinner({ redraw, now: () => time });
  const after = (ms: number) => {
    for (const end = time + ms; time < end; jest.advanceTimersByTime(250)) time += 250;
    return screen.slice(2);
  };
  spinner.start("planning");
  expect(after(1000)).toBe("planning, 1 s");
  spinner.countDown({ ...wait, seconds: 2 });
  expect(after(250)).toStartWith("waiting 2 s, then asking again (2 of 5) · gemini");
  expect(after(1000)).toStartWith("waiting 1 s, then");
  expect(after(1000)).toBe("planning, 3 s");
  spinner.countDown({ ...wait, seconds: 9, attempt: 3 });
  expect(after(250)).toStartWith("waiting 9 s, then asking again (3 of 5)");
  spinner.start("working");
  expect(after(500)).toBe("working");
  spinner.stop();
  expect([screen, after(1000)]).toEqual(["", ""]);
});

/** A spinner, what it writes in so many milliseconds, and what it has written since then. */
function openWatched(columns: () => number) {
  let [time, written] = [0, ""];
  const redraw = (text: string) => {
    written += text;
  };
  const after = (ms: number) => {
    written = "";
    for (const end = time + ms; time < end; jest.advanceTimersByTime(250)) time += 250;
    return written;
  };
  const spinner = openSpinner({ redraw, columns, now: () => time });
  return { spinner, after, written: () => written };
}

test("a second of waiting costs less than 150 bytes, and a resize in the middle is followed (R10)", () => {
  let columns = 80;
  const { spinner, after } = openWatched(() => columns);
  spinner.start("planning with gemini:gemini-3.5-flash-lite");
  after(61_000);
  expect(Buffer.byteLength(after(10_000))).toBeLessThan(1500);
  columns = 30;
  const narrow = after(1000).split("\x1b[J\r").at(-1) ?? "";
  expect(Bun.stringWidth(narrow.split("\r")[0] ?? "")).toBeLessThan(30);
  spinner.stop();
});

test("the last lines of a running command stand below the wait, never wider than the terminal, and go with it", () => {
  const { spinner, after, written } = openWatched(() => 20);
  spinner.start("RUN make");
  spinner.show(["one", "a line that is much too long"]);
  expect(after(250)).toBe("\r\x1b[K \x1b[J\r  RUN make\r\n  │ one\r\n  │ a line that i…\x1b[2A\r⠋");
  expect(after(250)).toBe("\r⠙");
  spinner.stop();
  expect(written()).toEndWith("\r\x1b[K \x1b[J\r");
  spinner.start("RUN make");
  expect(after(250)).not.toContain("one");
  spinner.stop();
});

test("how to stop stands behind the time where there is room", () => {
  const line = (columns: number) => renderElapsed("planning", 4000, columns, glyphs, "Ctrl+C stops");
  expect([line(40), line(28), line(27)]).toEqual(["planning, 4 s · Ctrl+C stops", line(40), "planning, 4 s"]);
});

test("where no line can be redrawn, a wait says its name at once and its time every half a minute", () => {
  let time = 0;
  const lines: string[] = [];
  const beat = openSpinner({ live: false, say: (line) => lines.push(line), style: styleOf(false), now: () => time });
  const after = (ms: number) => {
    for (const end = time + ms; time < end; jest.advanceTimersByTime(1000)) time += 1000;
    return lines.splice(0);
  };
  beat.start("planning with x");
  expect(after(29_000)).toEqual(["planning with x ..."]);
  beat.update("planning, 40 lines");
  expect(after(61_000)).toEqual([
    "planning, 40 lines, 30 s",
    "planning, 40 lines, 1 min 0 s",
    "planning, 40 lines, 1 min 30 s",
  ]);
  beat.stop();
  expect(after(60_000)).toEqual([]);
});
