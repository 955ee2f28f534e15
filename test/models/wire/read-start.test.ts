/** Answers that are longer than they need be. */
import { expect, test } from "bun:test";
import { readStart } from "../../../src/models/wire/error-body.ts";

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
