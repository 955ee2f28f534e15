/** The link to an MCP server over "streamable HTTP": each message is a POST, answered by JSON or a stream of events. */
import { createSseReader } from "../core/event-stream.ts";
import { isFields, type Json } from "../core/model.ts";
import type { ServerLink } from "../core/ports.ts";
import { parseMessage } from "./lines.ts";

const maxAnswer = 4 * 1024 * 1024;
const goodbyeMs = 2000;

/**
 * Opens the link; sends nothing before the first message. `headers`: of the user, besides those of the protocol. `send`: one
 * request to the server's address; must not follow redirects.
 */
export function openAddress(
  headers: Readonly<Record<string, string>>,
  send: (init: RequestInit) => Promise<Response>,
): ServerLink {
  const connection = new AbortController();
  const encoder = new TextEncoder();
  let session: string | null = null;
  let version: string | null = null;
  /** The last notification; later messages must not overtake it. */
  let notified: Promise<unknown> = Promise.resolve();
  let push: (line: string) => void = () => {};
  const input = new ReadableStream<Uint8Array>({
    start(controller) {
      push = (line) => {
        if (!connection.signal.aborted) controller.enqueue(encoder.encode(`${line}\n`));
      };
      connection.signal.addEventListener("abort", () => controller.close());
    },
  });

  const headersOf = (): Record<string, string> => ({
    ...headers,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(session === null ? {} : { "mcp-session-id": session }),
    ...(version === null ? {} : { "mcp-protocol-version": version }),
  });

  /** Passes on a message of the server as one line. Returns its id if it is an answer, else null. */
  function receive(text: string): Json {
    const line = parseMessage(text);
    if (line.kind !== "message") return null;
    const result = line.message["result"];
    const agreed = isFields(result) ? result["protocolVersion"] : undefined;
    if (version === null && typeof agreed === "string" && /^[\w.-]{1,40}$/.test(agreed)) version = agreed;
    push(JSON.stringify(line.message));
    return line.message["method"] === undefined ? (line.message["id"] ?? null) : null;
  }

  /** Posts a message. `id`: the id that its answer must have; null: a notification, which gets no answer. */
  async function post(text: string, id: Json): Promise<void> {
    await notified;
    const response = await send({ method: "POST", headers: headersOf(), body: text, signal: connection.signal });
    session ??= response.headers.get("mcp-session-id");
    if (!response.ok) {
      void response.body?.cancel().catch(() => {});
      throw new Error(explain(response.status));
    }
    let isAnswered = id === null;
    for await (const each of readAnswer(response)) if (receive(each) === id) isAnswered = true;
    if (!isAnswered) throw new Error("the server's answer holds no message for this request");
  }

  return {
    input,
    write(text) {
      const line = parseMessage(text);
      const id = line.kind === "message" ? (line.message["id"] ?? null) : null;
      const posted = post(text, id).catch((thrown: unknown) => {
        const why = thrown instanceof Error ? thrown.message : String(thrown);
        if (id !== null) push(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: why } }));
      });
      if (id === null) notified = posted;
    },
    explain: async () => "",
    takeWritten: () => [],
    kill() {
      if (connection.signal.aborted) return;
      connection.abort();
      if (session === null) return;
      const signal = AbortSignal.timeout(goodbyeMs);
      send({ method: "DELETE", headers: headersOf(), signal })
        .then((response) => response.body?.cancel())
        .catch(() => {});
    },
  };
}

async function* readAnswer(response: Response): AsyncGenerator<string, void> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const reader = isStream ? createSseReader() : null;
  const text = new TextDecoder();
  let held = "";
  for await (const bytes of response.body ?? []) {
    const piece = text.decode(bytes, { stream: true });
    const messages = reader?.push(piece) ?? [];
    held = messages.length > 0 ? "" : held + piece;
    if (held.length > maxAnswer) throw new Error(`an answer of more than ${maxAnswer} characters`);
    yield* messages;
  }
  yield* reader?.end() ?? [held].filter((whole) => whole.trim() !== "");
}

function explain(status: number): string {
  if (status === 401 || status === 403) return `the server refuses pai (HTTP ${status}): it wants a login, see headers`;
  if (status === 404) return "nothing is served at this address (HTTP 404), or the session has ended";
  if (status >= 300 && status < 400) return `the address leads elsewhere (HTTP ${status}); pai follows no redirect`;
  return `the server answers with HTTP ${status}`;
}
