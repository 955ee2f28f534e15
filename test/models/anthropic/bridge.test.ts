/** The Anthropic bridge: the contract, and what is Anthropic's own. */
import { describe, expect, test } from "bun:test";
import type { ModelRequest } from "../../../src/core/model.ts";
import { encodeAnthropic } from "../../../src/models/anthropic/bridge.ts";
import { type OpenOptions, openModel } from "../../../src/models/open.ts";
import { describeBridge } from "../contract.ts";
import { options, quiet, refusal, request, sse, take, useServer } from "../loopback.ts";
import { begin, block, callBlock, end, event, says, textBlock } from "./anthropic-wire.ts";

const said = begin() + textBlock(0, ["x"]);

const finishes: readonly (readonly [string, string, string])[] = [
  ["end_turn", said + end("end_turn"), "end"],
  ["stop_sequence", said + end("stop_sequence"), "end"],
  ["something new", said + end("something_new"), "end"],
  ["tool_use", begin() + callBlock(0, "read", ["{}"]) + end("tool_use"), "calls"],
  ["max_tokens", said + end("max_tokens"), "length"],
  ["model_context_window_exceeded", said + end("model_context_window_exceeded"), "length"],
  ["pause_turn", said + end("pause_turn"), "length"],
  ["refusal", said + end("refusal"), "reply_blocked"],
  ["max_tokens within a call", begin() + callBlock(0, "write", ['{"path":"a']) + end("max_tokens"), "length"],
  ["a call that is not JSON", begin() + callBlock(0, "write", ['{"path":']) + end("tool_use"), "reply_invalid"],
  ["nothing at all", begin() + end("end_turn"), "reply_empty"],
  ["no closing event", said, "reply_cut"],
  ["no message_stop", said + end("end_turn").replace(/event: message_stop[\s\S]*/, ""), "reply_cut"],
];

describeBridge({
  id: "anthropic:claude-haiku-4-5",
  baseUrl: (origin) => origin,
  keyHeader: (key) => ["x-api-key", key],
  reply: (pieces) => says(...pieces),
  finishes,
});

