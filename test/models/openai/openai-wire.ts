/** The events of OpenAI's Responses API as they stand on the wire, for tests. */

/** One server-sent event. */
export const event = (body: { readonly type: string; readonly [key: string]: unknown }) =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;

const head = { id: "resp_1", object: "response", model: "gpt-5-2025-08-07" };

/** The whole stream of a reply with these items; text items are streamed in their pieces. */
export function reply(
  items: readonly { readonly [key: string]: unknown }[],
  { last = {}, pieces = [] as readonly string[] } = {},
): string {
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 12,
    output_tokens_details: { reasoning_tokens: 7 },
  };
  return [
    event({ type: "response.created", response: { ...head, status: "in_progress", error: null, output: [] } }),
    ...pieces.map((delta) => event({ type: "response.output_text.delta", output_index: 0, delta })),
    ...items.map((item, output_index) => event({ type: "response.output_item.done", output_index, item })),
    event({
      type: "response.completed",
      response: { ...head, status: "completed", error: null, output: items, usage, ...last },
    }),
  ].join("");
}

export const message = (said: string) => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: said, annotations: [] }],
});
export const call = (name: string, input: string, id = "call_a") => ({
  type: "function_call",
  id: "fc_1",
  call_id: id,
  name,
  arguments: input,
  status: "completed",
});
export const says = (...pieces: readonly string[]) => reply([message(pieces.join(""))], { pieces });
