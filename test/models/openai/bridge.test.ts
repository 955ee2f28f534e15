/** The OpenAI bridge: the contract, and what is OpenAI's own. */
import { describe, expect, test } from "bun:test";
import type { ModelRequest } from "../../../src/core/model.ts";
import { type OpenOptions, openModel } from "../../../src/models/open.ts";
import { encodeOpenai } from "../../../src/models/openai/bridge.ts";
import { describeBridge } from "../contract.ts";
import { conversation, options, quiet, refusal, request, sse, take, useServer } from "../loopback.ts";
import { call, event, message, reply, says } from "./openai-wire.ts";

const incomplete = (reason: string) => ({ last: { status: "incomplete", incomplete_details: { reason } } });
const cut = (reason: string) => reply([message("x")], { ...incomplete(reason), pieces: ["x"] });
const cutCall = { ...call("write", '{"path":"a'), status: "incomplete" };
const failed = (code: string) => event({ type: "error", code, message: "no", param: null });

const finishes: readonly (readonly [string, string, string])[] = [
  ["completed", says("x"), "end"],
  ["completed with a call", reply([call("read", "{}")]), "calls"],
  ["incomplete: max_output_tokens", cut("max_output_tokens"), "length"],
  ["incomplete: something new", cut("something_new"), "length"],
  ["incomplete: content_filter", reply([], incomplete("content_filter")), "reply_blocked"],
  ["a cut call", reply([cutCall], incomplete("max_output_tokens")), "length"],
  ["a call that is not JSON", reply([call("write", '{"path":')]), "reply_invalid"],
  ["nothing at all", reply([]), "reply_empty"],
  ["no closing event", says("x").replace(/event: response.completed[\s\S]*/, ""), "reply_cut"],
  ["an error event", failed("invalid_prompt"), "request_rejected"],
  ["an error event of the server", failed("server_error"), "provider_down"],
];
describeBridge({
  id: "openai:gpt-5",
  baseUrl: (origin) => `${origin}/v1`,
  keyHeader: (key) => ["authorization", `Bearer ${key}`],
  reply: (pieces) => says(...pieces),
  finishes,
});

