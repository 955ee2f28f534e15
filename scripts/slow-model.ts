/** A model server on loopback with the speed of a small machine: 1.5 s to the first token, then 30 tokens a second. */

const firstTokenMs = 1500;
const pieceMs = 100;
/** Three tokens of about four characters. */
const pieceLength = 12;

const event = (text: string, stop: string | null): string =>
  `data: ${JSON.stringify({
    candidates: [{ content: { role: "model", parts: [{ text }] }, ...(stop === null ? {} : { finishReason: stop }) }],
    usageMetadata: { promptTokenCount: 1500, candidatesTokenCount: 300 },
  })}\r\n\r\n`;

async function* speak(text: string): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  await Bun.sleep(firstTokenMs);
  for (let at = 0; at < text.length; at += pieceLength) {
    yield encoder.encode(event(text.slice(at, at + pieceLength), null));
    await Bun.sleep(pieceMs);
  }
  yield encoder.encode(event("", "STOP"));
}

/** Serves Gemini's wire; each request gets the next reply, and the last one repeatedly. */
export function serveSlowly(replies: readonly string[]): Disposable & { readonly url: string } {
  let next = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch() {
      const text = replies[Math.min(next++, replies.length - 1)] ?? "";
      return new Response(speak(text), { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) };
}
