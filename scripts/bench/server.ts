/** A Gemini server on loopback that answers at once from a script, and records the requests. */

export interface Seen {
  /** `performance.now()` when the request arrived. */
  readonly at: number;
  readonly body: string;
}

/** Text of a reply, or the tool that it calls. */
export type ScriptedReply = string | { readonly name: string; readonly args: object };

export interface ScriptedServer {
  readonly origin: string;
  /** Requests since the last `play`. */
  readonly seen: readonly Seen[];
  /** Sets the replies to the next requests, in order, each after `pauseMs`. `onSeen` is called for each request before it is answered. */
  play(replies: readonly ScriptedReply[], onSeen?: () => void, pauseMs?: number): void;
  stop(): Promise<void>;
}

/** A reply to a plan call that ends the run: an answer without a plan. */
export const plainAnswer = JSON.stringify({
  intent: "conversation",
  reply: "Seen.",
  analysis: null,
  execution_plan: null,
  intelligence_notes: null,
});

function renderReply(reply: ScriptedReply): string {
  const part = typeof reply === "string" ? { text: reply } : { functionCall: reply };
  const candidate = { content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  return `data: ${JSON.stringify({ candidates: [candidate], usageMetadata })}\n\n`;
}

export function openScriptedServer(): ScriptedServer {
  let replies: readonly ScriptedReply[] = [];
  let seen: Seen[] = [];
  let tell: () => void = () => {};
  let pause = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const at = performance.now();
      tell();
      seen.push({ at, body: await request.text() });
      const reply = replies[seen.length - 1];
      if (pause > 0) await Bun.sleep(pause);
      if (reply === undefined) return new Response("no reply is left", { status: 500 });
      return new Response(renderReply(reply), { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    get seen() {
      return seen;
    },
    play(next, onSeen = () => {}, pauseMs = 0) {
      pause = pauseMs;
      replies = next;
      tell = onSeen;
      seen = [];
    },
    stop: () => server.stop(true),
  };
}
