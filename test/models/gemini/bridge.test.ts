/** The Gemini bridge: the contract, and what is Gemini's own. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json, ModelRequest } from "../../../src/core/model.ts";
import { type OpenOptions, openModel } from "../../../src/models/open.ts";
import { type Bridge, describeBridge } from "../contract.ts";
import { options, quiet, request, sse, take, useServer } from "../loopback.ts";
import { event, parts, says } from "./gemini-wire.ts";

const bridge: Bridge = {
  id: "gemini:gemini-2.5-flash-lite",
  baseUrl: (origin) => origin,
  keyHeader: (key) => ["x-goog-api-key", key],
  reply: (pieces) =>
    pieces.map((piece, at) => event(says(piece, at === pieces.length - 1 ? "STOP" : undefined))).join(""),
};

describeBridge(bridge);

describe("gemini", () => {
  const server = useServer();
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  beforeAll(() => {
    process.on("unhandledRejection", note);
  });
  afterAll(async () => {
    await Bun.sleep(20);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
  const open = (over: Partial<OpenOptions> = {}) =>
    openModel(options({ id: "gemini-2.5-flash-lite", baseUrl: server.origin, ...over }));
  const reply = async (...chunks: readonly unknown[]) => {
    server.answer = () => sse([chunks.map(event).join("")]);
    return take(await open());
  };

  test("posts to the stream endpoint below the base URL, with or without a slash", async () => {
    server.answer = () => sse([event(says("x", "STOP"))]);
    for (const suffix of ["", "/"]) await take(await open({ baseUrl: server.origin + suffix }));
    await take(await open({ baseUrl: `${server.origin}/gateway/google/` }));
    const path = "/v1beta/models/gemini-2.5-flash-lite:streamGenerateContent?alt=sse";
    expect(server.seen.map((each) => each.path)).toEqual([path, path, `/gateway/google${path}`]);
  });

  test("uses a connection for call after call", async () => {
    let connections = 0;
    const { createServer } = await import("node:http");
    const raw = createServer((_, answer) => answer.end(event(says("x", "STOP"))));
    raw.on("connection", () => {
      connections += 1;
    });
    await new Promise<void>((done) => raw.listen(0, "127.0.0.1", () => done()));
    const address = raw.address() as { port: number };
    const model = await open({ baseUrl: `http://127.0.0.1:${address.port}` });
    for (let n = 0; n < 5; n += 1) {
      await take(model);
      await Bun.sleep(2);
    }
    raw.close();
    // A busy machine may ask again before the connection is back.
    expect(connections).toBeLessThan(5);
  });

  test("keeps two calls of one chunk apart, with thoughts and signatures for the way back (fault 1)", async () => {
    const whole = [
      { text: "hmm", thought: true },
      { functionCall: { name: "read", args: { path: "a" } }, thoughtSignature: "S1" },
      { functionCall: { name: "read", args: { path: "b" }, id: "given" } },
    ];
    const { events, done } = await reply(parts(whole));
    expect(events.slice(0, -1)).toEqual([
      { type: "thought", text: "hmm" },
      { type: "call", call: { id: "call-1-1", name: "read", input: { path: "a" } } },
      { type: "call", call: { id: "given", name: "read", input: { path: "b" } } },
    ]);
    expect(done?.native).toEqual({ model: "gemini-2.5-flash-lite", content: { role: "model", parts: whole } });
  });

  test("leaves no timer and no listener behind (fault 5)", async () => {
    const stop = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = stop.signal;
    stop.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1;
      addEventListener.apply(stop.signal, args);
    };
    stop.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1;
      removeEventListener.apply(stop.signal, args);
    };
    server.answer = () => sse([event(says("x", "STOP"))]);
    await take(await open(), stop.signal);
    expect(listeners).toBe(0);
  });

  test("reads every form of event stream that gateways write (fault 6)", async () => {
    const [one, two] = [JSON.stringify(says("one ")), JSON.stringify(says("two", "STOP"))];
    const forms = {
      plain: `data: ${one}\n\ndata: ${two}\n\n`,
      "no space": `data:${one}\n\ndata:${two}\n\n`,
      "no last blank line": `data: ${one}\n\ndata: ${two}`,
      "one line feed": `data: ${one}\n\ndata: ${two}\n`,
      "no blank lines": `data: ${one}\ndata: ${two}\n`,
      crlf: `data: ${one}\r\n\r\ndata: ${two}\r\n\r\n`,
      cr: `data: ${one}\r\rdata: ${two}\r\r`,
      comments: `: hello\n\n: ping\ndata: ${one}\n\n:\n\ndata: ${two}\n\n: bye\n\n`,
      "event, id and retry": `retry: 10\n\nevent: message\nid: 1\ndata: ${one}\n\nevent: message\ndata: ${two}\n\n`,
      "byte order mark": `\uFEFFdata: ${one}\n\ndata: ${two}\n\n`,
      "end mark": `data: ${one}\n\ndata: ${two}\n\ndata: [DONE]\n\n`,
      "data over several lines": `data: ${JSON.stringify(says("one "), null, 1).replaceAll("\n", "\ndata: ")}\n\ndata: ${two}\n\n`,
      "a JSON list, no events": `[${one},\n${two}]`,
    };
    const model = await open();
    for (const [form, body] of Object.entries(forms)) {
      server.answer = () => sse([body]);
      expect([form, (await take(model)).text]).toEqual([form, "one two"]);
    }
  });

  test("takes an error in mid-stream for an error (fault 7)", async () => {
    const errors: readonly (readonly [Json, string])[] = [
      [{ code: 503, message: "The model is overloaded", status: "UNAVAILABLE" }, "provider_down"],
      [{ code: 429, message: "slow down", status: "RESOURCE_EXHAUSTED" }, "quota"],
      [{ message: "no code", status: "RESOURCE_EXHAUSTED" }, "quota"],
      ["only text", "provider_down"],
    ];
    for (const [error, code] of errors) {
      const taken = await reply(says("half"), { error });
      expect([taken.text, taken.error?.code]).toEqual(["half", code as "quota"]);
      expect(server.seen.length).toBe(1);
      server.seen.length = 0;
    }
    expect((await reply(says("half"), [{ error: { code: 503, message: "listed" } }])).error?.message).toContain(
      "listed",
    );
  });

  test("sends its own contents: no session rewrites them (fault 11)", async () => {
    server.answer = () => sse([event(says("x", "STOP"))]);
    const native = { role: "model", parts: [{ functionCall: { name: "read", args: {} }, thoughtSignature: "S" }] };
    const call = { id: "call-1-1", name: "read", input: {} };
    const messages: ModelRequest["messages"] = [
      { role: "user", text: "go" },
      { role: "assistant", text: "", calls: [call], native: { model: "gemini-2.5-flash-lite", content: native } },
      { role: "tools", results: [{ id: "call-1-1", name: "read", ok: true, text: "content" }] },
    ];
    await take(await open(), quiet, { ...request, messages });
    expect(server.seen.map(({ body }) => (body as { contents: Json }).contents)[0]).toEqual([
      { role: "user", parts: [{ text: "go" }] },
      native,
      { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "content" } } }] },
    ]);
  });
});
