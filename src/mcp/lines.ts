/** JSON-RPC as lines of a stream, which arrive cut anywhere. A line without an end does not fill the memory. */
import { type Fields, isFields, type Json } from "../core/model.ts";

export const asFields = (value: Json | undefined): Fields => (isFields(value) ? value : {});

type McpLine =
  | { readonly kind: "message"; readonly message: Fields }
  /** `fault`: why it is not a message, as a code of JSON-RPC. */
  | { readonly kind: "fault"; readonly fault: -32700 | -32600 };

/** The lines of a stream, until it ends. Throws when one is longer than `limit` characters. */
export async function* readMessages(input: ReadableStream<Uint8Array>, limit: number): AsyncGenerator<McpLine, void> {
  const text = new TextDecoder();
  let rest = "";
  for await (const bytes of input) {
    const lines = (rest + text.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield parseMessage(line);
    if (rest.length > limit) throw new Error(`a line of more than ${limit} characters`);
  }
}

export function parseMessage(line: string): McpLine {
  let value: Json;
  try {
    value = JSON.parse(line) as Json;
  } catch {
    return { kind: "fault", fault: -32700 };
  }
  return isFields(value) && value["jsonrpc"] === "2.0"
    ? { kind: "message", message: value }
    : { kind: "fault", fault: -32600 };
}
