/** MCP servers behind an address: what is sent to them, and how badly they may answer. */
import { afterEach, describe, expect, test } from "bun:test";
import { connectServer } from "../../src/mcp/client.ts";
import { openAddress } from "../../src/mcp/http-link.ts";

const signal = new AbortController().signal;
const tool = { name: "add", description: "Adds", inputSchema: { type: "object" } };

interface Asked {
  /** Of JSON-RPC; of another request than POST, of HTTP. */
  readonly method: string;
  readonly headers: Headers;
}

type Answer = (id: number | undefined) => Response | Promise<Response>;

const json = (id: number | undefined, result: object) => Response.json({ jsonrpc: "2.0", id, result });
const called = { content: [{ type: "text", text: "42" }] };
const stream = (text: string) => new Response(text, { headers: { "content-type": "text/event-stream" } });
const events = (...messages: readonly object[]) =>
  stream(messages.map((message) => `event: message\r\nid: 1\r\ndata: ${JSON.stringify(message)}\r\n\r\n`).join(""));

const open: { stop(force: boolean): unknown }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.stop(true);
});

/** A server that answers a call of its tool so. */
function serve(call: Answer, initialize: Answer | null = null) {
  const asked: Asked[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { id, method } = (request.method === "POST" ? await request.json() : { method: request.method }) as {
        readonly id?: number;
        readonly method: string;
      };
      asked.push({ method, headers: request.headers });
      if (id === undefined) return new Response(null, { status: 202 });
      if (method === "initialize") {
        if (initialize !== null) return initialize(id);
        const serverInfo = { name: "t", version: "1" };
        const hello = json(id, { protocolVersion: "2025-11-25", capabilities: {}, serverInfo });
        hello.headers.set("mcp-session-id", "s-1");
        return hello;
      }
      return method === "tools/list" ? json(id, { tools: [tool] }) : call(id);
    },
  });
  open.push(server);
  const send = (init: RequestInit) => fetch(`http://127.0.0.1:${server.port}/mcp`, { ...init, redirect: "manual" });
  const link = openAddress({ authorization: "Bearer x" }, send);
  return { asked, connect: () => connectServer(link, "1", signal) };
}

const limits = { timeoutMs: 60_000, signal };

describe("a server behind an address", () => {
  test("keeps one session: the headers, the version and the order that the protocol wants, and a goodbye", async () => {
    const { asked, connect } = serve((id) => json(id, called));
    const client = await connect();
    expect((await client.tools(signal)).map(({ name }) => name)).toEqual(["add"]);
    expect(await client.call("add", {}, limits)).toEqual({ ok: true, text: "42", thrownAway: [] });
    client.close();
    while (asked.length < 5) await Bun.sleep(5);
    expect(asked.map(({ method }) => method)).toEqual([
      "initialize",
      "notifications/initialized",
      "tools/list",
      "tools/call",
      "DELETE",
    ]);
    const sent = asked.map(({ headers }) => [headers.get("mcp-session-id"), headers.get("mcp-protocol-version")]);
    expect(sent).toEqual([[null, null], ...Array.from({ length: 4 }, () => ["s-1", "2025-11-25"])]);
    expect(asked.every(({ headers }) => headers.get("authorization") === "Bearer x")).toBe(true);
  });

  const odd: readonly (readonly [string, Answer, RegExp])[] = [
    [
      "a stream of events with messages in between",
      (id) =>
        events(
          { jsonrpc: "2.0", method: "notifications/progress" },
          { jsonrpc: "2.0", id: 9, method: "sampling/createMessage" },
          { jsonrpc: "2.0", id, result: called },
        ),
      /^42$/,
    ],
    [
      "JSON over several lines",
      (id) => new Response(JSON.stringify({ jsonrpc: "2.0", id, result: called }, null, 2)),
      /^42$/,
    ],
    ["a login page", () => new Response("<html>", { status: 401 }), /wants a login/],
    ["an ended session", () => new Response("", { status: 404 }), /the session has ended/],
    ["another address", () => Response.redirect("http://127.0.0.1:1/"), /follows no redirect/],
    ["a crash", () => new Response("", { status: 500 }), /HTTP 500/],
    ["a page instead of a message", () => new Response("<html>\n<body>"), /holds no message for this request/],
    ["the answer to another request", (id) => json((id ?? 0) + 1, called), /holds no message for this request/],
    ["nothing at all", () => new Promise(() => {}), /no answer in/],
    ["a flood", () => new Response("x".repeat(5_000_000)), /an answer of more than/],
    ["a flood in one event", () => stream(`data: ${"x".repeat(5_000_000)}`), /an answer of more than/],
  ];
  test.each(odd)("answers a call with %s: that, or what went wrong", async (what, answer, said) => {
    const { connect } = serve(answer);
    const client = await connect();
    const text = await client.call("add", {}, what === "nothing at all" ? { ...limits, timeoutMs: 200 } : limits).then(
      ({ text: given }) => given,
      (thrown: Error) => thrown.message,
    );
    expect(text).toMatch(said);
    client.close();
  });

  test("that refuses the first message, or is not there: one sentence", async () => {
    const { connect } = serve(
      (id) => json(id, called),
      () => new Response("", { status: 403 }),
    );
    await expect(connect()).rejects.toThrow("wants a login");
    const send = (init: RequestInit) => fetch("http://127.0.0.1:1/", init);
    const link = openAddress({}, send);
    await expect(connectServer(link, "1", signal)).rejects.toThrow();
  });
});
