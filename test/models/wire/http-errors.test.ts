/** What a status, a body or a broken connection means, and which message people get. */
import { describe, expect, test } from "bun:test";
import { type AskedServer, readFetchError, readHttpError, retryOf } from "../../../src/models/wire/http-errors.ts";

const asked: AskedServer = {
  provider: "gemini",
  model: "gemini-9",
  key: { id: "work", key: "AIza-very-own-key" },
  address: "https://api.example",
  proxy: false,
};
/** 2026-01-10, 20:00 UTC: noon in California. */
const now = Date.UTC(2026, 0, 10, 20);
const read = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  readHttpError(asked, {
    status,
    headers: new Headers(headers),
    body: typeof body === "string" ? body : JSON.stringify(body),
    now,
  });
const perDay = { violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] };
const perMinute = { violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel" }] };

const says = (message: string, more: object = {}) => ({ error: { message, ...more } });

describe("HTTP answers", () => {
  const billed = says("please check your plan and billing details. spend limit", { details: [perMinute] });
  const table: readonly (readonly [string, number, unknown, string])[] = [
    ["API_KEY_INVALID", 400, { error: { details: [{ reason: "API_KEY_INVALID" }] } }, "key_rejected"],
    ["an invalid key in words", 400, says("API key not valid. Please pass a valid API key."), "key_rejected"],
    ["401", 401, "", "key_rejected"],
    ["403", 403, says("Permission denied"), "key_rejected"],
    ["404", 404, says("models/gemini-9 is not found"), "model_unknown"],
    ["402", 402, "", "credit_exhausted"],
    ["a credit code", 429, says("You exceeded your quota", { code: "insufficient_quota" }), "credit_exhausted"],
    ["credit in words at 400", 400, says("Your credit balance is too low"), "credit_exhausted"],
    ["credit in words at 429", 429, says("Your prepayment credits are depleted."), "credit_exhausted"],
    ["a spend limit", 403, says("You have reached your spending limit"), "credit_exhausted"],
    ["a quota whose words mention billing (structured first)", 429, billed, "quota"],
    ["an ordinary quota", 429, says("please check your plan and billing details"), "quota"],
    ["an error in a list", 429, [says("slow")], "quota"],
    ["400", 400, says("contents is empty"), "request_rejected"],
    ["413", 413, "too large", "request_too_long"],
    ["422", 422, { detail: "bad" }, "request_rejected"],
    ["500", 500, "<html><style>p{}</style><h1>Oops</h1></html>", "provider_down"],
    ["529", 529, { error: { type: "overloaded_error" } }, "provider_down"],
    ["408", 408, "", "provider_down"],
    ["407 of a proxy", 407, "", "network"],
    ["a filter of the service is a refusal of the reply", 400, says("x", { code: "content_filter" }), "reply_blocked"],
  ];
  test.each(table)("%s", (_name, status, body, code) => {
    expect<string>(read(status, body).code).toBe(code);
  });

  const freeTier = "Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: gemini-9";
  test.each<readonly [number, unknown]>([
    [400, says("The requested model 'gpt-9' does not exist.", { code: "model_not_found" })],
    [404, says("The model `gpt-9` does not exist or you do not have access to it.")],
    [403, says("Project `proj_a` does not have access to model `gpt-9`", { code: "model_not_found" })],
    [404, says("Your organization must be verified to use the model `o3`. Please go to: https://platform.openai.com")],
    [400, says("gpt-9 is not a valid model ID", { code: 400 })],
    [404, says("No endpoints found for x/y.", { code: 404 })],
    [400, { object: "error", message: "Invalid model: nope", type: "invalid_model", code: "1500" }],
    [404, says("models/gemini-9 is not found for API version v1beta, or not supported for generateContent.")],
    [404, says("This model models/gemini-2.5-flash-lite is no longer available to new users.")],
    [429, says(freeTier, { details: [perDay] })],
    [404, says("model: claude-9", { type: "not_found_error" })],
    [404, says("The API deployment for this resource does not exist.", { code: "DeploymentNotFound" })],
    [400, { message: "The provided model identifier is invalid." }],
    [400, says("The model `llama` has been decommissioned and is no longer supported.")],
    [400, says("Model Not Exist", { type: "invalid_request_error" })],
    [404, { error: "model 'qwen9' not found" }],
  ])("that the model is unknown or closed is told from %i %j", (status, body) => {
    const error = read(status, body);
    expect([error.code, error.message.includes("gemini-9")]).toEqual(["model_unknown", true]);
    expect(error.hint).toContain("pai models");
  });

  test.each([
    [404, "404 page not found"],
    [404, { detail: "Not Found" }],
    [404, says("Invalid URL (POST /v1/responses)", { type: "invalid_request_error" })],
  ])("an address without the service is not an unknown model: %i %j", (status, body) => {
    const error = read(status, body);
    expect(error.code).toBe("network");
    expect(error.message).toStartWith("https://api.example has no gemini service at the base URL (HTTP 404)");
  });

  test.each([
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    "Please reduce the length of the messages or completion.",
    "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
    "Range of input length should be [1, 98304]",
    "prompt token count of 70000 exceeds the limit of 64000",
    "Prompt exceeds max length",
    "The input exceeds the maximum allowed input length of 131072 tokens.",
    "Your input exceeds the context window of this model.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "the input length exceeds the context length",
    "the request exceeds the available context size, try increasing it",
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
    "input is too long for requested model",
  ])("a request that is too long is told from others: %s", (message) => {
    expect(read(400, says(message)).code).toBe("request_too_long");
  });

  const tokens = { type: "tokens", code: "rate_limit_exceeded" };
  const tooLarge = "Request too large for gpt-4.1 on tokens per min (TPM): Limit 30000, Requested 42000.";
  const spent = { type: "rate_limit_error", details: { error_code: "enforced_spend_limit_reached" } };
  test.each<[string, unknown, string]>([
    ["a request that alone is over the limit of a minute", says(tooLarge, tokens), "request_too_long"],
    ["a spend limit", says("reached its usage", spent), "credit_exhausted"],
  ])("%s does not pass with time: it is not sent again", (_what, body, code) => {
    const error = read(429, body, { "retry-after": "20" });
    expect([error.code as string, retryOf(error).times]).toEqual([code, 0]);
  });

  test("the error of the provider behind a gateway is opened, with its name", () => {
    const raw = { error: { code: 400, message: "Function call is missing a thought_signature", status: "INVALID" } };
    const metadata = { raw: JSON.stringify(raw), provider_name: "Google AI Studio" };
    const error = read(400, says("Provider returned error", { code: 400, metadata }));
    expect(error.message).toEndWith(
      "Provider returned error (Google AI Studio): Function call is missing a thought_signature",
    );
    const long = { raw: "prompt is too long: 9 tokens > 3 maximum", provider_name: "Azure" };
    expect(read(400, says("Provider returned error", { metadata: long })).code).toBe("request_too_long");
    const daily = { raw: { error: { details: [perDay] } } };
    expect(read(429, says("Provider returned error", { metadata: daily })).retryAfter).toBe(12 * 3600);
  });

  test("a place that is not served is told as such", () => {
    const google = read(400, says("User location is not supported for the API use."));
    const code = "unsupported_country_region_territory";
    const openai = read(403, says("Country, region, or territory not supported", { code }));
    for (const error of [google, openai]) {
      expect([error.code, retryOf(error).times]).toEqual(["provider_down", 0]);
      expect(error.message).toStartWith("gemini does not serve the place where you are");
      expect(error.hint).toContain("another provider");
    }
  });

  test("a list of faults is one line", () => {
    const detail = [
      { type: "extra_forbidden", loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" },
      { loc: ["body"], msg: "bad" },
    ];
    const faults = "body.stream_options: Extra inputs are not permitted; body: bad";
    expect(read(422, { detail }).message).toEndWith(`(HTTP 422): ${faults}`);
  });

  test("a local server that is not there: what to start, or where to say it is", () => {
    const refused = Object.assign(new Error("x"), { code: "ECONNREFUSED" });
    expect(readFetchError({ ...asked, provider: "local" }, refused).hint).toContain("OLLAMA_HOST");
  });

  test("name the provider and the key id, show the message on one line, never the key", () => {
    const error = read(401, { error: { message: `key AIza-very-own-key\n\u001b[2Jis ${"x".repeat(400)}` } });
    expect(error.message).toMatch(/^gemini refused the key "work" \(HTTP 401\): key <<SECRET_\w{4}_1>> \[2Jis xxx/);
    expect(error.message.length).toBeLessThan(360);
    const page = read(500, "<html><style>p{}</style><h1>Oops</h1></html>");
    expect(page.message).toBe("gemini is not available (HTTP 500): Oops");
    expect(read(404, {}).hint).toContain("pai models");
  });

  test("say when to come back", () => {
    expect(read(429, {}, { "retry-after-ms": "2500", "retry-after": "60" })).toMatchObject({ retryAfter: 3 });
    expect(read(429, {}, { "retry-after": "600" })).toMatchObject({ retryAfter: 600, hint: "try again in 10 min" });
    expect(read(429, { error: { details: [{ retryDelay: "17.2s" }, perMinute] } })).toMatchObject({ retryAfter: 18 });
    const daily = read(429, { error: { details: [{ retryDelay: "17s" }, perDay] } });
    expect(daily).toMatchObject({ retryAfter: 12 * 3600, hint: "try again in 12 h" });
    expect(read(429, {}).retryAfter).toBeNull();
    expect(read(503, {}).hint).toBe("try again later, or use another model");
    for (const nonsense of ["soon", "-5", "5, 10", "NaN", "1000000000000", "9".repeat(400)])
      expect(read(429, {}, { "retry-after": nonsense })).toMatchObject({ retryAfter: null, hint: null });
  });
});

describe("broken connections", () => {
  const error = (code: string, proxy: string | false = false) =>
    readFetchError({ ...asked, proxy }, Object.assign(new TypeError(`${code}: words`), { code }));

  test("name the address and the cause", () => {
    const at = "gemini at https://api.example";
    const refused = { code: "network", message: `cannot reach ${at}: connection refused (ECONNREFUSED)` };
    expect(error("ECONNREFUSED")).toMatchObject(refused);
    expect(error("ENOTFOUND").message).toContain("unknown host");
    expect(error("ECONNRESET").message).toBe(`lost the connection to ${at}: it was closed (ECONNRESET)`);
  });

  test("name the proxy, without its user and password", () => {
    const { message, hint } = error("ECONNREFUSED", "http://me:pass@proxy.example:3128/");
    expect(message).toContain("through the proxy http://proxy.example:3128/");
    expect(message).not.toContain("pass");
    expect(hint).toContain("HTTPS_PROXY");
  });

  test("say what to do about a network that re-signs TLS", () => {
    const own = ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "SELF_SIGNED_CERT_IN_CHAIN", "DEPTH_ZERO_SELF_SIGNED_CERT"];
    const hint = expect.stringContaining("NODE_EXTRA_CA_CERTS");
    for (const code of own) expect(error(code)).toMatchObject({ code: "tls", hint });
    expect(error("CERT_HAS_EXPIRED")).toMatchObject({ code: "tls", hint: expect.stringContaining("clock") });
  });
});
