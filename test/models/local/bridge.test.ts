/** The bridge to servers of the user: the contract in both forms, and what small models and their servers really do; how servers are found. */
import { beforeEach, describe, expect, test } from "bun:test";
import type { ModelRequest } from "../../../src/core/model.ts";
import { findServers, renderServer } from "../../../src/models/local/discover.ts";
import { type OpenOptions, openModel } from "../../../src/models/open.ts";
import { delta, done, event, line, ollamaSays, says } from "../chat/chat-wire.ts";
import { describeBridge } from "../contract.ts";
import { listen, ollama, options, quiet, refusal, request, sse, take, useServer } from "../loopback.ts";

const finishes: readonly (readonly [string, string, string])[] = [
  ["stop", delta({ content: "x" }) + delta({}, "stop"), "end"],
  ["stop in the same piece", delta({ content: "x" }, "stop"), "end"],
  ["only [DONE]", delta({ content: "x" }) + done, "end"],
  ["eos_token_found", delta({ content: "x" }, "eos_token_found"), "end"],
  ["length", delta({ content: "x" }, "length"), "length"],
  ["abort", delta({ content: "x" }, "abort"), "length"],
  ["content_filter", delta({ content: "x" }, "content_filter"), "reply_blocked"],
  ["a refusal", delta({ refusal: "no" }, "stop"), "reply_blocked"],
  ["nothing at all", delta({}, "stop") + done, "reply_empty"],
  ["no finish reason", delta({ content: "x" }), "reply_cut"],
  [
    "an error in mid-stream",
    delta({ content: "x" }) + event({ error: { message: "CUDA", code: 500 } }),
    "provider_down",
  ],
  ["an error as text", event({ error: "model is loading" }), "provider_down"],
  [
    "a whole answer, no stream",
    JSON.stringify({ choices: [{ message: { content: "x" }, finish_reason: "stop" }] }),
    "end",
  ],
];

describeBridge({
  id: "local:qwen3-8b",
  baseUrl: (origin) => `${origin}/v1`,
  keyHeader: (key) => ["authorization", `Bearer ${key}`],
  reply: (pieces) => says(...pieces),
  finishes,
});

const lines = (...wire: readonly string[]) =>
  new Response(wire.join(""), { headers: { "content-type": "application/x-ndjson" } });

