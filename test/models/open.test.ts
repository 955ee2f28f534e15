/** From a model's name, its keys and its address to a model, or to words about what is wrong. */
import { describe, expect, test } from "bun:test";
import { openModel, parseModelId } from "../../src/models/open.ts";
import { findProxy, isLoopback } from "../../src/models/wire/endpoint.ts";
import { event, says } from "./gemini/gemini-wire.ts";
import { options, serve, sse, take } from "./loopback.ts";

describe("model names", () => {
  const table: readonly (readonly [string, string, string])[] = [
    ["gemini:gemini-2.5-pro", "gemini", "gemini-2.5-pro"],
    [" gemini-2.5-flash ", "gemini", "gemini-2.5-flash"],
    ["gpt-5", "openai", "gpt-5"],
    ["o3-mini", "openai", "o3-mini"],
    ["claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5"],
    ["local:qwen3:8b", "local", "qwen3:8b"],
    ["openrouter:z-ai/glm-5:free", "openrouter", "z-ai/glm-5:free"],
    ["codestral-latest", "mistral", "codestral-latest"],
    ["openai:gemini-like", "openai", "gemini-like"],
    ["replay:a b.jsonl", "replay", "a b.jsonl"],
  ];
  test.each(table)("%s", (source, provider, name) => {
    expect<unknown>(parseModelId(source)).toEqual({ provider, name });
  });

  test.each(["", "llama3", "ollama3", "gemini", "gemini:", "gemini:a b", "mistral", "z-ai/glm-5", "gpt", "opus"])(
    "%s belongs to no provider",
    (source) => {
      expect(() => parseModelId(source)).toThrow(expect.objectContaining({ code: "model_unknown" }));
    },
  );
});

describe("opening", () => {
  const open = (over: Partial<Parameters<typeof options>[0]>) =>
    openModel(options({ id: "gemini-3.5-flash-lite", baseUrl: "https://model.invalid", ...over }));

  test("gives the model its window and output limit, and careful ones to a name it does not know", async () => {
    expect(await open({})).toMatchObject({
      id: "gemini:gemini-3.5-flash-lite",
      window: 1_048_576,
      maxOutputTokens: 32_768,
    });
    expect(await open({ id: "gemini-99" })).toMatchObject({ window: 1_048_576, maxOutputTokens: 32_768 });
  });

  const refusals: readonly (readonly [string, Partial<Parameters<typeof options>[0]>, string])[] = [
    ["no key", { keys: [] }, "no_key"],
    ["a key no header can carry", { keys: [{ id: "k", key: "a\nb" }] }, "key_invalid"],
    ["no key for openai", { id: "gpt-5", keys: [] }, "no_key"],
    ["no key for anthropic", { id: "claude-haiku-4-5", keys: [] }, "no_key"],
    ["no address", { baseUrl: "example.com" }, "config_invalid"],
    ["another scheme", { baseUrl: "ftp://example.com" }, "config_invalid"],
    ["a key over plain http", { baseUrl: "http://example.com" }, "untrusted"],
    ["a proxy that would be passed by", { proxyEnv: { ALL_PROXY: "socks5://127.0.0.1:1" } }, "config_invalid"],
  ];
  test.each(refusals)("refuses %s", async (_name, over, code) => {
    const error = await open(over).catch((thrown) => thrown);
    expect(error).toMatchObject({ code });
    expect(String(error.message)).not.toContain("a\nb");
  });

  test("without a key it names all that goes on: a key, a server of one's own, the demo", async () => {
    const error = await open({ keys: [] }).catch((thrown) => thrown);
    for (const way of ["GEMINI_API_KEY", "pai key set", "--model local:NAME", "pai demo"])
      expect(error.hint).toContain(way);
  });

  test("one key alone never rests", async () => {
    const server = serve(() => new Response("", { status: 429 }));
    const { keyState } = options({ id: "gemini-2.5-pro", baseUrl: null });
    const model = await open({ baseUrl: server.origin, keyState, maxWaitMs: 0 });
    for (let n = 0; n < 2; n += 1) expect((await take(model)).error?.code).toBe("quota");
    expect(server.seen.length).toBe(2);
    expect(keyState.load()).toEqual({ cursor: {}, resting: {} });
    await server.stop();
  });

  test("plain http to another machine: a warning when allowed or without a key, nothing on loopback", async () => {
    const codes: string[] = [];
    const notify = ({ code }: { code: string }) => codes.push(code);
    await open({ baseUrl: "http://example.com", insecureHttp: true, notify });
    await open({ id: "local:m", baseUrl: "http://192.0.2.1:9", keys: [], notify, signal: AbortSignal.abort() });
    expect(codes).toEqual(["plain_http", "plain_http"]);
    for (const host of ["localhost", "127.0.0.1", "127.8.9.1", "[::1]", "api.localhost"]) {
      await open({ baseUrl: `http://${host}:8080`, notify });
    }
    expect(codes.length).toBe(2);
    expect(["localhost.evil.com", "127.0.0.1.evil.com", "evil127.0.0.1"].filter(isLoopback)).toEqual([]);
  });

  test("goes through the proxy of the environment, with its user and password", async () => {
    const proxy = serve(() => sse([event(says("through", "STOP"))]));
    try {
      const proxyEnv = { HTTP_PROXY: proxy.origin.replace("//", "//me:pass@") };
      const over = { baseUrl: "http://model.invalid", insecureHttp: true, proxyEnv };
      expect((await take(await open(over))).text).toBe("through");
      expect(proxy.seen[0]?.headers.get("host")).toBe("model.invalid");
      expect(proxy.seen[0]?.headers.get("proxy-authorization")).toBe(`Basic ${btoa("me:pass")}`);
    } finally {
      await proxy.stop();
    }
  });
});

