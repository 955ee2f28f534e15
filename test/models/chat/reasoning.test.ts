/** Reasoning between calls goes back to the model that wrote it, as it came: many models refuse to go on without. */
import { beforeEach, describe, expect, test } from "bun:test";
import type { Message, ModelRequest } from "../../../src/core/model.ts";
import { openModel } from "../../../src/models/open.ts";
import { ollama, options, quiet, refusal, request, sse, type Taken, take, useServer } from "../loopback.ts";
import { delta, line, says } from "./chat-wire.ts";

type Fields = { readonly [key: string]: unknown };

const server = useServer();
const tools = [{ name: "read", description: "reads", schema: { type: "object" } }];
const call = { index: 0, id: "call_a", type: "function", function: { name: "read", arguments: '{"path":"a"}' } };

const open = (id: string) => openModel(options({ id, baseUrl: `${server.origin}/v1` }));

/** The conversation after a reply, with the result of its call. */
function goOn({ calls, done }: Taken): ModelRequest {
  const reply: Message = { role: "assistant", text: "", calls, native: done?.native ?? null };
  const results = calls.map(({ id, name }) => ({ id, name, ok: true, text: "content" }));
  return { ...request, tools, messages: [...request.messages, reply, { role: "tools", results }] };
}

/** The model's own message in a request. */
const replyIn = (body: unknown): Fields =>
  ((body as Fields)["messages"] as Fields[]).find(({ role }) => role === "assistant") ?? {};

/** Two calls of a loop: what the second request says of the first reply. */
async function loop(id: string, first: string): Promise<Fields> {
  server.answer = (n) => sse([n === 0 ? first : says("done")]);
  const model = await open(id);
  const asked = goOn(await take(model, quiet, { ...request, tools }));
  expect((await take(model, quiet, asked)).text).toBe("done");
  return replyIn(server.seen[1]?.body);
}

describe("reasoning goes back", () => {
  test("as reasoning_content, without which DeepSeek and Kimi refuse the second call of a loop", async () => {
    const wire =
      delta({ role: "assistant", reasoning_content: "let me " }) +
      delta({ reasoning_content: "see" }) +
      delta({ tool_calls: [call] }) +
      delta({}, "tool_calls");
    const message = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    server.answer = (n) => {
      if (n === 0) return sse([wire]);
      const isThere = "reasoning_content" in replyIn(server.seen[n]?.body);
      return isThere ? sse([says("done")]) : refusal({ message });
    };
    const model = await open("openrouter:deepseek/deepseek-v4");
    const asked = goOn(await take(model, quiet, { ...request, tools }));
    expect((await take(model, quiet, asked)).text).toBe("done");
    expect(server.seen.length).toBe(2);
    expect(replyIn(server.seen[1]?.body)).toMatchObject({ reasoning_content: "let me see", tool_calls: [{}] });
  });

  test("as the blocks that OpenRouter sent in pieces, with text, signature and what is encrypted", async () => {
    const text = (more: Fields) => ({ type: "reasoning.text", format: "x", index: 0, ...more });
    const secret = (id: string) => ({ type: "reasoning.encrypted", data: `SIG-${id}`, id, format: "google", index: 0 });
    const wire =
      delta({ reasoning: "hm", reasoning_details: [text({ text: "let me ", signature: null })] }) +
      delta({ reasoning: "m", reasoning_details: [text({ text: "see" })] }) +
      delta({ reasoning_details: [text({ signature: "EqQB" })] }) +
      delta({ tool_calls: [call], reasoning_details: [secret("call_a"), secret("call_b")] }) +
      delta({}, "tool_calls");
    const reply = await loop("openrouter:google/gemini-3-pro", wire);
    expect(reply["reasoning_details"]).toEqual([
      text({ text: "let me see", signature: "EqQB" }),
      secret("call_a"),
      secret("call_b"),
    ]);
    expect("reasoning" in reply).toBe(false);
  });

  test("as what Google's server says beside each call", async () => {
    const extra = { google: { thought_signature: "SIG" } };
    const other = { ...call, index: 1, id: "call_b" };
    const wire =
      delta({ tool_calls: [{ ...call, extra_content: extra }] }) + delta({ tool_calls: [other] }) + delta({}, "stop");
    const calls = (await loop("openrouter:gemini-3-pro", wire))["tool_calls"] as readonly Fields[];
    expect(calls.map((each) => each["extra_content"])).toEqual([extra, undefined]);
  });

  test("as reasoning alone", async () => {
    const wire = delta({ reasoning: "let me see" }) + delta({ tool_calls: [call] }) + delta({}, "tool_calls");
    expect(await loop("openrouter:z-ai/glm-5", wire)).toMatchObject({ reasoning: "let me see" });
  });

  test("to no other model and no other address", async () => {
    const wire = delta({ reasoning_content: "hm" }) + delta({ tool_calls: [call] }) + delta({}, "tool_calls");
    server.answer = (n) => sse([n === 0 ? wire : says("done")]);
    const asked = goOn(await take(await open("openrouter:x/y"), quiet, { ...request, tools }));
    await take(await open("openrouter:x/z"), quiet, asked);
    const elsewhere = options({ id: "openrouter:x/y", baseUrl: `${server.origin}/other/v1` });
    await take(await openModel(elsewhere), quiet, asked);
    await take(await open("openrouter:x/y"), quiet, asked);
    expect(server.seen.slice(1).map(({ body }) => "reasoning_content" in replyIn(body))).toEqual([false, false, true]);
  });
});

