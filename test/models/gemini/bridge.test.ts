/** The Gemini bridge: the contract, and what is Gemini's own: how a reply ends, and what is counted. */
import { describe, expect, test } from "bun:test";
import { toPaiError } from "../../../src/core/error.ts";
import type { Json, ModelRequest } from "../../../src/core/model.ts";
import { encodeGemini } from "../../../src/models/gemini/bridge.ts";
import { type OpenOptions, openModel } from "../../../src/models/open.ts";
import { readReply } from "../../../src/models/wire/exchange.ts";
import type { AskedServer } from "../../../src/models/wire/http-errors.ts";
import { type Bridge, describeBridge } from "../contract.ts";
import { options, request, sse, take, useServer } from "../loopback.ts";
import { event, parts, says } from "./gemini-wire.ts";

const bridge: Bridge = {
  id: "gemini:gemini-2.5-flash-lite",
  baseUrl: (origin) => origin,
  keyHeader: (key) => ["x-goog-api-key", key],
  reply: (pieces) =>
    pieces.map((piece, at) => event(says(piece, at === pieces.length - 1 ? "STOP" : undefined))).join(""),
};

describeBridge(bridge);

describe("gemini", () => {
  const server = useServer();
  const open = (over: Partial<OpenOptions> = {}) =>
    openModel(options({ id: "gemini-2.5-flash-lite", baseUrl: server.origin, ...over }));
  const reply = async (...chunks: readonly unknown[]) => {
    server.answer = () => sse([chunks.map(event).join("")]);
    return take(await open());
  };

  test("posts to the stream endpoint below the base URL, with or without a slash", async () => {
    server.answer = () => sse([event(says("x", "STOP"))]);
    for (const suffix of ["", "/"]) await take(await open({ baseUrl: server.origin + suffix }));
    await take(await open({ baseUrl: `${server.origin}/gateway/google/` }));
    const path = "/v1beta/models/gemini-2.5-flash-lite:streamGenerateContent?alt=sse";
    expect(server.seen.map((each) => each.path)).toEqual([path, path, `/gateway/google${path}`]);
  });

  test("keeps two calls of one chunk apart, with thoughts and signatures for the way back (fault 1)", async () => {
    const whole = [
      { text: "hmm", thought: true },
      { functionCall: { name: "read", args: { path: "a" } }, thoughtSignature: "S1" },
      { functionCall: { name: "read", args: { path: "b" }, id: "given" } },
    ];
    const { events, done } = await reply(parts(whole));
    expect(events.slice(0, -1)).toEqual([
      { type: "thought", text: "hmm" },
      { type: "call", call: { id: "call-1-1", name: "read", input: { path: "a" } } },
      { type: "call", call: { id: "given", name: "read", input: { path: "b" } } },
    ]);
    expect(done?.native).toEqual({ model: "gemini-2.5-flash-lite", content: { role: "model", parts: whole } });
  });

  test("leaves no timer and no listener behind (fault 5)", async () => {
    const stop = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = stop.signal;
    stop.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1;
      addEventListener.apply(stop.signal, args);
    };
    stop.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1;
      removeEventListener.apply(stop.signal, args);
    };
    server.answer = () => sse([event(says("x", "STOP"))]);
    await take(await open(), stop.signal);
    expect(listeners).toBe(0);
  });

  test("reads every form of event stream that gateways write (fault 6)", async () => {
    const [one, two] = [JSON.stringify(says("one ")), JSON.stringify(says("two", "STOP"))];
    const forms = {
      plain: `data: ${one}\n\ndata: ${two}\n\n`,
      "no space": `data:${one}\n\ndata:${two}\n\n`,
      "no last blank line": `data: ${one}\n\ndata: ${two}`,
      "one line feed": `data: ${one}\n\ndata: ${two}\n`,
      "no blank lines": `data: ${one}\ndata: ${two}\n`,
      crlf: `data: ${one}\r\n\r\ndata: ${two}\r\n\r\n`,
      cr: `data: ${one}\r\rdata: ${two}\r\r`,
      comments: `: hello\n\n: ping\ndata: ${one}\n\n:\n\ndata: ${two}\n\n: bye\n\n`,
      "event, id and retry": `retry: 10\n\nevent: message\nid: 1\ndata: ${one}\n\nevent: message\ndata: ${two}\n\n`,
      "byte order mark": `\uFEFFdata: ${one}\n\ndata: ${two}\n\n`,
      "end mark": `data: ${one}\n\ndata: ${two}\n\ndata: [DONE]\n\n`,
      "data over several lines": `data: ${JSON.stringify(says("one "), null, 1).replaceAll("\n", "\ndata: ")}\n\ndata: ${two}\n\n`,
      "a JSON list, no events": `[${one},\n${two}]`,
    };
    const model = await open();
    for (const [form, body] of Object.entries(forms)) {
      server.answer = () => sse([body]);
      expect([form, (await take(model)).text]).toEqual([form, "one two"]);
    }
  });

  test("takes an error in mid-stream for an error (fault 7)", async () => {
    const errors: readonly (readonly [Json, string])[] = [
      [{ code: 503, message: "The model is overloaded", status: "UNAVAILABLE" }, "provider_down"],
      [{ code: 429, message: "slow down", status: "RESOURCE_EXHAUSTED" }, "quota"],
      [{ message: "no code", status: "RESOURCE_EXHAUSTED" }, "quota"],
      ["only text", "provider_down"],
    ];
    for (const [error, code] of errors) {
      const taken = await reply(says("half"), { error });
      expect([taken.text, taken.error?.code]).toEqual(["half", code as "quota"]);
      expect(server.seen.length).toBe(1);
      server.seen.length = 0;
    }
    expect((await reply(says("half"), [{ error: { code: 503, message: "listed" } }])).error?.message).toContain(
      "listed",
    );
  });

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

  test("names why a request is refused, and does not ask again", async () => {
    const blocked = await reply({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } });
    expect(blocked.error).toMatchObject({
      code: "reply_blocked",
      message: expect.stringContaining("PROHIBITED_CONTENT"),
    });
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

describe("encodeGemini", () => {
  const model = "gemini-2.5-flash-lite";

  test("says everything explicitly", () => {
    const schema = { type: "object", properties: { b: { type: "string" }, a: { type: "integer" } }, required: ["b"] };
    const written = { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema };
    const tools = [
      { name: "read", description: "Reads", schema: written },
      { name: "read_tasks", description: "Lists", schema: { type: "object", properties: {} } },
    ];
    expect(encodeGemini(model, { ...request, tools })).toEqual({
      contents: [{ role: "user", parts: [{ text: "say hello" }] }],
      systemInstruction: { role: "system", parts: [{ text: "You are a test." }] },
      tools: [
        {
          functionDeclarations: [
            { name: "read", description: "Reads", parametersJsonSchema: schema },
            { name: "read_tasks", description: "Lists" },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: "AUTO" } },
      generationConfig: { maxOutputTokens: 1000 },
    });
    expect(encodeGemini(model, { ...request, format: { name: "plan", schema } })["generationConfig"]).toEqual({
      maxOutputTokens: 1000,
      responseMimeType: "application/json",
      responseJsonSchema: schema,
    });
    expect(encodeGemini(model, { ...request, tools, toolChoice: "none" })["toolConfig"]).toEqual({
      functionCallingConfig: { mode: "NONE" },
    });
  });

  test("rebuilds the reply of another model, with the id and the signature that Gemini 3 wants of foreign calls", () => {
    const messages: ModelRequest["messages"] = [
      { role: "user", text: "go" },
      {
        role: "assistant",
        text: "I read",
        calls: [{ id: "c", name: "read", input: { path: "a" } }],
        native: { model: "other", content: { role: "assistant" } },
      },
      { role: "tools", results: [{ id: "c", name: "read", ok: false, text: "no such file" }] },
      { role: "assistant", text: "", calls: [], native: null },
    ];
    const call = { functionCall: { name: "read", args: { path: "a" } } };
    const rest = (id: object) => ({
      role: "user",
      parts: [{ functionResponse: { ...id, name: "read", response: { error: "no such file" } } }],
    });
    const start = { role: "user", parts: [{ text: "go" }] };
    expect(encodeGemini(model, { ...request, messages })["contents"]).toEqual([
      start,
      { role: "model", parts: [{ text: "I read" }, call] },
      rest({}),
    ]);
    const signed = {
      functionCall: { id: "c", ...call.functionCall },
      thoughtSignature: "skip_thought_signature_validator",
    };
    for (const newer of ["gemini-3-flash", "gemini-flash-latest", "models/gemini-3.1-pro-preview", "gemini-4-argon"])
      expect(encodeGemini(newer, { ...request, messages })["contents"]).toEqual([
        start,
        { role: "model", parts: [{ text: "I read" }, signed] },
        rest({ id: "c" }),
      ]);
  });
});
