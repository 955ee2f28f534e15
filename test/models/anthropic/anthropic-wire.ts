/** The events of Anthropic's Messages API as they stand on the wire, for tests. */

type Fields = { readonly [key: string]: unknown };

/** One server-sent event. */
export const event = (body: { readonly type: string; readonly [key: string]: unknown }) =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;

export const begin = (usage: Fields = { input_tokens: 10, output_tokens: 1 }) =>
  event({
    type: "message_start",
    message: { id: "msg_1", role: "assistant", model: "claude-haiku-4-5-20251001", content: [], usage },
  });

/** A block that starts like this and goes on with these deltas. */
export const block = (index: number, content_block: Fields, deltas: readonly Fields[]) =>
  [
    event({ type: "content_block_start", index, content_block }),
    event({ type: "ping" }),
    ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
    event({ type: "content_block_stop", index }),
  ].join("");

export const textBlock = (index: number, pieces: readonly string[]) =>
  block(
    index,
    { type: "text", text: "" },
    pieces.map((text) => ({ type: "text_delta", text })),
  );
export const callBlock = (index: number, name: string, pieces: readonly string[], id = "toolu_a") =>
  block(
    index,
    { type: "tool_use", id, name, input: {} },
    pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  );

export const end = (stop_reason: string, usage: Fields = { output_tokens: 12 }, more: Fields = {}) =>
  event({ type: "message_delta", delta: { stop_reason, stop_sequence: null, ...more }, usage }) +
  event({ type: "message_stop" });

export const says = (...pieces: readonly string[]) => begin() + textBlock(0, pieces) + end("end_turn");
