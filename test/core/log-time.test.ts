/** Time words of requests, and times in lines of logs. */
import { expect, test } from "bun:test";
import { spanOf, timeOfLine } from "../../src/core/log-time.ts";

const now = new Date(2026, 2, 2, 14);
const local = (day: number, hour: number) => new Date(2026, 2, day, hour).getTime();

test.each([
  ["what went wrong last night?", local(1, 18), local(2, 9)],
  ["Yesterday the shop was slow", local(1, 0), local(2, 0)],
  ["who failed in the last 2 hours", local(2, 12), local(2, 14)],
  ["errors of the past hour", local(2, 13), local(2, 14)],
  ["this morning", local(2, 0), local(2, 12)],
  ["errors today", local(2, 0), local(3, 0)],
])("%j means a span of local time", (text, from, to) => expect(spanOf(text, now)).toEqual({ from, to }));

test.each(["fix the last test", "add a day to the date", "the nightly build"])("%j names no time", (text) =>
  expect(spanOf(text, now)).toBeNull(),
);

test.each([
  ["2026-03-01T18:00:00.123Z error", Date.UTC(2026, 2, 1, 18)],
  ["2026-03-01 18:00:00,123 error", local(1, 18)],
  ["2026-03-01T18:00:00+02:00 x", Date.UTC(2026, 2, 1, 16)],
  ["2026/03/01 18:00:00 [error] 12#0: x", local(1, 18)],
  ['10.0.0.1 - - [01/Mar/2026:18:00:00 -0100] "GET /"', Date.UTC(2026, 2, 1, 19)],
  ["Mar  1 18:00:00 host sshd[1]: error", local(1, 18)],
  ["[Sun Mar 01 18:00:00.1 2026] [core:error]", local(1, 18)],
  ["Dec 31 10:00:00 host x", new Date(2025, 11, 31, 10).getTime()],
  ["18:00:00 error", null],
  ["Foo 31 10:00:00 x", null],
  ["2026-03-01 release", null],
])("the time of %j", (line, time) => expect(timeOfLine(line, now)).toBe(time));
