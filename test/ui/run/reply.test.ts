/** Replies on a screen: at once, and not more often than the eye sees. */
import { expect, test } from "bun:test";
import { openReply } from "../../../src/ui/run/reply.ts";

function watch() {
  const writes: string[] = [];
  const reply = openReply({
    write: (text) => void writes.push(text),
    begin: () => {},
    columns: () => 40,
    markdown: () => null,
    streams: true,
  });
  return { reply, writes };
}

test("the first piece is shown at once, those that follow closely are shown together", async () => {
  const { reply, writes } = watch();
  reply.push("I will ");
  expect(writes).toEqual(["I will"]);
  reply.push("move ");
  reply.push("the formula ");
  expect(writes).toHaveLength(1);
  await Bun.sleep(80);
  expect(writes).toEqual(["I will", " move the formula"]);
});

test("the end shows what still waits, and nothing comes after it", async () => {
  const { reply, writes } = watch();
  for (const word of ["a ", "b ", "c"]) reply.push(word);
  reply.close();
  expect(writes.join("")).toBe("a b c\n");
  const shown = writes.length;
  await Bun.sleep(50);
  expect(writes).toHaveLength(shown);
});

test("a megabyte in small pieces is written in few, each soon done: whoever interrupts waits for one only", () => {
  const { reply, writes } = watch();
  for (let at = 0; at < 25_000; at++) reply.push("The quick brown fox jumps over the dogs\n");
  expect(writes.join("").length).toBeGreaterThan(980_000);
  reply.close();
  expect(writes.length).toBeLessThan(100);
  expect(Math.max(...writes.map(({ length }) => length))).toBeLessThan(20_000);
  expect(writes.join("")).toHaveLength(1_000_000);
});
