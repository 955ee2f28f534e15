/** What a status, a body or a broken connection means, and which message people get. */
import { describe, expect, test } from "bun:test";
import { type Asked, readFetchError, readHttpError } from "../../../src/models/wire/http-errors.ts";

const asked: Asked = {
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

describe("HTTP answers", () => {
  const table: readonly (readonly [string, number, unknown, string])[] = [
    ["API_KEY_INVALID", 400, { error: { code: 400, details: [{ reason: "API_KEY_INVALID" }] } }, "key_rejected"],
    [
      "an invalid key in words",
      400,
      { error: { message: "API key not valid. Please pass a valid API key." } },
      "key_rejected",
    ],
    ["401", 401, "", "key_rejected"],
    ["403", 403, { error: { message: "Permission denied" } }, "key_rejected"],
    ["404", 404, { error: { message: "models/gemini-9 is not found" } }, "model_unknown"],
    ["402", 402, "", "credit_exhausted"],
    [
      "a credit code",
      429,
      { error: { code: "insufficient_quota", message: "You exceeded your current quota" } },
      "credit_exhausted",
    ],
    ["credit in words at 400", 400, { error: { message: "Your credit balance is too low" } }, "credit_exhausted"],
    [
      "credit in words at 429",
      429,
      { error: { message: "Your prepayment credits are depleted." } },
      "credit_exhausted",
    ],
    ["a spend limit", 403, { error: { message: "You have reached your spending limit" } }, "credit_exhausted"],
    [
      "a quota whose words mention billing (structured first)",
      429,
      {
        error: {
          message: "You exceeded your current quota, please check your plan and billing details. spend limit",
          details: [perMinute],
        },
      },
      "quota",
    ],
    ["an ordinary quota", 429, { error: { message: "please check your plan and billing details" } }, "quota"],
    ["an error in a list", 429, [{ error: { message: "slow" } }], "quota"],
    ["400", 400, { error: { message: "contents is empty" } }, "request_rejected"],
    ["413", 413, "too large", "request_rejected"],
    ["422", 422, { detail: "bad" }, "request_rejected"],
    ["500", 500, "<html><style>p{}</style><h1>Oops</h1></html>", "provider_down"],
    ["529", 529, { error: { type: "overloaded_error" } }, "provider_down"],
    ["408", 408, "", "provider_down"],
    ["407 of a proxy", 407, "", "network"],
  ];
  test.each(table)("%s", (_name, status, body, code) => {
    expect<string>(read(status, body).code).toBe(code);
  });

  test("a list of faults is one line", () => {
    const detail = [
      { type: "extra_forbidden", loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" },
      { loc: ["body"], msg: "bad" },
    ];
    expect(read(422, { detail }).message).toEndWith(
      "(HTTP 422): body.stream_options: Extra inputs are not permitted; body: bad",
    );
  });

  test("a local server that is not there: what to start, or where to say it is", () => {
    const refused = Object.assign(new Error("x"), { code: "ECONNREFUSED" });
    expect(readFetchError({ ...asked, provider: "local" }, refused).hint).toContain("OLLAMA_HOST");
  });

  test("name the provider and the key id, show the message on one line, never the key", () => {
    const error = read(401, { error: { message: `key AIza-very-own-key\n\u001b[2Jis ${"x".repeat(400)}` } });
    expect(error.message).toStartWith('gemini refused the key "work" (HTTP 401): key AIza…[masked] [2Jis xxx');
    expect(error.message.length).toBeLessThan(360);
    expect(read(500, "<html><style>p{}</style><h1>Oops</h1></html>").message).toBe(
      "gemini is not available (HTTP 500): Oops",
    );
    expect(read(404, {}).hint).toContain("pai models");
  });

  test("say when to come back", () => {
    expect(read(429, {}, { "retry-after-ms": "2500", "retry-after": "60" })).toMatchObject({ retryAfter: 3 });
    expect(read(429, {}, { "retry-after": "600" })).toMatchObject({ retryAfter: 600, hint: "try again in 10 min" });
    expect(read(429, { error: { details: [{ retryDelay: "17.2s" }, perMinute] } })).toMatchObject({ retryAfter: 18 });
    expect(read(429, { error: { details: [{ retryDelay: "17s" }, perDay] } })).toMatchObject({
      retryAfter: 12 * 3600,
      hint: "try again in 12 h",
    });
    expect(read(429, {}).retryAfter).toBeNull();
    expect(read(503, {}).hint).toBe("try again later, or use another model");
    for (const nonsense of ["soon", "-5", "5, 10", "NaN", "1000000000000", "9".repeat(400)]) {
      expect(read(429, {}, { "retry-after": nonsense })).toMatchObject({ retryAfter: null, hint: null });
    }
  });
});

describe("broken connections", () => {
  const error = (code: string, proxy: string | false = false) =>
    readFetchError({ ...asked, proxy }, Object.assign(new TypeError(`${code}: words`), { code }));

  test("name the address and the cause", () => {
    expect(error("ECONNREFUSED")).toMatchObject({
      code: "network",
      message: "cannot reach gemini at https://api.example: connection refused (ECONNREFUSED)",
    });
    expect(error("ENOTFOUND").message).toContain("unknown host");
  });

  test("name the proxy, without its user and password", () => {
    const { message, hint } = error("ECONNREFUSED", "http://me:pass@proxy.example:3128/");
    expect(message).toContain("through the proxy http://proxy.example:3128/");
    expect(message).not.toContain("pass");
    expect(hint).toContain("HTTPS_PROXY");
  });

  test("say what to do about a network that re-signs TLS", () => {
    for (const code of [
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
    ]) {
      expect(error(code)).toMatchObject({ code: "tls", hint: expect.stringContaining("NODE_EXTRA_CA_CERTS") });
    }
    expect(error("CERT_HAS_EXPIRED")).toMatchObject({ code: "tls", hint: expect.stringContaining("clock") });
  });
});
