/** Lists of models: read in the form of every provider, whatever is in them, and never more than pai can hold. */
import { describe, expect, test } from "bun:test";
import type { ListedModel } from "../../src/core/listed-model.ts";
import { findProvider, type Provider } from "../../src/core/providers.ts";
import { askForModels, readModelList } from "../../src/models/listing.ts";
import { listen, quiet, refusal } from "./loopback.ts";

const read = (answer: unknown) => readModelList(JSON.stringify(answer));
const none = { window: null, output: null, price: null, ends: null };
const only = (row: object): ListedModel | undefined => read({ data: [row] })?.models[0];

describe("the list of", () => {
  test("OpenAI names models and days of their shutdown; those that write no text are left out", () => {
    const model = (id: string, shutdown_date: string | null = null) => ({ id, object: "model", shutdown_date });
    const others = ["text-embedding-3-large", "whisper-1", "tts-1", "gpt-image-2", "gpt-realtime", "gpt-4o-audio"];
    const data = [model("gpt-6.1-terra"), model("o3", "2026-12-11"), ...others.map((id) => model(id))];
    expect(read({ object: "list", data })).toEqual({
      models: [
        { ...none, name: "gpt-6.1-terra" },
        { ...none, name: "o3", ends: "2026-12-11" },
      ],
      omitted: ["6 that write no text"],
    });
  });

  test("Gemini tells windows and outputs, and which models write", () => {
    const model = (name: string, ...supportedGenerationMethods: readonly string[]) => ({
      ...{ name: `models/${name}`, inputTokenLimit: 1_048_576, outputTokenLimit: 65_536, supportedGenerationMethods },
    });
    const writes = model("gemini-3.5-flash-lite", "generateContent", "countTokens");
    const models = [writes, model("gemini-embedding-001", "embedContent")];
    expect(read({ models, nextPageToken: "abc" })).toEqual({
      models: [{ ...none, name: "gemini-3.5-flash-lite", window: 1_048_576, output: 65_536 }],
      omitted: ["1 that write no text", "those on further pages of the server"],
    });
  });

  test("Anthropic tells windows, outputs and retirements", () => {
    const model = (id: string, lifecycle: string, retires_at: string | null = null) => ({
      ...{ id, max_input_tokens: 200_000, max_tokens: 64_000, lifecycle, retires_at },
    });
    const going = model("claude-sonnet-4-5", "deprecated", "2026-11-30T00:00:00Z");
    const data = [model("claude-sonnet-5-5", "active"), going, model("claude-opus-3", "retired")];
    expect(read({ data, has_more: true, first_id: "a", last_id: "b" })).toEqual({
      models: [
        { ...none, name: "claude-sonnet-5-5", window: 200_000, output: 64_000 },
        { ...none, name: "claude-sonnet-4-5", window: 200_000, output: 64_000, ends: "2026-11-30" },
      ],
      omitted: ["1 that write no text", "those on further pages of the server"],
    });
  });

  test("Mistral tells windows and deprecations", () => {
    const model = (id: string, completion_chat: boolean, deprecation: string | null = null) => ({
      ...{ id, capabilities: { completion_chat, function_calling: true }, max_context_length: 262_144, deprecation },
    });
    const ends = model("magistral-small", true, "2026-12-31T12:00:00.000Z");
    const data = [model("mistral-large-latest", true), model("mistral-embed", false), ends];
    expect(read({ object: "list", data })?.models).toEqual([
      { ...none, name: "mistral-large-latest", window: 262_144 },
      { ...none, name: "magistral-small", window: 262_144, ends: "2026-12-31" },
    ]);
  });

  test("OpenRouter tells windows, outputs, ends and prices", () => {
    const pricing = { prompt: "0.000002", completion: "0.00001" };
    const cache = { input_cache_read: "0.0000001", input_cache_write: "0.0000025" };
    const row = {
      ...{ id: "anthropic/claude-sonnet-5-5", context_length: 1_000_000, expiration_date: "2027-03-01" },
      architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
      pricing: { ...pricing, ...cache },
      top_provider: { context_length: 1_000_000, max_completion_tokens: 128_000, is_moderated: true },
    };
    const price = { input: 2, cached: 0.1, written: 2.5, output: 10 };
    const limits = { window: 1_000_000, output: 128_000, ends: "2027-03-01" };
    expect(only(row)).toEqual({ name: "anthropic/claude-sonnet-5-5", price, ...limits });
  });

  test("vLLM and llama.cpp tells windows in fields of its own", () => {
    expect(only({ id: "Qwen/Qwen3-32B", max_model_len: 40_960 })?.window).toBe(40_960);
    expect(only({ id: "gpt-oss", meta: { n_ctx: 131_072 } })?.window).toBe(131_072);
  });
});

