/** Events and answers as servers and gateways really write them: cut anywhere, longer than they need be. */
import { expect, test } from "bun:test";
import { createSseReader } from "../../../src/core/event-stream.ts";
import { readStart } from "../../../src/models/wire/endpoint.ts";
import { expectCpu } from "../../core/cpu-time.ts";

function read(text: string, size: number): readonly string[] {
  const reader = createSseReader();
  const done: string[] = [];
  for (let at = 0; at < text.length; at += size) done.push(...reader.push(text.slice(at, at + size)));
  return [...done, ...reader.end()];
}

test("an event of 300 KB, no space, several data lines, CRLF, a last blank line that is missing", () => {
  const large = `{"text":"${"é🙂x".repeat(75_000)}"}`;
  const text = `data:{"a":1}\r\n\r\nevent: x\ndata: one\ndata: two\n\n: ping\n\ndata: ${large}\n\ndata: last`;
  for (const size of [text.length, 65_536, 4099])
    expect(read(text, size)).toEqual(['{"a":1}', "one\ntwo", large, "last"]);
});

test("an event of 8 MB in small pieces is looked at once", () => {
  const large = "x".repeat(8_000_000);
  expectCpu(1000, () => expect(read(`data: ${large}\n\n`, 500)).toEqual([large]));
});

test("a short answer is read whole, of an endless one the beginning, and its connection ends", async () => {
  expect(await readStart(new Response("ä€"), 100)).toBe("ä€");
  expect(await readStart(new Response(null), 100)).toBe("");
  let sent = 0;
  let ended = false;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1;
      controller.enqueue(new Uint8Array(1000).fill(120));
    },
    cancel() {
      ended = true;
    },
  });
  expect(await readStart(new Response(endless), 5000)).toBe("x".repeat(5000));
  expect([ended, sent < 20]).toEqual([true, true]);
});