describe("local", () => {
  const server = useServer();
  const open = (over: Partial<OpenOptions> = {}) =>
    openModel(options({ id: "local:qwen3:8b", keys: [], baseUrl: `${server.origin}/v1`, ...over }));
  const answer = async (wire: string, asked: ModelRequest = request) => {
    server.answer = () => sse([wire]);
    return take(await open(), quiet, asked);
  };
  const tools = ["read", "tree"].map((name) => ({ name, description: name, schema: { type: "object" } }));
  const asked: ModelRequest = { ...request, tools };

  test("does not wait for a connection that stays open behind the end of its reply", async () => {
    server.answer = () => sse([says("x")], { open: true });
    expect((await take(await open())).done).toMatchObject({ stop: "end", usage: { input: 10, output: 5 } });
  });

  test("works without a key and sends none", async () => {
    expect((await answer(says("x"))).done).toMatchObject({ key: null, served: "qwen3-8b" });
    expect(server.seen[0]?.headers.has("authorization")).toBe(false);
  });

  test("puts calls together from pieces, by index and by id", async () => {
    const piece = (index: number, fields: object) => delta({ tool_calls: [{ index, ...fields }] });
    const { calls } = await answer(
      piece(0, { id: "a", function: { name: "read", arguments: "" } }) +
        piece(0, { function: { arguments: '{"pa' } }) +
        piece(0, { function: { arguments: 'th":"x"}' } }) +
        piece(0, { id: "b", function: { name: "tree", arguments: "{}" } }) +
        piece(1, { id: "c", function: { name: "read", arguments: '{"path":"y"}' } }) +
        delta({}, "tool_calls"),
    );
    expect(calls).toEqual([
      { id: "a", name: "read", input: { path: "x" } },
      { id: "b", name: "tree", input: {} },
      { id: "c", name: "read", input: { path: "y" } },
    ]);
  });

  test("an input that is not an object goes back as one: servers refuse the conversation otherwise", async () => {
    const call = (index: number, input: unknown) => ({
      index,
      id: `c${index}`,
      function: { name: "ls", arguments: input },
    });
    const inputs = ['["src"]', "true", "3", "null", "", '"{\\"path\\":\\"src\\"}"'];
    const wire = delta({ tool_calls: inputs.map((input, index) => call(index, input)) }, "tool_calls");
    const empty = Array.from({ length: 5 }, () => ({}));
    expect((await answer(wire)).calls.map(({ input }) => input)).toEqual([...empty, { path: "src" }]);
  });

  test("reasoning in any of its fields is thought, not text", async () => {
    const wire = delta({ reasoning_content: "a" }) + delta({ reasoning: "b" }) + delta({ content: "x" }, "stop");
    expect(await answer(wire)).toMatchObject({ thoughts: "ab", text: "x" });
  });

  test("JSON that a server put among the thoughts is the reply, where JSON was asked for and nothing was said", async () => {
    const planned = { ...request, format: { name: "plan", schema: { type: "object" } } };
    const thought = delta({ reasoning_content: '{"intent":' }) + delta({ reasoning_content: '"task"}' });
    expect((await answer(thought + delta({}, "stop"), planned)).text).toBe('{"intent":"task"}');
    expect((await answer(thought + delta({ content: "{}" }, "stop"), planned)).text).toBe("{}");
    const none = [
      await answer(thought + delta({}, "stop")),
      await answer(delta({ reasoning_content: "Hm." }, "stop"), planned),
    ];
    expect(none.map(({ error }) => error?.code)).toEqual(["reply_empty", "reply_empty"]);
    expect((await answer(thought + delta({}, "length"), planned)).text).toBe("");
  });

  const written: readonly (readonly [string, string])[] = [
    ["Hermes tags", '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>'],
    ["Hermes tags that never close", 'I look.\n<tool_call>{"name":"read","arguments":{"path":"a"}}'],
    ["Llama function tags", '<function=read>{"path": "a"}</function>'],
    ["Qwen parameters", "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>"],
    ["Mistral", '[TOOL_CALLS][{"name": "read", "arguments": {"path": "a"}}]'],
    ["a python tag", '<|python_tag|>{"name": "read", "parameters": {"path": "a"}}'],
    ["Mistral with a name", '[TOOL_CALLS]read[ARGS]{"path": "a"}'],
    ["Mistral with a name alone", '[TOOL_CALLS]read{"path": "a"}'],
    ["Phi and Granite", '<|tool_call|>[{"name": "read", "arguments": {"path": "a"}}]<|/tool_call|>'],
    ["JSON below a sentence", 'I look at it.\n\n{"name": "read", "arguments": {"path": "a"}}'],
    ["a list of JSON below a sentence", 'I look:\n [ {"name": "read", "arguments": {"path": "a"}} ]'],
    ["Python's quotes", "{'name': 'read', 'arguments': {'path': 'a'}}"],
    ["a comma too many", '<tool_call>{"name": "read", "arguments": {"path": "a",},}</tool_call>'],
    ["the name of a name space", '{"name": "functions.read", "arguments": {"path": "a"}}'],
    ["reasoning before", '<think>\nI read {"name": "rm"}\n</think>\n\n{"name": "read", "arguments": {"path": "a"}}'],
    ["a fence", 'Sure:\n```json\n{"name": "read", "arguments": {"path": "a"}}\n```'],
    ["bare JSON", ' {"name": "read", "parameters": {"path": "a"}}'],
    [
      "OpenAI's own form",
      '{"tool_calls":[{"type":"function","function":{"name":"read","arguments":"{\\"path\\":\\"a\\"}"}}]}',
    ],
  ];
  test.each(written)("reads a call that arrives as text: %s", async (_name, said) => {
    const pieces = said.match(/[\s\S]{1,3}/g) ?? [];
    const { calls, done: last, text } = await answer(says(...pieces), asked);
    expect(calls).toMatchObject([{ name: "read", input: { path: "a" } }]);
    expect(last?.stop).toBe("calls");
    expect(text).not.toContain("read");
  });

  const plain: readonly string[] = [
    "a < b and c[0] and `x`",
    "```ts\nread({})\n```\nafter",
    '{"name": "unknown", "arguments": {}}',
    '<tool_call>{"name":',
    "[1, 2]",
    'So:\n{"name": "a", "path": "b"}\nand {x}\n[1] and more',
  ];
  const thinking: readonly (readonly [string, string, string])[] = [
    ["<think>\nhm\n</think>\n\nDone.", "Done.", "\nhm\n"],
    [" [THINK]hm[/THINK]<thought>so</thought>Done.", "Done.", "hmso"],
    ["<think>only", "", "only"],
    ["<thing> is not a mark", "<thing> is not a mark", ""],
    ["Done <think>no</think>", "Done <think>no</think>", ""],
  ];
  test.each(thinking)("reasoning that a server leaves in the text is removed: %s", async (said, text, thought) => {
    for (const size of [1, 5, 100]) {
      const pieces = said.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      const got = await answer(says(...pieces), asked);
      expect([got.text, got.thoughts]).toEqual([text, thought]);
    }
  });

  test.each(plain)("what is not a call stays text, whole: %s", async (said) => {
    const pieces = said.match(/[\s\S]{1,2}/g) ?? [];
    const { text, done: last } = await answer(says(...pieces), asked);
    expect([text, last?.stop]).toEqual([said, "end"]);
    expect((await answer(says(...pieces))).text).toBe(said);
  });

  test("a server that refuses the schema is asked in plain text, and never again with it", async () => {
    server.answer = (n) => (n === 0 ? refusal("response_format is not supported") : sse([says("{}")]));
    const model = await open();
    const planned = { ...request, format: { name: "plan", schema: { type: "object" } } };
    expect((await take(model, quiet, planned)).text).toBe("{}");
    expect((await take(model, quiet, planned)).text).toBe("{}");
    expect(server.seen.map(({ body }) => "response_format" in (body as object))).toEqual([true, false, false]);
    const told = server.seen.map(({ body }) =>
      JSON.stringify(body).includes('Its JSON Schema:\\n{\\"type\\":\\"object\\"}'),
    );
    expect(told).toEqual([false, true, true]);
  });

  test("says so when the server has cut the request without a word", async () => {
    const notices: string[] = [];
    server.answer = () => sse([says("x")]);
    const model = await open({ notify: ({ code }) => notices.push(code) });
    await take(model);
    expect(notices).toEqual([]);
    await take(model, quiet, { ...request, messages: [{ role: "user", text: "x".repeat(20_000) }] });
    expect(notices).toEqual(["truncated"]);
  });

  describe("Ollama", () => {
    beforeEach(() => {
      server.about = ollama;
    });
    const native = async (wire: Response, wanted: ModelRequest = request) => {
      server.answer = () => wire;
      return take(await open(), quiet, wanted);
    };

    test("is spoken to in its own form, with the context it needs and no silent cut", async () => {
      const schema = { type: "object" };
      const { text, done: last } = await native(lines(ollamaSays("hel", "lo")), {
        ...asked,
        isCapped: true,
        format: { name: "plan", schema },
      });
      expect([text, last?.stop, last?.usage]).toEqual([
        "hello",
        "end",
        { input: 10, cached: 0, output: 5, thought: 0 },
      ]);
      expect(server.seen[0]?.path).toBe("/api/chat");
      expect(server.seen[0]?.body).toMatchObject({
        model: "qwen3:8b",
        truncate: false,
        shift: false,
        format: { type: "object" },
        options: { num_ctx: 32_768, num_predict: 1000 },
      });
    });

    test("never takes a stream that was cut for a reply, wherever it was cut", async () => {
      const whole = new TextEncoder().encode(ollamaSays("{", "é}"));
      const model = await open();
      for (let cut = 0; cut < whole.length - 1; cut += 1) {
        server.answer = () =>
          new Response(whole.slice(0, cut), { headers: { "content-type": "application/x-ndjson" } });
        const { error } = await take(model);
        expect(["reply_cut", "reply_empty"]).toContain(error?.code ?? "none");
      }
    });

    test("sends every call whole, each on a separate line", async () => {
      const call = (name: string, input: object) =>
        line({
          message: { role: "assistant", content: "", tool_calls: [{ function: { name, arguments: input } }] },
          done: false,
        });
      const end = line({ message: {}, done: true, done_reason: "stop" });
      const { calls } = await native(lines(call("read", { path: "a" }), call("read", { path: "b" }), end), asked);
      expect(calls).toMatchObject([
        { id: "call-1-1", input: { path: "a" } },
        { id: "call-1-2", input: { path: "b" } },
      ]);
    });

    test("an error line in mid-stream is an error; a missing model says so", async () => {
      const half = line({ message: { content: "x" }, done: false });
      expect((await native(lines(half, line({ error: "out of memory" })))).error?.code).toBe("provider_down");
      expect((await native(refusal('model "x" not found', 404))).error).toMatchObject({ code: "model_unknown" });
    });
  });
});

