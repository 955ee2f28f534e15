/** Measures the cost of a streamed reply with each bridge: processor time by length, time to the first request. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, runOnce, type Sample } from "./run.ts";

const bridges = ["gemini", "openai", "anthropic", "local", "replay"] as const;
type BridgeName = (typeof bridges)[number];

/** Characters of a reply. */
const megabyte = 1_001_000;
/** Characters of the replies: next to none, a megabyte, four megabytes. */
const lengths = [1000, megabyte, 4_001_000];

const prose =
  "The area of a circle grows with the square of its radius, so a small error in π is seen early.\n\n" +
  "- `area(r)` multiplies twice;\n- `volume(r, h)` asks it and multiplies once more, e.g. `volume(2, 10)`.\n\n" +
  "Both are in `src/area.py`; nothing else in the project knows of them, and no test does yet.\n\n";

/** Splits the text into pieces of 20 to 60 characters, as models send them. */
function* cutPieces(length: number): Generator<string> {
  const text = prose.repeat(Math.ceil(length / prose.length)).slice(0, length);
  for (let at = 0, n = 0; at < length; n += 1) {
    const size = 20 + ((n * 17) % 41);
    yield text.slice(at, at + size);
    at += size;
  }
}

/** A server-sent event with its type first, as OpenAI and Anthropic write it. */
const typed = (body: { readonly type: string; readonly [key: string]: unknown }) =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
const plain = (body: object) => `data: ${JSON.stringify(body)}\n\n`;

function renderGemini(pieces: readonly string[]): string {
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const rest = { usageMetadata, modelVersion: "gemini-3.5-flash-lite", responseId: "r1AbCdEfGhIjKlMnOpQrStUv" };
  const part = (text: string, end: object) =>
    plain({ candidates: [{ content: { parts: [{ text }], role: "model" }, ...end, index: 0 }], ...rest });
  return [...pieces.map((text) => part(text, {})), part("", { finishReason: "STOP" })].join("");
}

function renderOpenai(pieces: readonly string[]): string {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: pieces.join(""), annotations: [] }],
  };
  const place = { item_id: message.id, output_index: 0, content_index: 0 };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const response = { id: "resp_1", object: "response", model: "gpt-5", status: "in_progress", output: [] };
  return [
    typed({ type: "response.created", sequence_number: 0, response }),
    ...pieces.map((delta, at) =>
      typed({ type: "response.output_text.delta", sequence_number: at + 1, ...place, delta, logprobs: [] }),
    ),
    typed({ type: "response.output_text.done", ...place, text: pieces.join("") }),
    typed({ type: "response.output_item.done", output_index: 0, item: message }),
    typed({ type: "response.completed", response: { ...response, status: "completed", output: [message], usage } }),
  ].join("");
}

function renderAnthropic(pieces: readonly string[]): string {
  const message = {
    id: "msg_1",
    role: "assistant",
    model: "claude-haiku-4-5",
    content: [],
    usage: { input_tokens: 1 },
  };
  return [
    typed({ type: "message_start", message }),
    typed({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ...pieces.map((text) => typed({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    typed({ type: "content_block_stop", index: 0 }),
    typed({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } }),
    typed({ type: "message_stop" }),
  ].join("");
}

function renderChat(pieces: readonly string[]): string {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "bench" };
  const chunk = (delta: object, finish_reason: string | null) =>
    plain({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  return [...pieces.map((content) => chunk({ content }, null)), chunk({}, "stop"), "data: [DONE]\n\n"].join("");
}

const renderers = { gemini: renderGemini, openai: renderOpenai, anthropic: renderAnthropic, local: renderChat };

const models: Readonly<Record<BridgeName, string>> = {
  gemini: "gemini:gemini-3.5-flash-lite",
  openai: "openai:gpt-5",
  anthropic: "anthropic:claude-haiku-4-5",
  local: "local:bench",
  // Outside the project, where it would be read for the first request too.
  replay: "replay:../reply.jsonl",
};

interface StreamSample extends Sample {
  /** Milliseconds from the start of the process to its first request; 0 for a replay. */
  readonly first: number;
}

/** Runs pai once, with a single reply of this many characters. */
async function runStream(bench: Bench, bridge: BridgeName, length: number): Promise<StreamSample> {
  const pieces = [...cutPieces(length)];
  bench.next += 1;
  const cwd = join(bench.place, `work-${bench.next}`);
  mkdirSync(cwd);
  const recording = `${JSON.stringify({ text: pieces.join("") })}\n`;
  if (bridge === "replay") writeFileSync(join(bench.place, "reply.jsonl"), recording);
  const body = bridge === "replay" ? "" : renderers[bridge](pieces);
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (request.method !== "POST" || /\/api\//.test(request.url)) return new Response("", { status: 404 });
      asked = performance.now();
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const env = {
    PATH: "/usr/bin:/bin",
    HOME: join(bench.place, "home"),
    GEMINI_API_KEY: "bench-key",
    OPENAI_API_KEY: "bench-key",
    ANTHROPIC_API_KEY: "bench-key",
    PAI_BASE_URL: bridge === "local" ? `${origin}/v1` : origin,
  };
  const started = performance.now();
  try {
    const command = [bench.pai, "run", "-y", "--json", "--mode", "tool-loop", "--model", models[bridge], "tell me"];
    const sample = await runOnce(command, cwd, env);
    return { ...sample, first: asked === 0 ? 0 : asked - started };
  } finally {
    await server.stop(true);
  }
}

export interface StreamCost {
  readonly bridge: BridgeName;
  /** Milliseconds of processor time that a megabyte of text adds to a run. */
  readonly megabyte: number;
  /** Cost of four megabytes, as a multiple of `megabyte`. */
  readonly growth: number;
  /** Milliseconds to the first request; 0 for a replay. */
  readonly first: number;
}

/** Takes the minimum of all rounds: anything above it is due to other work of the machine. */
export async function measureStreams(bench: Bench, rounds: number): Promise<readonly StreamCost[]> {
  const samples = bridges.map((bridge) => ({ bridge, by: lengths.map((): StreamSample[] => []) }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { bridge, by } of samples)
      for (const [at, length] of lengths.entries()) by[at]?.push(await runStream(bench, bridge, length));
  }
  return samples.map(({ bridge, by }) => {
    const [base = 0, one = 0, four = 0] = by.map((all) => Math.min(...all.map(({ cpu }) => cpu)));
    const first = Math.min(...by.flat().map((sample) => sample.first));
    return { bridge, megabyte: one - base, growth: (four - base) / (one - base), first };
  });
}
