/** Providers that speak Chat Completions and are no more than a row: the contract, and what each wants otherwise. */
import { describe, expect, test } from "bun:test";
import type { ModelRequest } from "../../../src/core/model.ts";
import { openModel } from "../../../src/models/open.ts";
import { describeBridge } from "../contract.ts";
import { conversation, options, quiet, request, sse, take, useServer } from "../loopback.ts";
import { delta, event, says } from "./chat-wire.ts";

describeBridge({
  id: "openrouter:anthropic/claude-sonnet-4.5:free",
  baseUrl: (origin) => `${origin}/v1`,
  keyHeader: (key) => ["authorization", `Bearer ${key}`],
  reply: (pieces) => says(...pieces),
});

describe("chat completions", () => {
  const server = useServer();
  const schema = { $schema: "x", type: "object", properties: { a: { type: "string" } }, required: [] };
  const { $schema: _, ...plain } = schema;
  const asked: ModelRequest = {
    ...request,
    tools: [{ name: "read", description: "reads", schema }],
    format: { name: "plan", schema: plain },
  };
  const open = (id: string) => openModel(options({ id, baseUrl: `${server.origin}/v1` }));
  const ask = async (id: string, question = asked) => {
    server.answer = () => sse([says("{}")]);
    const taken = await take(await open(id), quiet, question);
    return { ...taken, body: server.seen.at(-1)?.body as { readonly [key: string]: unknown } };
  };
  const body = {
    stream: true,
    messages: [
      { role: "system", content: "You are a test." },
      { role: "user", content: "say hello" },
    ],
    max_tokens: 1000,
    tools: [{ type: "function", function: { name: "read", description: "reads", parameters: plain } }],
    response_format: { type: "json_schema", json_schema: { name: "plan", strict: true, schema: plain } },
  };

  test("OpenRouter gets what OpenAI's own server would, and the name of the model with its maker and variant", async () => {
    const { body: sent } = await ask("openrouter:z-ai/glm-5:free");
    expect(server.seen[0]?.path).toBe("/v1/chat/completions");
    expect(sent).toEqual({ ...body, model: "z-ai/glm-5:free", stream_options: { include_usage: true } });
  });

  test("OpenRouter learns who asks", async () => {
    await ask("openrouter:x/y");
    const { headers } = server.seen[0] ?? { headers: new Headers() };
    expect([headers.get("user-agent"), headers.get("x-title")]).toEqual(["pai/test", "pai"]);
  });

  test("Claude behind OpenRouter caches what is marked: the instructions, and the last message", async () => {
    const call = { id: "c", name: "read", input: {} };
    const [go, reply] = conversation([call], null);
    const results = ["a", "b"].map((id) => ({ id, name: "read", ok: true, text: `content of ${id}` }));
    const messages: ModelRequest["messages"] = [go, reply, { role: "tools", results }];
    const marked = (text: string) => [{ type: "text", text, cache_control: { type: "ephemeral" } }];
    const { body: sent } = await ask("openrouter:anthropic/claude-sonnet-5.5", { ...request, messages });
    expect(sent["messages"]).toMatchObject([
      { role: "system", content: marked("You are a test.") },
      { role: "user", content: "go" },
      { role: "assistant", content: "" },
      { role: "tool", tool_call_id: "a", content: "content of a" },
      { role: "tool", tool_call_id: "b", content: marked("content of b") },
    ]);
    const { body: other } = await ask("openrouter:z-ai/glm-5", { ...request, messages });
    expect(JSON.stringify(other)).not.toContain("cache_control");
  });

  const cached = { prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 5 } };
  const behind = { is_byok: true, cost_details: { upstream_inference_cost: 0.02 } };
  const counts: readonly (readonly [string, object, object, number | undefined])[] = [
    ["OpenRouter", { cost: 0.00125, ...cached }, { cached: 4, written: 5 }, 0.00125],
    ["OpenRouter with a key of the provider behind it", { cost: 0.001, ...behind }, {}, 0.021],
    ["DeepSeek", { prompt_cache_hit_tokens: 6, prompt_cache_miss_tokens: 4 }, { cached: 6 }, undefined],
    ["Moonshot", { cached_tokens: 7 }, { cached: 7 }, undefined],
    ["nonsense", { cost: "free", prompt_cache_hit_tokens: -1 }, {}, undefined],
  ];
  test.each(counts)("counts what %s tells of its cache and charge", async (_who, told, counted, charged) => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, ...told };
    server.answer = () => sse([delta({ content: "x" }, "stop") + event({ choices: [], usage })]);
    const { done } = await take(await open("openrouter:x/y"));
    expect(done?.usage).toEqual({ input: 10, cached: 0, output: 5, thought: 0, ...counted });
    expect(done?.charged).toBe(charged as never);
  });

  test("Mistral is not asked for a count of tokens, which it refuses, and counts all the same", async () => {
    const { body: sent, done, error } = await ask("mistral-large-latest");
    expect(error).toBeNull();
    expect(sent).toEqual({ ...body, model: "mistral-large-latest", prompt_cache_key: expect.any(String) });
    expect(server.seen.length).toBe(1);
    expect(done?.usage).toMatchObject({ input: 10, output: 5 });
  });

  test("a conversation that another provider began has ids and an order that Mistral takes", async () => {
    const call = { id: "call-1-1", name: "read", input: {} };
    const messages = [...conversation([call], null), { role: "user", text: "and now" } as const];
    const sent = (await ask("mistral:devstral-2", { ...request, messages })).body["messages"] as {
      readonly role: string;
      readonly tool_calls?: readonly { readonly id: string }[];
      readonly tool_call_id?: string;
    }[];
    expect(sent.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
    const id = sent[2]?.tool_calls?.[0]?.id ?? "";
    expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(sent[3]?.tool_call_id).toBe(id);
    const other = (await ask("openrouter:x/y", { ...request, messages })).body["messages"] as { role: string }[];
    expect(other.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
  });

  test("thoughts that come as parts of the content are thoughts", async () => {
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "hmm" }] },
      { type: "text", text: "yes" },
    ];
    server.answer = () => sse([delta({ content: parts }) + delta({ content: " sir" }) + delta({}, "stop")]);
    const { events, text } = await take(await open("magistral-medium"));
    expect(events[0]).toEqual({ type: "thought", text: "hmm" });
    expect(text).toBe("yes sir");
  });

  test("an error that OpenRouter passes on in mid-stream is an error with the words of the provider behind it", async () => {
    const failure = { code: 502, message: "Provider returned error" };
    const choices = [{ index: 0, delta: { content: "" }, finish_reason: "error" }];
    const wire = delta({ content: "half" }) + event({ error: failure, choices });
    server.answer = () => sse([wire]);
    const { error, text } = await take(await open("openrouter:a/b"));
    expect(text).toBe("half");
    expect(error).toMatchObject({ code: "provider_down" });
    expect(error?.message).toContain("Provider returned error");
  });
});
