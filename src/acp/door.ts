/** Makes control, invisible and bidirectional characters visible in texts for the editor; not in paths and contents. */
import type { SessionUpdate, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { mapTexts } from "../core/map-texts.ts";

/** Makes text safe to show. */
export interface Showing {
  /** A complete text: control and invisible characters are spelled out, words that mix alphabets are marked. */
  readonly text: (text: string) => string;
  /** The text of a question: long runs of blanks, which push text out of sight, become their number, too. */
  readonly question: (text: string, isCommand: boolean) => string;
  /** Opens a function for text that arrives in pieces. */
  readonly open: () => (piece: string) => string;
}

/** Paths that the editor looks up, and contents that it applies. */
const exact = new Set(["path", "oldText", "newText"]);

export const showCall = (call: ToolCallUpdate, { text }: Pick<Showing, "text">): ToolCallUpdate =>
  mapTexts(call, text, exact);

/** A function that sends the updates of one turn with their texts made visible. */
export function openDoor(
  { text, open }: Showing,
  send: (update: SessionUpdate) => Promise<void>,
): (update: SessionUpdate) => Promise<void> {
  const streams = { agent_message_chunk: open(), agent_thought_chunk: open() };
  return (update) => {
    const { sessionUpdate: kind } = update;
    const isPiece = kind === "agent_message_chunk" || kind === "agent_thought_chunk";
    return send(mapTexts(update, isPiece ? streams[kind] : text, exact));
  };
}

/** Text in a code block that nothing in it can end: editors render messages as Markdown, which hides comments. */
export function asBlock(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = "`".repeat(longest + 1);
  return `${marks}${language}\n${text}\n${marks}`;
}
