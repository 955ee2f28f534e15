/** Several keys: each call takes the next, a key at its limit rests. */
import { beforeEach, describe, expect, test } from "bun:test";
import type { PaiError } from "../../src/core/error.ts";
import type { ModelEvent } from "../../src/core/model.ts";
import { takeKeysInTurn } from "../../src/models/keys-in-turn.ts";
import { withRetry } from "../../src/models/stream.ts";
import { readHttpError } from "../../src/models/wire/http-errors.ts";
import { done, keepTurns, take } from "./loopback.ts";

let now: number;
let turns: ReturnType<typeof keepTurns>;
let notices: string[];
let used: string[];
/** What each key answers with; absent: a reply. */
let fails: Record<string, PaiError | undefined>;

beforeEach(() => {
  now = 1_000_000;
  turns = keepTurns();
  notices = [];
  used = [];
  fails = {};
});

const http = (id: string, status: number, headers: Record<string, string> = {}) =>
  readHttpError(
    { provider: "gemini", model: "m", key: { id, key: `secret-${id}` }, address: "https://x", proxy: false },
    { status, headers: new Headers(headers), body: "", now },
  );

function open(ids = ["a", "b", "c"], before: readonly ModelEvent[] = []) {
  const keys = ids.map((id) => ({
    id,
    async *stream(): AsyncIterable<ModelEvent> {
      used.push(id);
      yield* before;
      const error = fails[id];
      if (error !== undefined) throw error;
      yield { ...done, key: id };
    },
  }));
  const stream = takeKeysInTurn(keys, "gemini", {
    keyState: turns,
    notify: ({ text }) => notices.push(text),
    now: () => now,
  });
  return { stream };
}

describe("keys in turn", () => {
  test("start with the default key and go round, from run to run", async () => {
    const model = open();
    for (let n = 0; n < 4; n += 1) await take(model);
    await take(open());
    expect(used).toEqual(["a", "b", "c", "a", "b"]);
    expect(turns.load().cursor).toEqual({ gemini: "b" });
  });

  test("a key at its quota rests for the named time and the next is used at once", async () => {
    fails = { a: http("a", 429, { "retry-after": "30" }) };
    const model = open();
    expect((await take(model)).done?.key).toBe("b");
    expect(turns.load().resting).toEqual({ "gemini/a": now + 30_000 });
    expect(notices).toEqual(['the key "a" is over its limit at gemini; trying the next key']);
    fails = {};
    for (let n = 0; n < 3; n += 1) await take(model);
    now += 30_001;
    for (let n = 0; n < 2; n += 1) await take(model);
    expect(used).toEqual(["a", "b", "c", "b", "c", "a", "b"]);
  });

  test("it rests ten minutes when no time is named, and spent credit rests too", async () => {
    fails = { a: http("a", 429), b: http("b", 402) };
    await take(open());
    expect(turns.load().resting).toEqual({ "gemini/a": now + 600_000, "gemini/b": now + 600_000 });
  });

  test("when all rest nothing is sent and the earliest time is named", async () => {
    const resting = { "gemini/a": now + 90_000, "gemini/b": now + 50_000, "openai/c": 0 };
    turns = keepTurns({ cursor: {}, resting });
    const { error } = await take(open(["a", "b"]));
    expect(error).toMatchObject({ code: "quota", retryAfter: 50 });
    expect(error?.hint).toContain("in 50 s");
    expect(used).toEqual([]);
  });

  test("a refused key is named and passed over for good; the others go on", async () => {
    fails = { a: http("a", 401) };
    const model = open(["a", "b"]);
    for (let n = 0; n < 3; n += 1) expect((await take(model)).done?.key).toBe("b");
    expect(used).toEqual(["a", "b", "b", "b"]);
    expect(notices).toEqual(['gemini refused the key "a" (HTTP 401); trying the next key']);
  });

  test("when every key is refused the error is the provider's own", async () => {
    fails = { a: http("a", 401), b: http("b", 403) };
    expect((await take(open(["a", "b"]))).error).toMatchObject({ code: "key_rejected" });
  });

  test("a failure that is not the key's, or after the first event, stays", async () => {
    fails = { a: http("a", 503) };
    expect((await take(open())).error?.code).toBe("provider_down");
    fails = { a: http("a", 429), b: http("b", 429), c: http("c", 429) };
    expect((await take(open(["a", "b"], [{ type: "text", text: "x" }]))).error?.code).toBe("quota");
    expect(used).toEqual(["a", "b"]);
  });

  test("with retry: a short rest of all keys is waited for, a long one is not", async () => {
    const waits: number[] = [];
    const sleep = async (ms: number) => {
      waits.push(ms);
      now += ms;
      fails = {};
    };
    const patient = (model: ReturnType<typeof open>) => ({
      stream: withRetry(model.stream, { sleep, random: () => 0, notify: () => {}, maxWaitMs: 45_000 }),
    });
    fails = { a: http("a", 429, { "retry-after": "20" }), b: http("b", 429, { "retry-after": "10" }) };
    expect((await take(patient(open(["a", "b"])))).done?.key).toBe("b");
    expect(waits).toEqual([10_000]);
    fails = { a: http("a", 429), b: http("b", 429) };
    now += 60_000;
    expect((await take(patient(open(["a", "b"])))).error).toMatchObject({ code: "quota", retryAfter: 600 });
    expect(waits).toEqual([10_000]);
  });
});
