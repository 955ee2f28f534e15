/** Replies on a screen: each once. */
import { expect, test } from "bun:test";
import { openReply, restOf } from "../../../src/ui/run/reply.ts";

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
