/** A client of one MCP server: the handshake, its tools, calls of them; bounded in every way. */
import { isTooDeep } from "../core/caps.ts";
import { clipText } from "../core/command/clip.ts";
import { type Fields, isFields, type Json } from "../core/model.ts";
import type { CommandOptions, ServerLink } from "../core/ports.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";
import type { PinnedTool } from "../core/tool-calls.ts";
import { asFields, readMessages } from "./lines.ts";

/** How long an answer is waited for. */
export type Patience = Pick<CommandOptions, "signal" | "timeoutMs">;

export interface CallAnswer {
  readonly ok: boolean;
  readonly text: string;
  /** Files that the tool wrote into its copy of the project, where nobody will find them. */
  readonly thrownAway: readonly string[];
}

export type ToolClient = Awaited<ReturnType<typeof connectServer>>;

const version = "2025-11-25";
const maxLine = 4 * 1024 * 1024;
/** Bytes that are kept of an answer. */
const kept = { head: 48 * 1024, tail: 16 * 1024, errors: 0 } as const;
const maxError = 500;
const maxTools = 200;
const maxPages = 20;
const maxNoise = 1000;
const handshakeMs = 15_000;

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** Connects and does the handshake. When that fails, ends the server and throws. */
export async function connectServer(server: ServerLink, clientVersion: string, signal: AbortSignal) {
  const waiting = new Map<number, PromiseWithResolvers<Fields>>();
  let next = 0;
  let ended: Error | null = null;

  const end = (why: Error): void => {
    ended ??= why;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
    server.kill();
  };
  const send = (message: Fields): void => server.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

  /** Refuses requests of the server, except ping: pai offers no sampling, no elicitation, no roots. */
  function refuse({ id, method }: Fields): void {
    if (id === undefined) return;
    send(method === "ping" ? { id, result: {} } : { id, error: { code: -32601, message: "not offered" } });
  }

  function take(message: Fields): void {
    const { id, error } = message;
    if (message["method"] !== undefined) {
      refuse(message);
      return;
    }
    const asked = typeof id === "number" ? waiting.get(id) : undefined;
    waiting.delete(id as number);
    if (error === undefined) asked?.resolve(asFields(message["result"]));
    else
      asked?.reject(
        new Error(maskSecrets(textOf(asFields(error)["message"])).slice(0, maxError) || "the server refused"),
      );
  }

  async function listen(): Promise<void> {
    let noise = 0;
    for await (const line of readMessages(server.input, maxLine)) {
      if (line.kind === "message") take(line.message);
      else noise += 1;
      if (noise > maxNoise) throw new Error("the server writes lines that are not messages");
    }
    throw new Error(`the server ended${await server.explain()}`);
  }
  listen().catch((thrown) => end(thrown instanceof Error ? thrown : new Error(String(thrown))));

  function request(method: string, params: Fields, timeoutMs: number, stop: AbortSignal): Promise<Fields> {
    if (ended !== null) return Promise.reject(ended);
    stop.throwIfAborted();
    next += 1;
    const id = next;
    const asked = Promise.withResolvers<Fields>();
    waiting.set(id, asked);
    const giveUp = (why: Error): void => {
      if (!waiting.delete(id)) return;
      send({ method: "notifications/cancelled", params: { requestId: id, reason: why.message } });
      asked.reject(why);
    };
    const timer = setTimeout(() => giveUp(new Error(`no answer in ${Math.round(timeoutMs / 1000)} s`)), timeoutMs);
    const onAbort = () => giveUp(stop.reason instanceof Error ? stop.reason : new Error("interrupted"));
    stop.addEventListener("abort", onAbort, { once: true });
    send({ id, method, params });
    return asked.promise.finally(() => {
      clearTimeout(timer);
      stop.removeEventListener("abort", onAbort);
    });
  }

  try {
    const clientInfo = { name: "pai", version: clientVersion };
    await request("initialize", { protocolVersion: version, capabilities: {}, clientInfo }, handshakeMs, signal);
    send({ method: "notifications/initialized" });
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown : new Error(String(thrown));
    const isEnded = ended !== null;
    const explained = isEnded || signal.aborted ? why : new Error(`${why.message}${await server.explain()}`);
    end(explained);
    throw explained;
  }

  return {
    /** The server's tools, at most 200. Throws when the server does not follow the protocol. */
    async tools(stop: AbortSignal): Promise<readonly PinnedTool[]> {
      const found: PinnedTool[] = [];
      let cursor: Json = null;
      for (let page = 0; page < maxPages && found.length < maxTools; page += 1) {
        const result = await request("tools/list", cursor === null ? {} : { cursor }, handshakeMs, stop);
        const list = Array.isArray(result["tools"]) ? result["tools"] : [];
        found.push(...list.filter(isFields).map(readTool));
        cursor = result["nextCursor"] ?? null;
        if (cursor === null) break;
      }
      const isUsable = ({ name, schema }: PinnedTool) => /^[A-Za-z0-9_./-]{1,128}$/.test(name) && !isTooDeep(schema);
      return found.filter(isUsable).slice(0, maxTools);
    },
    async call(name: string, input: Fields, { timeoutMs, signal: stop }: Patience): Promise<CallAnswer> {
      const result = await request("tools/call", { name, arguments: input }, timeoutMs, stop);
      return { ok: result["isError"] !== true, text: renderContent(result), thrownAway: server.takeWritten() };
    },
    close: () => end(new Error("the server was ended")),
  };
}

const readTool = (tool: Fields): PinnedTool => ({
  name: textOf(tool["name"]),
  description: textOf(tool["description"]),
  schema: tool["inputSchema"] ?? {},
});

/** The text of all parts; parts that are not text are only named. Links are not followed. */
function renderContent(result: Fields): string {
  const parts = Array.isArray(result["content"]) ? result["content"].filter(isFields) : [];
  const said = parts.map((part) => {
    if (part["type"] === "text") return textOf(part["text"]);
    const resource = asFields(part["resource"]);
    return (
      textOf(resource["text"]) || `(${textOf(part["type"]) || "something"}: ${textOf(part["uri"] ?? resource["uri"])})`
    );
  });
  const structured = result["structuredContent"];
  const text = said.length === 0 && structured !== undefined ? JSON.stringify(structured) : said.join("\n");
  // Secrets in it are hidden later, so that it must not be cut in the midst of one.
  return clipText(text, kept);
}
