/** What the tests of bridges share: a request, options that wait for nothing, a server on loopback, and one call taken whole. */

import { afterAll, beforeEach, expect } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PaiError } from "../../src/core/error.ts";
import type { KeyTurns } from "../../src/core/key-turns.ts";
import type { Call, Model, ModelEvent, ModelRequest, Native } from "../../src/core/model.ts";
import type { OpenOptions } from "../../src/models/open.ts";

export const request: ModelRequest = {
  purpose: "turn",
  system: "You are a test.",
  messages: [{ role: "user", text: "say hello" }],
  tools: [],
  toolChoice: "auto",
  format: null,
  maxOutputTokens: 1000,
  isCapped: false,
  temperature: null,
};

/** The last event of a reply for which nothing was paid. */
export const done: Extract<ModelEvent, { type: "done" }> = {
  ...{ type: "done", stop: "end", served: "m", key: null, native: null },
  usage: { input: 0, cached: 0, output: 0, thought: 0 },
};

export const quiet = new AbortController().signal;

/** A folder with one recording. */
export async function folderWith(name: string, text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pai-recording-"));
  await Bun.write(join(folder, name), text);
  return folder;
}

/** Turns of keys that nothing but this process keeps. */
export function keepTurns(turns: KeyTurns = { cursor: {}, resting: {} }) {
  let kept = turns;
  return {
    load: () => kept,
    save: ({ cursor, resting }: KeyTurns) => {
      kept = { cursor: { ...kept.cursor, ...cursor }, resting: { ...kept.resting, ...resting } };
    },
  };
}

/** Options of a model that waits for nothing and remembers nothing. */
export function options(over: Partial<OpenOptions> & { id: string; baseUrl: string | null }): OpenOptions {
  return {
    keys: [{ id: "primary", key: "AIzaTESTTESTTESTTESTTESTTESTTESTTESTTE" }],
    agent: "pai/test",
    insecureHttp: false,
    folder: "/nowhere",
    keyState: keepTurns(),
    notify: () => {},
    now: () => 1_800_000_000_000,
    sleep: async () => {},
    random: () => 0,
    maxWaitMs: 45_000,
    proxyEnv: {},
    ...over,
  };
}

/** A request, a reply with these calls and their results. */
export function conversation(calls: readonly Call[], native: Native | null, text = "content", ok = true) {
  const results = calls.map(({ id, name }) => ({ id, name, ok, text }));
  return [
    { role: "user", text: "go" },
    { role: "assistant", text: "", calls, native },
    { role: "tools", results },
  ] as const satisfies ModelRequest["messages"];
}

export interface Taken {
  readonly events: readonly ModelEvent[];
  /** Joined text events. */
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly Call[];
  readonly done: Extract<ModelEvent, { type: "done" }> | null;
  readonly error: PaiError | null;
}

/** All events of one call. Fails the test for anything thrown that is no PaiError, and for a `done` that is not the last. */
export async function take(model: Pick<Model, "stream">, signal = quiet, asked = request): Promise<Taken> {
  const events: ModelEvent[] = [];
  let error: PaiError | null = null;
  try {
    for await (const event of model.stream(asked, signal)) events.push(event);
  } catch (thrown) {
    if (!(thrown instanceof PaiError)) throw thrown;
    error = thrown;
  }
  const dones = events.filter((event) => event.type === "done");
  expect(dones.length).toBe(error === null ? 1 : 0);
  if (error === null) expect(events.at(-1)).toBe(dones[0]);
  const joined = (type: "text" | "thought") => events.map((event) => (event.type === type ? event.text : "")).join("");
  const calls = events.flatMap((event) => (event.type === "call" ? [event.call] : []));
  return { events, text: joined("text"), thoughts: joined("thought"), calls, done: dones[0] ?? null, error };
}

export interface Server {
  readonly origin: string;
  /** Requests seen, bodies parsed. */
  readonly seen: { readonly headers: Headers; readonly path: string; readonly body: unknown }[];
  answer: (n: number) => Response | Promise<Response>;
  /** What the server says of itself, or a function that says it, by path, or by path and query; not among the requests seen. */
  about: Readonly<Record<string, unknown>>;
  stop(): Promise<void>;
}

/** A refusal as services word it. */
export const refusal = (error: object | string, status = 400): Response => Response.json({ error }, { status });

/** What answers on loopback until it is stopped. */
export const listen = (fetch: (request: Request) => Response | Promise<Response>) =>
  Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch });

const questions = /^\/(api\/(version|show|ps|generate|v0\/models)|props|v1\/models)$/;

/** A server on loopback that answers the n-th request (from 0) as told. */
export function serve(answer: (n: number) => Response | Promise<Response> = () => new Response("")): Server {
  const server: Server = {
    origin: "",
    seen: [],
    answer,
    about: {},
    stop: () => running.stop(true),
  };
  const running = listen(async (incoming) => {
    const { pathname, search } = new URL(incoming.url);
    const source = await incoming.text();
    if (questions.test(pathname)) {
      const known = server.about[pathname + search] ?? server.about[pathname];
      const said = typeof known === "function" ? known(source === "" ? null : JSON.parse(source)) : known;
      return said === undefined ? new Response("not found", { status: 404 }) : Response.json(said);
    }
    server.seen.push({ headers: incoming.headers, path: pathname + search, body: source && JSON.parse(source) });
    return server.answer(server.seen.length - 1);
  });
  return Object.assign(server, { origin: `http://127.0.0.1:${running.port}` });
}

/** A server for the tests of a file or of a `describe`: each begins with none seen; stopped after the last. */
export function useServer(): Server {
  const server = serve();
  beforeEach(() => {
    server.seen.length = 0;
    server.about = {};
  });
  afterAll(() => server.stop());
  return server;
}

/** What Ollama says of itself, and of a model that was made for more than is configured. */
export const ollama = {
  "/api/version": { version: "0.20.1" },
  "/api/show": { parameters: "stop x\nnum_ctx    32768", model_info: { "qwen3.context_length": 40_960 } },
  "/api/ps": { models: [] },
};

/** An event stream of these pieces; it stays open after them when `open` is set. */
export function sse(pieces: readonly (string | Uint8Array)[], { open = false } = {}): Response {
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const piece of pieces) {
        controller.enqueue(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
        await Bun.sleep(0);
      }
      if (!open) controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