describe("openai", () => {
  const server = useServer();
  const open = (over: Partial<OpenOptions> = {}) =>
    openModel(options({ id: "openai:gpt-5", baseUrl: `${server.origin}/v1`, ...over }));
  const answer = async (...wire: readonly string[]) => {
    server.answer = () => sse(wire);
    return take(await open());
  };

  const failures: readonly (readonly [string, string])[] = [
    ["server_error", "provider_down"],
    ["rate_limit_exceeded", "quota"],
    ["insufficient_quota", "credit_exhausted"],
    ["invalid_prompt", "request_rejected"],
    ["bio_policy", "reply_blocked"],
  ];
  test.each(failures)("response.failed with %s in mid-stream is %s", async (code, end) => {
    const { error, text } = await answer(
      event({ type: "response.output_text.delta", delta: "half" }),
      event({ type: "response.failed", response: { status: "failed", error: { code, message: "why" } } }),
    );
    expect([text, error?.code as string]).toEqual(["half", end]);
    expect(error?.message).toContain("why");
    expect(server.seen.length).toBe(1);
  });

  test("a refusal is a refusal, with its words", async () => {
    const { error } = await answer(
      event({ type: "response.refusal.delta", delta: "I will" }),
      event({ type: "response.refusal.done", refusal: "I will not" }),
      reply([{ type: "message", content: [{ type: "refusal", refusal: "I will not" }] }]),
    );
    expect(error).toMatchObject({ code: "reply_blocked" });
    expect(error?.message).toContain("I will not");
  });

  test("an event that a gateway sends twice counts once; without numbers of their own all count", async () => {
    const piece = (delta: string, sequence?: number) =>
      event({
        type: "response.output_text.delta",
        delta,
        ...(sequence !== undefined && { sequence_number: sequence }),
      });
    const end = reply([], {});
    const twice = await answer(piece("ha", 4) + piece("ha", 4) + piece("ha", 5) + piece("!", 6) + piece("ha", 5), end);
    expect(twice.text).toBe("haha!");
    const early = await answer(piece("a", 1) + piece("c", 3) + piece("b", 2) + piece("c", 3) + piece("a", 1), end);
    expect(early.text).toBe("acb");
    const unnumbered = await answer(piece("ha") + piece("ha") + piece("ha", 0) + piece("ha", 0), end);
    expect(unnumbered.text).toBe("hahahaha");
  });

  test("counts tokens from and to the cache within the input, reasoning within the output, once; names who served", async () => {
    const { done } = await answer(says("x"));
    const served = "gpt-5-2025-08-07";
    expect(done).toMatchObject({ usage: { input: 10, cached: 4, output: 12, thought: 7 }, served });
    const input_tokens_details = { cached_tokens: 4, cache_write_tokens: 5 };
    const usage = { input_tokens: 10, input_tokens_details, output_tokens: 1 };
    const written = await answer(reply([message("x")], { last: { usage }, pieces: ["x"] }));
    expect(written.done?.usage).toEqual({ input: 10, cached: 4, written: 5, output: 1, thought: 0 });
  });

  test("reads a reply that was never streamed, from its closing event", async () => {
    const output = [message("whole"), call("read", '{"path":"a"}')];
    const { text, done } = await answer(
      event({ type: "response.completed", response: { status: "completed", output } }),
    );
    expect([text, done?.stop]).toEqual(["whole", "calls"]);
  });

  test("shows the summary of its reasoning as thought and sends the encrypted whole back", async () => {
    const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" };
    const { calls, thoughts, done } = await answer(
      event({ type: "response.reasoning_summary_text.delta", delta: "hm" }),
      reply([thought, call("read", '{"path":"a"}')]),
    );
    expect(thoughts).toBe("hm");
    const messages = conversation(calls, done?.native ?? null, "gone", false);
    expect(encodeOpenai("gpt-5", { ...request, messages })["input"]).toEqual([
      { role: "user", content: "go" },
      thought,
      call("read", '{"path":"a"}'),
      { type: "function_call_output", call_id: "call_a", output: "error: gone" },
    ]);
    expect(encodeOpenai("gpt-4.1", { ...request, messages })["input"]).toEqual([
      { role: "user", content: "go" },
      { type: "function_call", call_id: "call_a", name: "read", arguments: '{"path":"a"}' },
      { type: "function_call_output", call_id: "call_a", output: "error: gone" },
    ]);
  });

  describe("the second call of a loop", () => {
    const bare = { type: "reasoning", id: "rs_1", summary: [] };
    const made = call("read", '{"path":"a"}');
    const inputOf = (n: number) => {
      const body = server.seen.at(n)?.body as { readonly input: readonly object[] } | undefined;
      return body?.input ?? [];
    };
    /** Refuses an item whose id belongs to a reasoning that is not there, as OpenAI does. */
    const loop = async (id: string, first: string) => {
      server.answer = (n) => {
        const input = inputOf(n) as readonly { readonly id?: string; readonly type: string }[];
        const orphan = input.find((item) => item.id?.startsWith("fc_"));
        if (orphan === undefined || input.some(({ type }) => type === "reasoning"))
          return sse([n === 0 ? first : says("done")]);
        const message = `Item '${orphan.id}' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.`;
        return refusal({ message, type: "invalid_request_error", param: "input" });
      };
      const model = await open({ id });
      const { calls, done } = await take(model);
      const messages = conversation(calls, done?.native ?? null);
      const { text } = await take(model, quiet, { ...request, messages });
      return { text, asked: server.seen.length, sent: inputOf(-1).slice(1, -1) };
    };

    const { id: _, ...nameless } = made;
    const whole = { ...bare, encrypted_content: "gAAA" };
    const late = reply([bare, made], { last: { output: [whole, made] } });
    test.each<[string, string, string, object[]]>([
      ["no ids where the reasoning came without its content", "openai:gpt-5", reply([bare, made]), [nameless]],
      ["no ids there at an unknown model, too", "openai:my-deployment", reply([bare, made]), [nameless]],
      ["the reasoning whose content came only at the end", "openai:my-deployment", late, [whole, made]],
      ["the items that no end repeats", "openai:gpt-5", reply([whole, made], { last: { output: [] } }), [whole, made]],
    ])("has %s", async (_what, id, wire, sent) => {
      expect(await loop(id, wire)).toEqual({ text: "done", asked: 2, sent });
    });
  });

  test("reasoning that cannot be read any more stays away from then on, calls and results do not", async () => {
    const error = { message: "The encrypted content gAAA could not be verified.", code: "invalid_encrypted_content" };
    server.answer = (n) => (n === 0 ? refusal(error) : sse([says("x")]));
    const made = { id: "call_a", name: "read", input: { path: "a" } };
    const items = [
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" },
      call("read", JSON.stringify(made.input)),
    ];
    const messages = conversation([made], { model: "openai:gpt-5", content: { items } });
    const model = await open();
    for (const _ of [1, 2]) expect((await take(model, quiet, { ...request, messages })).text).toBe("x");
    const bodies = server.seen.map(({ body }) => JSON.stringify(body));
    expect(bodies.map((body) => body.includes("gAAA"))).toEqual([true, false, false]);
    expect(bodies.every((body) => body.includes("call_a"))).toBe(true);
  });

  test("asks for nothing to be stored, with the strict schema, tools and limits", async () => {
    const schema = { $schema: "x", type: "object", properties: { a: { type: "string" } }, required: [] };
    const asked: ModelRequest = {
      ...request,
      tools: [{ name: "read", description: "reads", schema }],
      format: { name: "plan", schema },
    };
    server.answer = () => sse([says("{}")]);
    await take(await open(), quiet, asked);
    const { path, body } = server.seen[0] ?? { path: "", body: {} };
    expect(path).toBe("/v1/responses");
    expect(body).toEqual({
      model: "gpt-5",
      stream: true,
      store: false,
      instructions: "You are a test.",
      input: [{ role: "user", content: "say hello" }],
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: expect.stringMatching(/^[0-9a-f]{32}$/),
      tools: [{ type: "function", name: "read", description: "reads", parameters: schema, strict: false }],
      tool_choice: "auto",
      text: { format: { type: "json_schema", name: "plan", strict: true, schema } },
    });
  });

  test("is told how long a reply may be only where the user or the window caps it: it counts as used", () => {
    expect("max_output_tokens" in encodeOpenai("gpt-4.1", request)).toBe(false);
    expect(encodeOpenai("gpt-4.1", { ...request, isCapped: true })["max_output_tokens"]).toBe(1000);
  });

  test("all requests of a loop have one key for the cache, those of another loop another", () => {
    const tools = [{ name: "read", description: "reads", schema: {} }];
    const keyOf = (...texts: readonly string[]) => {
      const messages = texts.map((text) => ({ role: "user", text }) as const);
      return encodeOpenai("gpt-5", { ...request, tools, messages })["prompt_cache_key"];
    };
    expect(keyOf("go", "on")).toBe(keyOf("go") as string);
    expect(keyOf("stop")).not.toBe(keyOf("go") as string);
  });

  test("a model is asked for its reasoning unless it is known to think of nothing", () => {
    const asked = (model: string) => "include" in encodeOpenai(model, request);
    expect(["gpt-4.1", "gpt-4o", "gpt-5-chat-latest"].filter(asked)).toEqual([]);
    const thinking = ["gpt-5-mini", "o3-mini", "my-deployment", "openai.gpt-5.5", "gpt-oss-120b"];
    expect(thinking.filter(asked)).toEqual(thinking);
  });
});
