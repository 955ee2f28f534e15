/** Chat Completions and Ollama's own form as they stand on the wire, for tests. */

type Fields = { readonly [key: string]: unknown };

/** One server-sent event. */
export const event = (body: unknown) => `data: ${JSON.stringify(body)}\n\n`;

export const delta = (fields: Fields, finish_reason: string | null = null) =>
  event({ object: "chat.completion.chunk", model: "qwen3-8b", choices: [{ index: 0, delta: fields, finish_reason }] });

export const done = "data: [DONE]\n\n";

export const says = (...pieces: readonly string[]) =>
  delta({ role: "assistant", content: "" }) +
  pieces.map((content) => delta({ content })).join("") +
  delta({}, "stop") +
  event({ model: "qwen3-8b", choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } }) +
  done;

/** One line of Ollama's stream. */
export const line = (fields: Fields) => `${JSON.stringify({ model: "qwen3:8b", ...fields })}\n`;
export const ollamaSays = (...pieces: readonly string[]) =>
  pieces.map((content) => line({ message: { role: "assistant", content }, done: false })).join("") +
  line({
    message: { role: "assistant", content: "" },
    done: true,
    done_reason: "stop",
    prompt_eval_count: 10,
    eval_count: 5,
  });
