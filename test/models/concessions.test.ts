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

type Refusal = { readonly status: number; readonly body: unknown };

/** Answers with these refusals first, then with replies. */
function refuseWith(id: string, ...refusals: readonly Refusal[]): void {
  const reply = replies[id.split(":")[0] ?? ""] ?? (() => "");
  server.answer = (n) => {
    const refusal = refusals[n];
    return refusal === undefined ? sse([reply()]) : Response.json(refusal.body, { status: refusal.status });
  };
}

const refused = (error: object, status = 400): Refusal => ({ status, body: { type: "error", error } });
const google = (message: string) => refused({ code: 400, message, status: "INVALID_ARGUMENT" });
const openai = (message: string, param: string | null = null) =>
  refused({ message, type: "invalid_request_error", param, code: "unsupported_parameter" });
const anthropic = (message: string) => refused({ type: "invalid_request_error", message });

const tools = [{ name: "read", description: "reads", schema: { type: "object" } }];
const request = { ...bare, temperature: 0.3 };
const format = { name: "plan", schema: { type: "object", properties: {}, required: [] } };

test("no server is told a temperature that the user did not set", async () => {
  for (const id of ["gemini:gemini-2.5-flash", "openai:gpt-4.1", "anthropic:claude-haiku-4-5", "openrouter:x/y"]) {
    refuseWith(id);
    await take(await open(id));
    await take(await open(id), quiet, request);
  }
  const sent = server.seen.map(({ body }) => JSON.stringify(body).includes('"temperature":0.3'));
  expect(sent).toEqual([false, true, false, true, false, true, false, true]);
});

describe("what was refused is left out, said once, and asked for no more", () => {
  const temperature = "takes no temperature: asked without it";
  const schema = "takes no JSON schema: asked without it";
  const rows: readonly (readonly [string, Refusal, string, string])[] = [
    ["gemini:gemini-2.5-flash", google("Invalid value at 'generation_config.temperature'"), "temperature", temperature],
    [
      "gemini:gemma-3-27b-it",
      google("JSON mode is not enabled for models/gemma-3-27b-it"),
      "responseJsonSchema",
      schema,
    ],
    ["openai:gpt-4.1", openai("Unsupported parameter: 'temperature'"), "temperature", temperature],
    ["anthropic:claude-haiku-4-5", anthropic("output_config.format is not supported"), "output_config", schema],
    ["anthropic:claude-haiku-4-5", anthropic("temperature: Extra inputs"), "temperature", temperature],
    [
      "openai:gpt-5",
      openai("Unknown parameter: 'prompt_cache_key'"),
      "prompt_cache_key",
      "takes no key for its cache: asked without it",
    ],
    [
      "openrouter:x/y",
      openai("Unknown parameter: 'stream_options'"),
      "stream_options",
      "takes no count of tokens in its stream: asked without it",
    ],
  ];
  test.each(rows)("%s refuses with %j", async (id, refusal, field, told) => {
    refuseWith(id, refusal);
    const notices: string[] = [];
    const model = await open(id, { notify: ({ text }) => notices.push(text) });
    for (const _ of [1, 2]) expect((await take(model, quiet, { ...request, format, tools })).text).toBe("{}");
    expect(server.seen.map(({ body }) => JSON.stringify(body).includes(`"${field}"`))).toEqual([true, false, false]);
    expect(notices).toEqual([`${id.replace(/^\w+:/, "")} ${told}`]);
  });
});