describe("proxies", () => {
  const env = { https_proxy: "http://p:1", HTTP_PROXY: "q:2", NO_PROXY: "internal.example, .corp, 10.0.0.1:8080" };
  const table: readonly (readonly [string, string | false])[] = [
    ["https://api.example", "http://p:1/"],
    ["http://api.example", "http://q:2/"],
    ["https://internal.example", false],
    ["https://a.internal.example", false],
    ["https://notinternal.example", "http://p:1/"],
    ["https://x.corp", false],
    ["http://10.0.0.1:8080", false],
    ["http://10.0.0.1:81", "http://q:2/"],
    ["https://localhost:3", false],
  ];
  test.each(table)("%s (R48)", (url, proxy) => {
    expect(findProxy(new URL(url), env)).toBe(proxy);
  });

  const networks: readonly (readonly [string, string, boolean])[] = [
    ["10.0.0.0/8", "10.200.3.4", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["192.168.4.0/22", "192.168.7.255", true],
    ["192.168.4.0/22", "192.168.8.0", false],
    ["0.0.0.0/0", "203.0.113.9", true],
    ["10.0.0.1/32", "10.0.0.1", true],
    ["10.0.0.0/33", "10.0.0.0", false],
    ["10.0.0.0/8", "10.example.com", false],
    ["fd00::/8", "10.0.0.1", false],
  ];
  test.each(networks)("NO_PROXY=%s holds for %s: %p", (entry, host, isExempt) => {
    expect(findProxy(new URL(`https://${host}/v1`), { ...env, NO_PROXY: `a.example,${entry}` })).toBe(
      isExempt ? false : "http://p:1/",
    );
  });

  test("NO_PROXY=* uses none, ALL_PROXY is for all; no variables, none (R48)", () => {
    expect(findProxy(new URL("https://a"), { ...env, NO_PROXY: "*" })).toBe(false);
    expect(findProxy(new URL("https://a"), { all_proxy: "http://r:3" })).toBe("http://r:3/");
    expect(findProxy(new URL("https://a"), {})).toBe(false);
  });
});
