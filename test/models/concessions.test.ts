/** A request whose server refuses a part of it by name is made again without that part, and only that. */
import { describe, expect, test } from "bun:test";
import type { ModelRequest } from "../../src/core/model.ts";
import { type OpenOptions, openModel } from "../../src/models/open.ts";
import { says as anthropicSays } from "./anthropic/anthropic-wire.ts";
import { says as chatSays } from "./chat/chat-wire.ts";
import { event, says as geminiSays } from "./gemini/gemini-wire.ts";
import { request as bare, options, quiet, sse, take, useServer } from "./loopback.ts";
import { says as openaiSays } from "./openai/openai-wire.ts";

/** A whole reply of each wire. */
const replies: Readonly<Record<string, () => string>> = {
  gemini: () => event(geminiSays("{}", "STOP")),
  openai: () => openaiSays("{}"),
  anthropic: () => anthropicSays("{}"),
  openrouter: () => chatSays("{}"),
};

const server = useServer();

async function open(id: string, over: Partial<OpenOptions> = {}) {
  const version = id.startsWith("openai") || id.startsWith("openrouter") ? "/v1" : "";
  return openModel(options({ id, baseUrl: server.origin + version, ...over }));
}

interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

/** A refusal in the words of the server of this model. */
function refusal(id: string, message: string, { status = 400, param = null as string | null } = {}): Refusal {
  const type = "invalid_request_error";
  if (id.startsWith("gemini"))
    return { status, body: { error: { code: status, message, status: "INVALID_ARGUMENT" } } };
  if (id.startsWith("anthropic")) return { status, body: { type: "error", error: { type, message } } };
  if (status !== 400) return { status, body: { error: { message, code: status } } };
  return { status, body: { error: { message, type, param, code: "unsupported_parameter" } } };
}

/** Answers with these refusals first, then with replies. */
function refuseWith(id: string, ...refusals: readonly Refusal[]): void {
  const reply = replies[id.split(":")[0] ?? ""] ?? (() => "");
  server.answer = (n) => {
    const refused = refusals[n];
    return refused === undefined ? sse([reply()]) : Response.json(refused.body, { status: refused.status });
  };
}

const [google, gemma, gpt] = ["gemini:gemini-2.5-flash", "gemini:gemma-3-27b-it", "openai:gpt-4.1"] as const;
const [gpt5, claude, router] = ["openai:gpt-5", "anthropic:claude-haiku-4-5", "openrouter:x/y"] as const;

const tools = [{ name: "read", description: "reads", schema: { type: "object" } }];
const request = { ...bare, temperature: 0.3 };
const format = { name: "plan", schema: { type: "object", properties: {}, required: [] } };

test("no server is told a temperature that the user did not set", async () => {
  for (const id of [google, gpt, claude, router]) {
    refuseWith(id);
    await take(await open(id));
    await take(await open(id), quiet, request);
  }
  const sent = server.seen.map(({ body }) => JSON.stringify(body).includes('"temperature":0.3'));
  expect(sent).toEqual([false, true, false, true, false, true, false, true]);
});

describe("what was refused is left out, said once, and asked for no more", () => {
  test.each([
    [google, "Invalid value at 'generation_config.temperature'", "temperature", "temperature"],
    [gemma, "JSON mode is not enabled for models/gemma-3-27b-it", "responseJsonSchema", "JSON schema"],
    [gpt, "Unsupported parameter: 'temperature'", "temperature", "temperature"],
    [claude, "output_config.format is not supported", "output_config", "JSON schema"],
    [claude, "temperature: Extra inputs", "temperature", "temperature"],
    [gpt5, "Unknown parameter: 'prompt_cache_key'", "prompt_cache_key", "key for its cache"],
    [router, "Unknown parameter: 'stream_options'", "stream_options", "count of tokens in its stream"],
  ])("%s refuses with: %s", async (id, message, field, told) => {
    refuseWith(id, refusal(id, message));
    const notices: string[] = [];
    const model = await open(id, { notify: ({ text }) => notices.push(text) });
    for (const _ of [1, 2]) expect((await take(model, quiet, { ...request, format, tools })).text).toBe("{}");
    expect(server.seen.map(({ body }) => JSON.stringify(body).includes(`"${field}"`))).toEqual([true, false, false]);
    expect(notices).toEqual([`${id.replace(/^\w+:/, "")} takes no ${told}: asked without it`]);
  });
});

