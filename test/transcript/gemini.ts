/** A Gemini on loopback that answers from a list and keeps what it was asked. */

export interface Answer {
  readonly text?: string;
  /** Finish reason; null: the stream ends without one. */
  readonly stop?: string | null;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The whole body, instead of a reply. */
  readonly body?: string;
  /** Makes the answer from what was asked, as a model does that names what it was shown. */
  readonly reply?: (body: string) => Answer;
  /** Wait before the first byte. */
  readonly delayMs?: number;
  /** What happens in the world between the request and the first byte. */
  readonly meanwhile?: () => void | Promise<void>;
}

export interface Asked {
  readonly url: string;
  readonly key: string | null;
  readonly body: string;
}

export interface GeminiServer {
  readonly origin: string;
  readonly requests: Asked[];
  /** Resolves when the n-th request (from 1) has arrived. */
  readonly arrived: (n: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const usage = { promptTokenCount: 100, candidatesTokenCount: 20 };

const chunk = (text: string, stop: string | null) =>
  `data: ${JSON.stringify({
    candidates: [
      { content: { role: "model", parts: text === "" ? [] : [{ text }] }, ...(stop && { finishReason: stop }) },
    ],
    usageMetadata: usage,
    modelVersion: "gemini-test",
  })}\r\n\r\n`;

/** The text in three pieces, so that nothing relies on replies that arrive whole. */
function chunksOf({ text = "", stop = "STOP" }: Answer): string[] {
  const third = Math.ceil(text.length / 3);
  return [
    chunk(text.slice(0, third), null),
    chunk(text.slice(third, 2 * third), null),
    chunk(text.slice(2 * third), stop),
  ];
}

function respond(answer: Answer): Response {
  const { status = 200, headers = {}, body } = answer;
  if (body !== undefined || status !== 200) return new Response(body ?? "", { status, headers });
  const pieces = chunksOf(answer).map((piece) => new TextEncoder().encode(piece));
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = pieces.shift();
      if (piece !== undefined) controller.enqueue(piece);
      else controller.close();
      await Bun.sleep(0);
    },
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream", ...headers } });
}

export function serveGemini(answers: readonly Answer[]): GeminiServer {
  const requests: Asked[] = [];
  const waiting: { readonly n: number; readonly go: () => void }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const answer = answers[requests.length] ?? {
        status: 500,
        body: "no answer is left",
        headers: { "x-should-retry": "false" },
      };
      requests.push({ url: request.url, key: request.headers.get("x-goog-api-key"), body: await request.text() });
      for (const { n, go } of waiting) if (requests.length >= n) go();
      await answer.meanwhile?.();
      if (answer.delayMs !== undefined) await Bun.sleep(answer.delayMs);
      return respond(answer.reply?.(requests.at(-1)?.body ?? "") ?? answer);
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    requests,
    arrived: (n) => (requests.length >= n ? Promise.resolve() : new Promise((go) => waiting.push({ n, go }))),
    stop: () => server.stop(true),
  };
}
