/** How a Gemini reply ends: every finish reason, every form of nothing, and what is counted. */
import { describe, expect, test } from "bun:test";
import { toPaiError } from "../../../src/core/error.ts";
import { type OpenOptions, openModel } from "../../../src/models/open.ts";
import { readReply } from "../../../src/models/wire/chunks.ts";
import type { AskedServer } from "../../../src/models/wire/http-errors.ts";
import { options, sse, take, useServer } from "../loopback.ts";
import { event, says } from "./gemini-wire.ts";

describe("gemini", () => {
  const server = useServer();
  const open = (over: Partial<OpenOptions> = {}) =>
    openModel(options({ id: "gemini-2.5-flash-lite", baseUrl: server.origin, ...over }));
  const reply = async (...chunks: readonly unknown[]) => {
    server.answer = () => sse([chunks.map(event).join("")]);
    return take(await open());
  };

  const finishes: readonly (readonly [string, string])[] = [
    ["STOP", "end"],
    ["MAX_TOKENS", "length"],
    ["OTHER", "length"],
    ["FINISH_REASON_UNSPECIFIED", "end"],
    ["stop", "end"],
    ["end", "end"],
    ["SOMETHING_NEW", "end"],
    ["SAFETY", "reply_blocked"],
    ["RECITATION", "reply_blocked"],
    ["PROHIBITED_CONTENT", "reply_blocked"],
    ["BLOCKLIST", "reply_blocked"],
    ["SPII", "reply_blocked"],
    ["LANGUAGE", "reply_blocked"],
    ["MALFORMED_FUNCTION_CALL", "reply_invalid"],
    ["UNEXPECTED_TOOL_CALL", "reply_invalid"],
  ];
  test.each(finishes)("finish reason %s after some text ends in %s, after one request", async (reason, end) => {
    const { done, error } = await reply(says("some "), says("text", reason));
    expect<string | undefined>(done?.stop ?? error?.code).toBe(end);
    if (error !== null) expect(error.message).toContain(reason);
    expect(server.seen.length).toBe(1);
  });

  const empties: Readonly<Record<string, unknown>> = {
    "STOP with nothing": { candidates: [{ finishReason: "STOP" }] },
    "STOP with empty text": says("", "STOP"),
    "no candidates": { candidates: [], usageMetadata: { promptTokenCount: 3 } },
    "empty content": { candidates: [{ content: {}, finishReason: "STOP" }] },
    "null content": { candidates: [{ content: null, finishReason: "STOP" }] },
    "missing parts": { candidates: [{ content: { role: "model" }, finishReason: "STOP" }] },
    "an empty object": {},
  };
  test.each(Object.keys(empties))(
    "names an empty reply and leaves asking again to the run, which counts it: %s",
    async (name) => {
      expect((await reply(empties[name])).error?.code).toBe("reply_empty");
      expect(server.seen.length).toBe(1);
    },
  );

  test("names a malformed call and a refusal; neither is asked again here", async () => {
    expect((await reply({ candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }] })).error?.code).toBe(
      "reply_invalid",
    );
    expect(server.seen.length).toBe(1);
    server.seen.length = 0;
    const blocked = await reply({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } });
    expect(blocked.error?.code).toBe("reply_blocked");
    expect(blocked.error?.message).toContain("PROHIBITED_CONTENT");
    expect(server.seen.length).toBe(1);
  });

  test("MAX_TOKENS with nothing said is a cut reply, not an empty one", async () => {
    expect((await reply({ candidates: [{ finishReason: "MAX_TOKENS" }] })).done?.stop).toBe("length");
  });

  test("counts tokens: cached within input, thought within output, the last count wins; names the model that served", async () => {
    const { done } = await reply(
      { ...says("a"), usageMetadata: { promptTokenCount: 10, cachedContentTokenCount: 4 } },
      {
        ...says("b", "STOP"),
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 7, totalTokenCount: 22 },
        modelVersion: "gemini-2.5-flash-lite-001",
      },
    );
    expect(done).toMatchObject({
      usage: { input: 10, cached: 4, output: 12, thought: 7 },
      served: "gemini-2.5-flash-lite-001",
    });
  });

  test("a lost connection after the finish reason does not spoil the reply", async () => {
    server.answer = () => sse([event(says("whole", "STOP")), 'data: {"candidates']);
    expect((await take(await open())).text).toBe("whole");
  });

  test("a page in place of the stream is named, not parsed", async () => {
    server.answer = () => new Response("<html>please log in</html>", { headers: { "content-type": "text/html" } });
    const { error } = await take(await open());
    expect(error?.code).toBe("network");
    expect(error?.message).toContain("text/html");
  });

  test("needs a key at an address of the user's own, too", async () => {
    await expect(open({ keys: [] })).rejects.toMatchObject({ code: "no_key" });
    expect(server.seen).toHaveLength(0);
  });
});

describe("readReply", () => {
  const asked: AskedServer = { provider: "gemini", model: "m", key: null, address: "http://x", proxy: false };
  const read = async (pieces: readonly Uint8Array[]) => {
    const all: unknown[] = [];
    const decoder = {
      read: (chunk: unknown) => void all.push(chunk),
      take: () => [],
    };
    const options = { asked, heard: () => {}, note: toPaiError, now: () => 0 };
    for await (const events of readReply(sse(pieces), decoder, options)) expect(events).toEqual([]);
    return all;
  };

  test("gives the same chunks wherever the bytes are cut, within a character too", async () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      const chunks = [says("é🌍 \u2028"), says("x", "STOP")];
      const body = new TextEncoder().encode(
        `: hi${end}${chunks.map((each) => event(each).replaceAll("\n", end)).join("")}`,
      );
      for (let at = 0; at <= body.length; at += 1) {
        const pieces = [body.slice(0, at), body.slice(at)];
        expect(await read(pieces)).toEqual(chunks);
      }
      const single = [...body].map((byte) => Uint8Array.of(byte));
      expect(await read(single)).toEqual(chunks);
    }
  });

  test.each(["data: ", "data: x\ndata: ", "<html>"])("an event that never ends is left: %j", async (start) => {
    const piece = new Uint8Array(2 ** 20).fill(120);
    const lines = start.includes("\n") ? new TextEncoder().encode(`\ndata: ${"x".repeat(2 ** 20)}`) : piece;
    const pieces = [new TextEncoder().encode(start), ...Array.from({ length: 40 }, () => lines)];
    await expect(read(pieces)).rejects.toMatchObject({
      code: "reply_invalid",
      message: "gemini sent a reply without an end",
    });
  });

  test("an answer that never ends is left, though each of its events does", async () => {
    const piece = new TextEncoder().encode(`: ${"x".repeat(2 ** 20)}\n\n`);
    await expect(read(Array.from({ length: 200 }, () => piece))).rejects.toMatchObject({ code: "reply_invalid" });
  });
});