describe("a price of OpenRouter", () => {
  const priceOf = (pricing: object) => only({ id: "a/b", pricing })?.price;
  const usual = { prompt: "0.000001", completion: "0.000005" };

  test.each([
    ["free", { prompt: "0", completion: "0" }, { input: 0, cached: 0, output: 0 }],
    ["of a router, which depends", { prompt: "-1", completion: "-1" }, null],
    ["for each request, too", { ...usual, request: "0.005" }, null],
    ["in numbers, whose unit is unknown", { prompt: 0.5, completion: 1 }, null],
    ["of input alone", { prompt: "0.000001" }, null],
    ["that is no number", { prompt: "NaN", completion: "Infinity" }, null],
    ["beyond reason", { prompt: "5", completion: "9" }, null],
    ["with thinking at its own rate", { ...usual, internal_reasoning: "0.00001" }, { input: 1, cached: 1, output: 10 }],
  ])("%s", (_which, pricing, price) => {
    expect<unknown>(priceOf(pricing)).toEqual(price);
  });

  test("of a long prompt is known, and dearer hours count always", () => {
    const overrides = [
      { min_prompt_tokens: 272_000, prompt: "0.000002", completion: "0.0000075" },
      { utc_start: 100, utc_end: 400, prompt: "0.0000015" },
    ];
    const large = { above: 272_000, input: 2, cached: 2, output: 7.5 };
    expect(priceOf({ ...usual, overrides })).toEqual({ input: 1.5, cached: 1.5, output: 5, large });
  });
});

describe("a hostile list", () => {
  test("names that could control a terminal, or could not be asked for, are left out and counted", () => {
    const hostile = ["\u001b[2Jevil", "a b", "line\nbreak", "x".repeat(151), "", "\u202eabc", "-m", 'q"uote'];
    const names = ["ok-1", ...hostile, 7, null, {}];
    expect(read({ data: [...names.map((id) => ({ id })), null, "text", [1]] })).toEqual({
      models: [{ ...none, name: "ok-1" }],
      omitted: ["14 without a usable name"],
    });
  });

  test("fields of wrong types count as not told", () => {
    const row = {
      ...{ id: "m", context_length: "many", max_tokens: -1, top_provider: [], pricing: "free", capabilities: null },
      ...{ shutdown_date: { day: 1 }, expiration_date: "soon\u001b[31m" },
      ...{ architecture: { output_modalities: "text" }, supportedGenerationMethods: { a: 1 } },
    };
    expect(only(row)).toEqual({ ...none, name: "m" });
    expect(only({ id: "m", context_length: 1e300, inputTokenLimit: Number.MAX_SAFE_INTEGER })?.window).toBeNull();
  });

  test("tens of thousands of names are cut to the first ones, and said", () => {
    const names = Array.from({ length: 30_000 }, (_, at) => `{"id":"m${at}"}`);
    const found = readModelList(`{"data":[${names.join(",")}]}`);
    expect([found?.models.length, found?.models.at(-1)?.name]).toEqual([2000, "m1999"]);
    expect(found?.omitted).toEqual(["28000 beyond what pai holds"]);
  });

  const deep = `{"data":${"[".repeat(5000)}${"]".repeat(5000)}}`;
  test.each(["", "null", "[]", '"text"', "{}", '{"data":{}}', "<html>", deep])("%p is no list", (body) => {
    expect(readModelList(body.slice(0, 20_000))).toBeNull();
  });
});