describe("anthropic", () => {
  const server = useServer();
  const open = (over: Partial<OpenOptions> = {}) =>
    openModel(options({ id: "anthropic:claude-haiku-4-5", baseUrl: server.origin, ...over }));
  const answer = async (...wire: readonly string[]) => {
    server.answer = () => sse(wire);
    return take(await open());
  };
  test("a refusal carries its explanation", async () => {
    const { error } = await answer(begin() + end("refusal", {}, { stop_details: { explanation: "not this" } }));
    expect(error?.message).toContain("not this");
  });

  const errors: readonly (readonly [string, string])[] = [
    ["overloaded_error", "provider_down"],
    ["api_error", "provider_down"],
    ["rate_limit_error", "quota"],
    ["invalid_request_error", "request_rejected"],
    ["authentication_error", "key_rejected"],
  ];
  test.each(errors)("%s in mid-stream is %s, never a reply", async (type, code) => {
    const { error, text } = await answer(said, event({ type: "error", error: { type, message: "busy" } }));
    expect([text, error?.code as string]).toEqual(["x", code]);
  });

  test("counts what came from and went to the cache as input, once; thinking within the output", async () => {
    const counted = { input_tokens: 3, cache_read_input_tokens: 40, cache_creation_input_tokens: 5, output_tokens: 1 };
    const { done } = await answer(
      begin(counted) +
        textBlock(0, ["x"]) +
        end("end_turn", { input_tokens: null, output_tokens: 12, output_tokens_details: { thinking_tokens: 7 } }),
    );
    expect(done).toMatchObject({
      usage: { input: 48, cached: 40, written: 5, output: 12, thought: 7 },
      served: "claude-haiku-4-5-20251001",
    });
  });

  test("thinking with its signature, redacted thinking and calls go back whole, results in one message", async () => {
    const wire =
      begin() +
      block(0, { type: "thinking", thinking: "", signature: "" }, [
        { type: "thinking_delta", thinking: "let me " },
        { type: "thinking_delta", thinking: "see" },
        { type: "signature_delta", signature: "EqQB" },
      ]) +
      block(1, { type: "redacted_thinking", data: "ZZ" }, []) +
      textBlock(2, ["I ", "look"]) +
      callBlock(3, "read", ['{"path"', ':"a"}']) +
      callBlock(4, "tree", [], "toolu_b") +
      end("tool_use");
    const { calls, thoughts, done } = await answer(wire);
    expect(thoughts).toBe("let me see");
    expect(calls).toEqual([
      { id: "toolu_a", name: "read", input: { path: "a" } },
      { id: "toolu_b", name: "tree", input: {} },
    ]);
    const messages: ModelRequest["messages"] = [
      { role: "user", text: "go" },
      { role: "assistant", text: "I look", calls, native: done?.native ?? null },
      {
        role: "tools",
        results: [
          { id: "toolu_a", name: "read", ok: true, text: "content" },
          { id: "toolu_b", name: "tree", ok: false, text: "denied" },
        ],
      },
      { role: "user", text: "and now?" },
    ];
    expect(encodeAnthropic("claude-haiku-4-5", { ...request, messages })["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "go" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "let me see", signature: "EqQB" },
          { type: "redacted_thinking", data: "ZZ" },
          { type: "text", text: "I look" },
          { type: "tool_use", id: "toolu_a", name: "read", input: { path: "a" } },
          { type: "tool_use", id: "toolu_b", name: "tree", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_a", content: "content" },
          { type: "tool_result", tool_use_id: "toolu_b", content: "denied", is_error: true },
          { type: "text", text: "and now?", cache_control: { type: "ephemeral" } },
        ],
      },
    ]);
    const foreign = encodeAnthropic("claude-opus-4-1", { ...request, messages })["messages"];
    expect(JSON.stringify(foreign)).not.toContain("EqQB");
  });

  test("asks with the cache marked on system and conversation, the schema, and limits", async () => {
    const schema = { type: "object", properties: { a: { type: "integer", minimum: 1 } }, required: ["a"] };
    const asked: ModelRequest = {
      ...request,
      temperature: 1.7,
      tools: [{ name: "read", description: "reads", schema }],
      format: { name: "plan", schema },
    };
    server.answer = () => sse([says("{}")]);
    await take(await open(), quiet, asked);
    const { path, headers, body } = server.seen[0] ?? { path: "", headers: new Headers(), body: {} };
    expect([path, headers.get("anthropic-version"), headers.get("authorization")]).toEqual([
      "/v1/messages",
      "2023-06-01",
      null,
    ]);
    const cache_control = { type: "ephemeral" };
    expect(body).toEqual({
      model: "claude-haiku-4-5",
      stream: true,
      max_tokens: 1000,
      system: [{ type: "text", text: "You are a test.", cache_control }],
      messages: [{ role: "user", content: [{ type: "text", text: "say hello", cache_control }] }],
      temperature: 1,
      tools: [{ name: "read", description: "reads", input_schema: schema }],
      tool_choice: { type: "auto" },
      output_config: { format: { type: "json_schema", schema } },
    });
  });

  test("a model that thinks unasked is asked to show what; one that refuses it is not", async () => {
    const shown = { type: "adaptive", display: "summarized" };
    for (const model of ["claude-opus-5-5", "claude-haiku-5-5", "claude-fable-5-2", "claude-mythos-5"])
      expect(encodeAnthropic(model, request)["thinking"]).toEqual(shown);
    for (const model of ["claude-3-5-haiku-latest", "claude-sonnet-4-20250514", "claude-opus-4-6", "claude-opus-4-8"])
      expect("thinking" in encodeAnthropic(model, request)).toBe(false);
    const message = "adaptive thinking is not supported on this model";
    server.answer = (n) => (n === 0 ? refusal({ type: "invalid_request_error", message }) : sse([says("x")]));
    expect((await take(await open({ id: "anthropic:of-a-gateway" }))).text).toBe("x");
    expect(server.seen.map(({ body }) => "thinking" in (body as object))).toEqual([true, false]);
  });

  test("an effort says how to think, also not at all, in place of the model's own way", async () => {
    server.answer = () => sse([says("x")]);
    const model = await open({ id: "anthropic:claude-haiku-5-5" });
    for (const effort of ["none", "high", null] as const) await take(model, quiet, { ...request, effort });
    const shown = { type: "adaptive", display: "summarized" };
    expect(server.seen.map(({ body }) => (body as { readonly thinking?: unknown }).thinking)).toEqual([
      { type: "disabled" },
      shown,
      shown,
    ]);
  });
});
