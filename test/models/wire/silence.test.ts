/** A provider that holds the connection and says nothing: told, given up, and asked once more. One exchange serves every bridge. */
import { expect, test } from "bun:test";
import type { Notice } from "../../../src/core/question.ts";
import { type OpenOptions, openModel } from "../../../src/models/open.ts";
import { says } from "../chat/chat-wire.ts";
import { options, take, useServer } from "../loopback.ts";

const server = useServer();
const open = (over: Partial<OpenOptions>) =>
  openModel(options({ id: "mistral:mistral-large-latest", baseUrl: `${server.origin}/v1`, ...over }));

/** Sends this many signs of life, 20 ms apart, and a reply after them. */
function answerAfter(pings: number): void {
  const bytes = (text: string) => new TextEncoder().encode(text);
  server.answer = () => {
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        for (let n = 0; n < pings; n += 1, await Bun.sleep(20)) controller.enqueue(bytes(": ping\n\n"));
        controller.enqueue(bytes(says("late")));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

test("silence over the limit is told once and ends the call, which is made once more (fault 10)", async () => {
  server.answer = () => new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
  const told: Notice[] = [];
  const { error } = await take(await open({ idleMs: 80, notify: (notice) => told.push(notice) }));
  const waits = told.filter(({ code }) => code === "silence").map(({ text }) => text);
  const wait = expect.stringContaining("has sent nothing for 1 s; after 1 s it counts as lost");
  // One for each of the two calls.
  expect(waits).toEqual([wait, wait]);
  expect(error).toMatchObject({ code: "network", message: expect.stringContaining("sent nothing for") });
  expect(server.seen.length).toBe(2);
});

test("a sign of life keeps the connection", async () => {
  answerAfter(25);
  expect((await take(await open({ idleMs: 400 }))).text).toBe("late");
});

test("signs of life without a part of the reply do not keep it for ever", async () => {
  answerAfter(5000);
  const { error } = await take(await open({ idleMs: 300 }));
  expect(error).toMatchObject({ code: "network", message: expect.stringContaining("sent no part of the reply for") });
  expect(server.seen.length).toBe(1);
});