describe("a reply that may not be so long is asked for in the length that the server names", () => {
  const openrouter = (status: number, message: string) => refused({ message, code: status }, status);
  const rows: readonly (readonly [string, Refusal, number])[] = [
    [
      "openrouter:x/y",
      openai("max_tokens is too large: 16384. This model supports at most 4096 completion tokens."),
      4096,
    ],
    [
      "openrouter:x/y",
      openrouter(
        402,
        "This request requires more credits, or fewer max_tokens. You requested up to 16384 tokens, but can only afford 1234.",
      ),
      1234,
    ],
    ["openrouter:x/y", openai("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), 8192],
    ["openrouter:x/y", openai("`max_tokens` must be less than or equal to `8192`"), 8192],
    [
      "openrouter:x/y",
      openai(
        "This model's maximum context length is 16384 tokens. However, you requested 17384 tokens (1000 in the messages, 16384 in the completion).",
      ),
      15_384,
    ],
    [
      "openrouter:x/y",
      openrouter(429, "Request too large for x on tokens per min (TPM): Limit 15,000, Requested 17,384."),
      14_000,
    ],
    [
      "anthropic:claude-haiku-4-5",
      anthropic("max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for claude"),
      8192,
    ],
    [
      "gemini:gemini-2.5-flash",
      google(
        "it has a maxOutputTokens value of 16384 but the supported range is from 1 (inclusive) to 8193 (exclusive)",
      ),
      8192,
    ],
  ];
  test.each(rows)("%s says %j", async (id, refusal, most) => {
    refuseWith(id, refusal);
    const notices: string[] = [];
    const model = await open(id, { notify: ({ text }) => notices.push(text) });
    const long = { ...request, maxOutputTokens: 16_384 };
    for (const _ of [1, 2]) expect((await take(model, quiet, long)).text).toBe("{}");
    const lengthOf = (body: unknown) => /"max_?(?:output)?_?tokens":(\d+)/i.exec(JSON.stringify(body))?.[1];
    expect(server.seen.map(({ body }) => Number(lengthOf(body)))).toEqual([16_384, most, most]);
    expect(notices).toEqual([`${id.replace(/^\w+:/, "")} gives at most ${most} tokens here: asked for no more`]);
  });

  test("not where the length is too short for a reply", async () => {
    const id = "openrouter:x/y";
    refuseWith(id, openrouter(402, "This request requires more credits, or fewer max_tokens: can only afford 12."));
    const { error } = await take(await open(id), quiet, request);
    expect([error?.code, server.seen.length]).toEqual(["credit_exhausted", 1]);
  });

  test("under the name that the server has for it", async () => {
    const id = "openrouter:x/y";
    const why =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    refuseWith(id, openai(why), openai("max_completion_tokens is too large: 1000. It supports at most 500 tokens."));
    expect((await take(await open(id))).text).toBe("{}");
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
  const rows: readonly (readonly [string, Refusal])[] = [
    ["openai:gpt-5", openai(verify, "stream")],
    ["openrouter:x/y", openai("Streaming is not supported by this model")],
    ["anthropic:claude-haiku-4-5", anthropic("stream: streaming is not allowed here")],
  ];
  test.each(rows)("%s %j", async (id, refusal) => {
    const answer = Response.json(whole[id.split(":")[0] ?? ""]);
    server.answer = (n) =>
      n === 0 ? Response.json(refusal.body, { status: refusal.status }) : (answer.clone() as Response);
    const notices: string[] = [];
    const model = await open(id, { notify: ({ text }) => notices.push(text) });
    const { text, done } = await take(model);
    expect([text, done?.stop]).toEqual(["{}", "end"]);
    expect(server.seen.map(({ body }) => (body as { readonly stream?: boolean }).stream)).toEqual([true, false]);
    expect(notices.join()).toEndWith("streams no reply here: shown once it is whole");
  });
});

describe("a server that takes no system instructions gets them in the first message", () => {
  const rows: readonly (readonly [string, Refusal])[] = [
    ["gemini:gemma-3-27b-it", google("Developer instruction is not enabled for models/gemma-3-27b-it")],
    ["openrouter:x/y", openai("Unsupported value: 'messages[0].role' does not support 'system' with this model.")],
    ["openrouter:x/y", refused({ code: 500, message: "System role not supported" }, 500)],
    ["openrouter:x/y", openai("Only user and assistant roles are supported!")],
  ];
  test.each(rows)("%s %j", async (id, refusal) => {
    refuseWith(id, refusal);
    const model = await open(id);
    for (const _ of [1, 2]) expect((await take(model)).text).toBe("{}");
    const bodies = server.seen.map(({ body }) => JSON.stringify(body));
    expect(bodies.map((body) => /"system/.test(body))).toEqual([true, false, false]);
    expect(bodies.every((body) => body.includes("You are a test."))).toBe(true);
    expect(bodies[2]).toContain("You are a test.\\n\\nsay hello");
  });
});

test("several refusals of one call are answered one after the other, for every key of the model", async () => {
  const id = "openai:gpt-4.1";
  refuseWith(id, openai("Unsupported parameter: 'temperature'"), openai("text.format is not supported"));
  const keys = ["a", "b"].map((key) => ({ id: key, key: `sk-${key.repeat(30)}` }));
  const model = await open(id, { keys });
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
    const { status, body } = openai("Unsupported parameter: 'temperature'");
    return isRefused ? Response.json(body, { status }) : sse([openaiSays("{}")]);
  };
  const notices: string[] = [];
  const model = await open("openai:gpt-4.1", { notify: ({ text }) => notices.push(text) });
  const both = await Promise.all([1, 2].map(() => take(model, quiet, request)));
  expect(both.map(({ text }) => text)).toEqual(["{}", "{}"]);
  expect([server.seen.length, notices.length]).toEqual([4, 1]);
});

test("a refusal that nothing can answer is the error, without another request", async () => {
  const id = "openai:gpt-4.1";
  refuseWith(id, openai("text.format is not supported"), openai("your temperature is not the reason"));
  const { error } = await take(await open(id), quiet, request);
  expect([error?.code, server.seen.length]).toEqual(["request_rejected", 1]);
});

test("reasoning that was refused stays away; that of later replies goes back", async () => {
  const id = "anthropic:claude-opus-5-5";
  const why = "messages.1.content.0: Invalid `signature` in `thinking` block. It is bound to a different conversation.";
  refuseWith(id, anthropic(why));
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
