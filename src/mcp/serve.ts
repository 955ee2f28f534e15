/** The server for other agents: pai's plan, apply and undo as tools, in versions with and without handshake. */
import { spellInJson } from "../core/invisible.ts";
import { type Fields, isFields, type Json } from "../core/model.ts";
import type { ProtocolStreams } from "../core/ports.ts";
import { asFields, readMessages } from "./lines.ts";

/** The stateless version: every request names it. */
const modern = "2026-07-28";
/** Versions with a handshake, the newest first. */
const legacy = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

const versionKey = "io.modelcontextprotocol/protocolVersion";
/** The tools stay the same as long as the process lives. */
const caching = { ttlMs: 3_600_000, cacheScope: "private" } as const;
const maxCharacters = 16 * 1024 * 1024;

const faults = {
  [-32700]: "not JSON",
  [-32600]: "not a request",
  [-32601]: "unknown method",
  [-32602]: "wrong parameters",
  [-32022]: "unsupported protocol version",
} as const;

/** The answer to a request; null: none, because its sender has cancelled it. */
type Reply = { readonly result: Json } | { readonly error: Json } | null;

function refuse(code: keyof typeof faults, detail = "", data: Json = null): Reply {
  const message = detail === "" ? faults[code] : `${faults[code]}: ${detail}`;
  return { error: { code, message, ...(data === null ? {} : { data }) } };
}

type Id = string | number;

interface Request {
  readonly id: Id;
  readonly method: string;
  readonly params: Fields;
  readonly isModern: boolean;
}

function renderAnswer({ ok, text, data }: ToolAnswer): Json {
  return {
    content: [{ type: "text", text }],
    ...(isFields(data) ? { structuredContent: data } : {}),
    isError: !ok,
  };
}

/** Serves one agent, one call after the other, until it disconnects; then takes back the running call. */
export async function serveMcp(host: ToolHost, { input, output }: ProtocolStreams): Promise<void> {
  const bytes = new TextEncoder();
  const writer = output.getWriter();
  const send = (message: Json): void => {
    // Ignores an agent that no longer reads: the end of its input ends the server.
    writer
      .write(bytes.encode(`${spellInJson(JSON.stringify({ jsonrpc: "2.0", ...asFields(message) }))}\n`))
      .catch(() => {});
  };
  const running = new Map<Id, AbortController>();
  let queue: Promise<unknown> = Promise.resolve();

  const serverInfo = { name: "pai", title: "pai", version: host.version };
  const capabilities = { tools: {} };

  async function callTool({ id, params }: Request): Promise<Reply> {
    const name = String(params["name"] ?? "");
    if (!host.tools.some((tool) => tool.name === name)) return refuse(-32602, `unknown tool ${JSON.stringify(name)}`);
    const stop = new AbortController();
    running.set(id, stop);
    const token = asFields(params["_meta"])["progressToken"];
    let sent = 0;
    const progress = (message: string): void => {
      if (token === undefined || stop.signal.aborted) return;
      sent += 1;
      send({ method: "notifications/progress", params: { progressToken: token, progress: sent, message } });
    };
    const call = async (): Promise<Reply> => {
      const answer = await host.call({ name, input: asFields(params["arguments"]), signal: stop.signal, progress });
      return stop.signal.aborted ? null : { result: renderAnswer(answer) };
    };
    const called = queue.then(call);
    queue = called.catch(() => {});
    try {
      return await called;
    } finally {
      running.delete(id);
    }
  }

  async function answer(request: Request): Promise<Reply> {
    switch (request.method) {
      case "initialize": {
        const wanted = legacy.find((version) => version === request.params["protocolVersion"]);
        return { result: { protocolVersion: wanted ?? legacy[0], capabilities, serverInfo } };
      }
      case "server/discover":
        return { result: { supportedVersions: [modern], capabilities, serverInfo, ...caching } };
      case "ping":
        return { result: {} };
      case "tools/list":
        return { result: { tools: host.tools as unknown as Json, ...(request.isModern ? caching : {}) } };
      case "tools/call":
        return callTool(request);
      default:
        return refuse(-32601, request.method.slice(0, 100));
    }
  }

  async function reply(id: Id, method: string, params: Fields): Promise<void> {
    const version = asFields(params["_meta"])[versionKey];
    const isModern = version === modern;
    const unknown = version !== undefined && !isModern;
    const answered = unknown
      ? refuse(-32022, "", { supported: [modern], requested: version })
      : running.has(id)
        ? refuse(-32600, "this id is in use")
        : await answer({ id, method, params, isModern });
    if (answered === null) return;
    if ("error" in answered || !isModern) send({ id, ...answered });
    else send({ id, result: { resultType: "complete", ...asFields(answered.result) } });
  }

  /** Takes a message; notifications other than a cancel are ignored. */
  async function take({ id, method, params: given }: Fields): Promise<void> {
    const params = asFields(given);
    if (method === "notifications/cancelled") running.get(params["requestId"] as Id)?.abort();
    else if (typeof method !== "string" || id === undefined) return;
    else if (typeof id !== "string" && typeof id !== "number") send({ id: null, ...refuse(-32600) });
    else await reply(id, method, params);
  }

  const taken = new Set<Promise<void>>();
  try {
    for await (const line of readMessages(input, maxCharacters)) {
      if (line.kind === "fault") {
        send({ id: null, ...refuse(line.fault) });
        continue;
      }
      const taking = take(line.message);
      taken.add(taking);
      void taking.finally(() => taken.delete(taking));
    }
  } catch {
    send({ id: null, ...refuse(-32600, "a line without an end") });
  }
  for (const stop of running.values()) stop.abort();
  await Promise.all(taken);
  await writer.close().catch(() => {});
}

export interface InputSchema {
  readonly type: "object";
  readonly properties: Fields;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export interface OfferedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint: boolean;
  };
}

export interface ToolRequest {
  readonly name: string;
  readonly input: Fields;
  /** Aborted when the agent cancels, or disconnects. */
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

export interface ToolAnswer {
  readonly ok: boolean;
  readonly text: string;
  /** The answer as data; null: there is none. */
  readonly data: Json;
}

export interface ToolHost {
  readonly version: string;
  readonly tools: readonly OfferedTool[];
  /** Carries out a tool. Never rejects: a failure is an answer, too. */
  call(request: ToolRequest): Promise<ToolAnswer>;
}