describe("where another model wrote the reply", () => {
  const messages: ModelRequest["messages"] = [
    ...request.messages,
    { role: "assistant", text: "", calls: [{ id: "a", name: "read", input: {} }], native: null },
    { role: "tools", results: [{ id: "a", name: "read", ok: true, text: "content" }] },
  ];

  const unsigned = "Function call is missing a thought_signature in functionCall parts.";
  const skip = "skip_thought_signature_validator";
  test.each([
    [
      "OpenRouter",
      { message: "Provider returned error", code: 400, metadata: { raw: `{"error":{"message":"${unsigned}"}}` } },
      {
        reasoning_details: [{ type: "reasoning.encrypted", data: skip, format: "google-gemini-v1", id: "a", index: 0 }],
      },
    ],
    [
      "Google's own server",
      { message: unsigned, code: 400 },
      { tool_calls: [{ id: "a", extra_content: { google: { thought_signature: skip } } }] },
    ],
  ])("%s gets a signature that says there is none", async (_who, error, signed) => {
    server.answer = (n) => (n === 0 ? refusal(error) : sse([says("done")]));
    expect((await take(await open("openrouter:x/y"), quiet, { ...request, messages })).text).toBe("done");
    expect(JSON.stringify(server.seen[0]?.body)).not.toContain(skip);
    expect(replyIn(server.seen[1]?.body)).toMatchObject(signed);
  });

  test.each([
    "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
  ])("a server that wants reasoning gets an empty one: %s", async (message) => {
    server.answer = (n) => (n === 0 ? refusal({ message }) : sse([says("done")]));
    expect((await take(await open("openrouter:x/y"), quiet, { ...request, messages })).text).toBe("done");
    expect(server.seen.map(({ body }) => replyIn(body)["reasoning_content"])).toEqual([undefined, ""]);
  });
});

test.each([
  [400, { error: { message: "'messages.2' : for 'role:assistant' property 'reasoning_content' is unsupported" } }],
  [
    422,
    { detail: [{ loc: ["body", "messages", 2, "assistant", "reasoning"], msg: "Extra inputs are not permitted" }] },
  ],
])("a server that refuses reasoning gets none: %i %j", async (status, body) => {
  const field = JSON.stringify(body).includes("reasoning_content") ? "reasoning_content" : "reasoning";
  const wire = delta({ [field]: "hm" }) + delta({ tool_calls: [call] }) + delta({}, "tool_calls");
  server.answer = (n) => (n === 1 ? Response.json(body, { status }) : sse([n === 0 ? wire : says("done")]));
  const model = await open("openrouter:x/y");
  const asked = goOn(await take(model, quiet, { ...request, tools }));
  expect((await take(model, quiet, asked)).text).toBe("done");
  expect(server.seen.slice(1).map((seen) => field in replyIn(seen.body))).toEqual([true, false]);
});

describe("Ollama", () => {
  beforeEach(() => {
    server.about = ollama;
  });

  test("gets back what its model thought", async () => {
    const first =
      line({ message: { role: "assistant", content: "", thinking: "let me see" }, done: false }) +
      line({
        message: { role: "assistant", content: "", tool_calls: [{ function: { name: "read", arguments: {} } }] },
      }) +
      line({ message: { role: "assistant", content: "" }, done: true, done_reason: "stop" });
    const last = line({ message: { role: "assistant", content: "done" }, done: true, done_reason: "stop" });
    const ndjson = { headers: { "content-type": "application/x-ndjson" } };
    server.answer = (n) => new Response(n === 0 ? first : last, ndjson);
    const model = await open("local:qwen3:8b");
    const asked = goOn(await take(model, quiet, { ...request, tools }));
    expect((await take(model, quiet, asked)).text).toBe("done");
    expect(replyIn(server.seen[1]?.body)).toMatchObject({ thinking: "let me see", tool_calls: [{}] });
  });
});
