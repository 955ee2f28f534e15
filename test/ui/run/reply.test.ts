/** Replies on a screen: at once, and not more often than the eye sees. */
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { openReply, restOf } from "../../../src/ui/run/reply.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function watch(streams = true) {
  const writes: string[] = [];
  const reply = openReply({
    write: (text) => void writes.push(text),
    begin: () => {},
    columns: () => 40,
    markdown: () => null,
    streams,
  });
  return { reply, writes };
}

test("the first piece is shown at once, those that follow closely are shown together", () => {
  const { reply, writes } = watch();
  reply.push("I will ", 1);
  expect(writes).toEqual(["I will"]);
  reply.push("move ", 1);
  reply.push("the formula ", 1);
  expect(writes).toHaveLength(1);
  jest.advanceTimersByTime(80);
  expect(writes).toEqual(["I will", " move the formula"]);
});

test("the end shows what still waits, and nothing comes after it", () => {
  const { reply, writes } = watch();
  for (const word of ["a ", "b ", "c"]) reply.push(word, 1);
  reply.close();
  expect(writes.join("")).toBe("a b c\n");
  const shown = writes.length;
  jest.advanceTimersByTime(50);
  expect(writes).toHaveLength(shown);
});

test("a megabyte in small pieces is written in few, each soon done: whoever interrupts waits for one only", () => {
  const { reply, writes } = watch();
  for (let at = 0; at < 25_000; at++) reply.push("The quick brown fox jumps over the dogs\n", 1);
  expect(writes.join("").length).toBeGreaterThan(980_000);
  reply.close();
  expect(writes.length).toBeLessThan(100);
  expect(Math.max(...writes.map(({ length }) => length))).toBeLessThan(20_000);
  expect(writes.join("")).toHaveLength(1_000_000);
});

test("what was shown in the place of a kept reply is not followed by it", () => {
  const { reply, writes } = watch(false);
  reply.push("I will move it.", 1);
  reply.show();
  reply.show("I will copy it.");
  reply.show();
  expect(writes).toEqual(["I will move it.\n", "I will copy it.\n"]);
});

test("in a pipe the replies of several calls do not run together", () => {
  const { reply, writes } = watch(false);
  reply.push("I look first.", 1);
  reply.push("I will ", 2);
  reply.push("do that.", 2);
  reply.show();
  expect(writes).toEqual(["I will do that.\n"]);
});

test("what streamed is not shown again, only what is new behind it", () => {
  const { reply, writes } = watch();
  reply.push("I look at it. ", 1);
  reply.close();
  reply.show("I look at it.");
  expect(writes.join("")).toBe("I look at it.\n");
  reply.show("I look at it.\n\n```\ncode\n```");
  expect(writes.join("")).toBe("I look at it.\n```\ncode\n```\n");
});

test("of a text whose beginning is on the screen whole sentences are left out, and never a part of one", () => {
  const rows = [
    ["I change it.", "I change it. All is well.", "All is well."],
    ["I change it", "I change it from 25 up, as you wanted.", "I change it from 25 up, as you wanted."],
    ["It is 3.", "It is 3.5 now.", "It is 3.5 now."],
    ["A title", "A title\n\nIts text", "Its text"],
    ["做完了。", "做完了。测试通过。", "测试通过。"],
    ["All is well.", "All is well.", ""],
    ["", "Done.", "Done."],
  ] as const;
  for (const [shown, text, rest] of rows) expect(restOf(text, shown)).toBe(rest);
});