describe("asking", () => {
  const ask = async (id: string, answer: (path: string) => Response, base = "/v1") => {
    const seen: { readonly path: string; readonly headers: Headers }[] = [];
    await using server = listen(({ url, headers }) => {
      const { pathname, search } = new URL(url);
      seen.push({ path: pathname + search, headers });
      return answer(pathname);
    });
    const provider = findProvider(id) as Provider;
    const key = provider.needsKey ? { id: "primary", key: "sk-test-0123456789" } : null;
    const options = { key, env: {}, signal: quiet, now: 0 };
    const found = await askForModels(provider, server.url.origin + base, options).catch((thrown) => thrown);
    return { found, seen };
  };
  const empty = () => Response.json({ data: [] });

  test.each([
    ["openai", "/v1", "/v1/models", "authorization", "Bearer sk-test-0123456789"],
    ["anthropic", "", "/v1/models?limit=1000", "x-api-key", "sk-test-0123456789"],
    ["gemini", "", "/v1beta/models?pageSize=1000", "x-goog-api-key", "sk-test-0123456789"],
    ["openrouter", "/api/v1", "/api/v1/models", "authorization", "Bearer sk-test-0123456789"],
    ["mistral", "/v1", "/v1/models", "authorization", "Bearer sk-test-0123456789"],
  ])("%s asks its own address with the key, once", async (id, base, path, header, value) => {
    const { seen } = await ask(id, empty, base);
    expect(seen.map(({ path: at, headers }) => [at, headers.get(header)])).toEqual([[path, value]]);
  });

  const moved = { status: 302, headers: { location: "https://evil.example" } };
  test.each([
    ["a refusal", () => refusal({ message: "Incorrect API key" }, 401), "key_rejected", ""],
    ["a redirect", () => new Response("", moved), "redirected", ""],
    ["an answer that is no list", () => new Response("<html>welcome</html>"), "reply_invalid", "not with a list"],
  ])("%s is an error of its own", async (_what, answer, code, words) => {
    const { found } = await ask("openai", answer);
    expect(found).toMatchObject({ code, message: expect.stringContaining(words) });
  });

  test("a list of ten megabytes is read, a longer one than pai holds is refused", async () => {
    const rows = Array.from({ length: 1000 }, (_, at) => ({ id: `m${at}`, description: "x".repeat(10_000) }));
    const long = await ask("openai", () => Response.json({ data: rows }));
    expect(long.found.models).toHaveLength(1000);
    const endless = await ask("openai", () => new Response(`{"data":[${"1,".repeat(9_000_000)}1]}`));
    expect(endless.found).toMatchObject({ code: "reply_invalid", message: expect.stringContaining("more than 16 MB") });
  });

  test("Ollama is asked for the windows of its models, and another local server is not held up by it", async () => {
    const names = { data: [{ id: "qwen3:8b" }, { id: "mine" }] };
    const ollama = await ask("local", (path) =>
      Response.json(path === "/v1/models" ? names : { model_info: { "qwen3.context_length": 40_960 } }),
    );
    expect(ollama.found.models.map(({ window }: ListedModel) => window)).toEqual([40_960, 40_960]);
    expect(ollama.seen.map(({ path }) => path)).toEqual(["/v1/models", "/api/show", "/api/show"]);
    const other = await ask("local", (path) => (path === "/v1/models" ? Response.json(names) : refusal("", 404)));
    expect(other.found.models.map(({ window }: ListedModel) => window)).toEqual([null, null]);
  });
});