describe("a reply that may not be so long is asked for in the length that the server names", () => {
  const lengths: Readonly<Record<string, readonly [id: string, most: number, status?: number]>> = {
    "max_tokens is too large: 16384. This model supports at most 4096 completion tokens.": [router, 4096],
    "This request requires more credits, or fewer max_tokens. You requested up to 16384 tokens, but can only afford 1234.":
      [router, 1234, 402],
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]": [router, 8192],
    "`max_tokens` must be less than or equal to `8192`": [router, 8192],
    "This model's maximum context length is 16384 tokens. However, you requested 17384 tokens (1000 in the messages, 16384 in the completion).":
      [router, 15_384],
    "Request too large for x on tokens per min (TPM): Limit 15,000, Requested 17,384.": [router, 14_000, 429],
    "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for claude": [claude, 8192],
    "it has a maxOutputTokens value of 16384 but the supported range is from 1 (inclusive) to 8193 (exclusive)": [
      google,
      8192,
    ],
  };
  test.each(Object.entries(lengths))("%s", async (message, [id, most, status = 400]) => {
    refuseWith(id, refusal(id, message, { status }));
    const notices: string[] = [];
    const model = await open(id, { notify: ({ text }) => notices.push(text) });
    const long = { ...request, maxOutputTokens: 16_384 };
    for (const _ of [1, 2]) expect((await take(model, quiet, long)).text).toBe("{}");
    const lengthOf = (body: unknown) => /"max_?(?:output)?_?tokens":(\d+)/i.exec(JSON.stringify(body))?.[1];
    expect(server.seen.map(({ body }) => Number(lengthOf(body)))).toEqual([16_384, most, most]);
    expect(notices).toEqual([`${id.replace(/^\w+:/, "")} gives at most ${most} tokens here: asked for no more`]);
  });

  test("not where the length is too short for a reply", async () => {
    const why = "This request requires more credits, or fewer max_tokens: can only afford 12.";
    refuseWith(router, refusal(router, why, { status: 402 }));
    const { error } = await take(await open(router), quiet, request);
    expect([error?.code, server.seen.length]).toEqual(["credit_exhausted", 1]);
  });

  test("under the name that the server has for it", async () => {
    const why =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    const larger = "max_completion_tokens is too large: 1000. It supports at most 500 tokens.";
    refuseWith(router, refusal(router, why), refusal(router, larger));
    expect((await take(await open(router))).text).toBe("{}");
    expect(server.seen.map(({ body }) => body)).toMatchObject([
      { max_tokens: 1000 },
      { max_completion_tokens: 1000 },
      { max_completion_tokens: 500 },
    ]);
    expect(server.seen[2]?.body).not.toHaveProperty("max_tokens");
  });
});

const whole: Readonly<Record<string, unknown>> = {
  openai: {
    object: "response",
    status: "completed",
    model: "gpt-5",
    output: [{ type: "message", content: [{ type: "output_text", text: "{}" }] }],
  },
  openrouter: {
    object: "chat.completion",
    choices: [{ message: { role: "assistant", content: "{}" }, finish_reason: "stop" }],
  },
  anthropic: { type: "message", model: "claude", content: [{ type: "text", text: "{}" }], stop_reason: "end_turn" },
};

describe("a server that does not stream is asked for the whole reply", () => {
  const verify =
    "Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general";
  test.each([
    [gpt5, verify, "stream"],
    [router, "Streaming is not supported by this model", null],
    [claude, "stream: streaming is not allowed here", null],
  ])("%s %s", async (id, message, param) => {
    const answer = Response.json(whole[id.split(":")[0] ?? ""]);
    const { body, status } = refusal(id, message, { param });
    server.answer = (n) => (n === 0 ? Response.json(body, { status }) : (answer.clone() as Response));
    const notices: string[] = [];
    const model = await open(id, { notify: ({ text }) => notices.push(text) });
    const { text, done } = await take(model);
    expect([text, done?.stop]).toEqual(["{}", "end"]);
    expect(server.seen.map(({ body }) => (body as { readonly stream?: boolean }).stream)).toEqual([true, false]);
    expect(notices.join()).toEndWith("streams no reply here: shown once it is whole");
  });
});

