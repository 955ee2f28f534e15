/** Which failures are asked again, how often, and after how long. */
import { describe, expect, test } from "bun:test";
import { PaiError } from "../../src/core/error.ts";
import type { ModelEvent } from "../../src/core/model.ts";
import { type Stream, withRetry } from "../../src/models/stream.ts";
import { type AskedServer, failure, readFetchError, readHttpError } from "../../src/models/wire/http-errors.ts";
import { onceAtOnce } from "../../src/models/wire/judge.ts";
import { done, quiet, request, take } from "./loopback.ts";

const asked: AskedServer = {
  provider: "gemini",
  model: "m",
  key: { id: "k", key: "secret" },
  address: "https://x",
  proxy: false,
};
const http = (status: number, headers: Record<string, string> = {}, error: object = {}) =>
  readHttpError(asked, { status, headers: new Headers(headers), body: JSON.stringify({ error }), now: 0 });
const lost = (code: string) => readFetchError(asked, Object.assign(new Error(code), { code }));

/** A stream that is asked again, without a notice or a wait but for what is given. */
const patient = (stream: Stream, over: Partial<Parameters<typeof withRetry>[1]> = {}) => ({
  stream: withRetry(stream, { sleep: async () => {}, random: () => 0, notify: () => {}, maxWaitMs: 45_000, ...over }),
});

/** Fails with each error in turn, then answers; what was waited for, how often it was asked, how it ended. */
async function run(
  errors: readonly Error[],
  { maxWaitMs = Number.POSITIVE_INFINITY, random = 0, before = [] as ModelEvent[] } = {},
) {
  const waits: number[] = [];
  const notices: string[] = [];
  let asks = 0;
  const stream: Stream = async function* () {
    const error = errors[asks];
    asks += 1;
    if (error !== undefined) {
      yield* before;
      throw error;
    }
    yield done;
  };
  const sleep = async (ms: number) => void waits.push(ms / 1000);
  const notify = ({ text }: { readonly text: string }) => notices.push(text);
  const model = patient(stream, { sleep, random: () => random, notify, maxWaitMs });
  const { error } = await take(model);
  return { waits, asks, notices, code: error?.code ?? null };
}
const many = (error: Error) => Array.from({ length: 9 }, () => error);

describe("retry", () => {
  const table: readonly (readonly [string, readonly Error[], readonly number[], string | null])[] = [
    ["429, forever", many(http(429)), [2, 4, 8, 16, 32], "quota"],
    ["408", [http(408)], [2], null],
    ["409", [http(409)], [2], null],
    ["500, 502, 503, 529", [http(500), http(502), http(503), http(529)], [2, 4, 8, 16], null],
    ["a connection reset before the first byte", [lost("ECONNRESET"), lost("ECONNRESET")], [2, 4], null],
    ["a refused connection", many(lost("ECONNREFUSED")), [1], "network"],
    ["an unknown host", many(lost("ENOTFOUND")), [1], "network"],
    ["a TLS failure", many(lost("UNABLE_TO_VERIFY_LEAF_SIGNATURE")), [1], "tls"],
    ["an empty reply", many(failure("reply_empty", "empty", onceAtOnce, "")), [], "reply_empty"],
    ["401", [http(401)], [], "key_rejected"],
    ["403", [http(403)], [], "key_rejected"],
    ["400", [http(400)], [], "request_rejected"],
    ["404", [http(404)], [], "network"],
    ["402", [http(402)], [], "credit_exhausted"],
    ["x-should-retry: true", [http(400, { "x-should-retry": "true" })], [2], null],
    ["x-should-retry: false", [http(503, { "x-should-retry": "false" })], [], "provider_down"],
    ["Retry-After-Ms, once", [http(429, { "retry-after-ms": "1500" }), http(429)], [2, 4], null],
    ["Retry-After in seconds", [http(503, { "retry-after": "7" })], [7], null],
    ["Retry-After as a date", [http(429, { "retry-after": "Thu, 01 Jan 1970 00:00:12 GMT" })], [12], null],
    ["Retry-After in the past", [http(429, { "retry-after": "Wed, 01 Jan 1969 00:00:12 GMT" })], [], null],
    ["RetryInfo", [http(429, {}, { details: [{ retryDelay: "17s" }] })], [17], null],
    ["RetryInfo of a minute", [http(429, {}, { details: [{ retryDelay: "52.4s" }] }), http(429)], [53, 4], null],
    ["a wait of two minutes", [http(429, { "retry-after": "120" })], [120], null],
    ["a wait of more than two minutes", [http(429, { "retry-after": "121" })], [], "quota"],
    ["a wait of a minute, forever", many(http(429, { "retry-after": "60" })), [60, 60, 60], "quota"],
    [
      "the daily quota",
      [http(429, {}, { details: [{ violations: [{ quotaId: "RequestsPerDayPerProject" }] }, { retryDelay: "3s" }] })],
      [],
      "quota",
    ],
    ["a bug of ours", [new PaiError("internal", "bug")], [], "internal"],
    ["a timeout of the run", [new PaiError("timeout", "over")], [], "timeout"],
  ];
  test.each(table)("%s", async (_name, errors, waits, code) => {
    const ran = await run(errors);
    expect(ran.waits).toEqual([...waits]);
    expect<string | null>(ran.code).toBe(code);
    expect(ran.notices.length).toBe(ran.asks - 1);
  });

  test("waits that no server names grow, five at most; no wait outlasts the run's own time limit", async () => {
    expect((await run(many(http(503)))).waits).toEqual([2, 4, 8, 16, 32]);
    expect((await run(many(http(503)), { random: 0.5 })).waits).toEqual([2.5, 4.5, 8.5, 16.5, 32.5]);
    expect((await run(many(http(503)), { maxWaitMs: 5000 })).waits).toEqual([2]);
    expect((await run([http(429, { "retry-after": "60" })], { maxWaitMs: 45_000 })).waits).toEqual([]);
  });

  test("never asks again once an event was seen", async () => {
    const ran = await run(many(http(503)), { before: [{ type: "thought", text: "hm" }] });
    expect([ran.asks, ran.code]).toEqual([1, "provider_down"]);
  });

  test("says what it waits for and how long", async () => {
    const { notices } = await run([http(503, { "retry-after": "3" }, { message: "overloaded" })]);
    expect(notices).toEqual(["gemini is not available (HTTP 503): overloaded; asking again in 3 s (1 of 5)"]);
  });

  test("a wait ends with the signal, and nothing more is sent", async () => {
    for (const reason of [undefined, new PaiError("terminated", "SIGTERM")]) {
      let asks = 0;
      const stop = new AbortController();
      const stream: Stream = async function* () {
        asks += 1;
        yield* [];
        throw http(503);
      };
      const sleep = (_ms: number, signal: AbortSignal) =>
        new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      const model = patient(stream, { sleep });
      setTimeout(() => stop.abort(reason), 10);
      const { error } = await take(model, stop.signal);
      expect([asks, error?.code]).toEqual([1, reason === undefined ? "interrupted" : "terminated"]);
    }
  });

  test("an aborted signal asks for nothing", async () => {
    const never: Stream = () => {
      throw new Error("asked");
    };
    const model = patient(never);
    expect((await take(model, AbortSignal.abort(), request)).error?.code).toBe("interrupted");
    expect(quiet.aborted).toBe(false);
  });
});