test("names the server, its models and who runs it; passes over anything else", async () => {
  using models = listen(() => Response.json({ data: [{ id: "qwen3:8b" }, { id: "x".repeat(500) }, {}] }));
  using page = listen(() => new Response("<html>", { headers: { "content-type": "text/html" } }));
  using secret = listen(() => new Response("no", { status: 401 }));
  const ports = [models, page, secret].map(({ port }) => [port ?? 0, "Ollama"] as const);
  const found = await findServers({
    signal: quiet,
    ports: [...ports, [9, "nobody"]],
    whoListens: (port) => `ada at ${port}`,
  });
  expect(found).toEqual([
    {
      url: `http://127.0.0.1:${models.port}/v1`,
      usual: "Ollama",
      owner: `ada at ${models.port}`,
      models: ["qwen3:8b"],
    },
  ]);
  expect(found.map(renderServer).join()).toContain(`run by ada at ${models.port}: qwen3:8b`);
});

test("a model that its server calls by the path of its file is found, as those of llama.cpp are", async () => {
  const paths = ["../models/Llama-3.1-8B-Q4_K_M.gguf", "/srv/models/qwen3.gguf"];
  using models = listen(() => Response.json({ object: "list", data: paths.map((id) => ({ id, object: "model" })) }));
  const [found] = await findServers({ signal: quiet, ports: [[models.port ?? 0, "llama.cpp"]] });
  expect(found?.models).toEqual(paths);
});