describe("a server that takes no system instructions gets them in the first message", () => {
  test.each([
    [gemma, "Developer instruction is not enabled for models/gemma-3-27b-it", 400],
    [router, "Unsupported value: 'messages[0].role' does not support 'system' with this model.", 400],
    [router, "System role not supported", 500],
    [router, "Only user and assistant roles are supported!", 400],
  ])("%s %s", async (id, message, status) => {
    refuseWith(id, refusal(id, message, { status }));
    const model = await open(id);
    for (const _ of [1, 2]) expect((await take(model)).text).toBe("{}");
    const bodies = server.seen.map(({ body }) => JSON.stringify(body));
    expect(bodies.map((body) => /"system/.test(body))).toEqual([true, false, false]);
    expect(bodies.every((body) => body.includes("You are a test."))).toBe(true);
    expect(bodies[2]).toContain("You are a test.\\n\\nsay hello");
  });
});

test("several refusals of one call are answered one after the other, for every key of the model", async () => {
  const [first, second] = ["Unsupported parameter: 'temperature'", "text.format is not supported"];
  refuseWith(gpt, refusal(gpt, first), refusal(gpt, second));
  const keys = ["a", "b"].map((key) => ({ id: key, key: `sk-${key.repeat(30)}` }));
  const model = await open(gpt, { keys });
  for (const _ of [1, 2]) expect((await take(model, quiet, { ...request, format })).text).toBe("{}");
  const sent = server.seen.map(({ body }) => Object.keys(body as object));
  expect(sent.map((names) => [names.includes("temperature"), names.includes("text")])).toEqual([
    [true, true],
    [false, true],
    [false, false],
    [false, false],
  ]);
  expect(new Set(server.seen.map(({ headers }) => headers.get("authorization"))).size).toBe(2);
});

test("of two requests at once, both go on after the first refusal, which is told once", async () => {
  server.answer = (n) => {
    const isRefused = JSON.stringify(server.seen[n]?.body).includes("temperature");
    const { status, body } = refusal(gpt, "Unsupported parameter: 'temperature'");
    return isRefused ? Response.json(body, { status }) : sse([openaiSays("{}")]);
  };
  const notices: string[] = [];
  const model = await open(gpt, { notify: ({ text }) => notices.push(text) });
  const both = await Promise.all([1, 2].map(() => take(model, quiet, request)));
  expect(both.map(({ text }) => text)).toEqual(["{}", "{}"]);
  expect([server.seen.length, notices.length]).toEqual([4, 1]);
});

test("a refusal that nothing can answer is the error, without another request", async () => {
  refuseWith(gpt, refusal(gpt, "text.format is not supported"));
  const { error } = await take(await open(gpt), quiet, request);
  expect([error?.code, server.seen.length]).toEqual(["request_rejected", 1]);
});

test("reasoning that was refused stays away; that of later replies goes back", async () => {
  const id = "anthropic:claude-opus-5-5";
  const why = "messages.1.content.0: Invalid `signature` in `thinking` block. It is bound to a different conversation.";
  refuseWith(id, refusal(id, why));
  const model = await open(id);
  const reply = (signature: string): ModelRequest["messages"][number] => ({
    role: "assistant",
    text: "so",
    calls: [],
    native: { model: id, content: { blocks: [{ type: "thinking", thinking: "", signature }] } },
  });
  const user = { role: "user", text: "go on" } as const;
  const first = [user, reply("OLD"), user];
  expect((await take(model, quiet, { ...request, messages: first })).text).toBe("{}");
  expect((await take(model, quiet, { ...request, messages: [...first, reply("NEW"), user] })).text).toBe("{}");
  const bodies = server.seen.map(({ body }) => JSON.stringify(body));
  expect(bodies.map((body) => [body.includes("OLD"), body.includes("NEW")])).toEqual([
    [true, false],
    [false, false],
    [false, true],
  ]);
});
