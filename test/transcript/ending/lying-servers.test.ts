/** Servers that lie about what they count, who they are and whose plan it was. */
import { expect, test } from "bun:test";
import { event, parts } from "../../models/gemini/gemini-wire.ts";
import { openPlace } from "../harness.ts";

// F18: caps were passed fifteen times over, as the estimate learned from a server that counts one token a call.
test.concurrent("a server that counts one token a call is not paid beyond the caps", async () => {
  const call = {
    ...parts([{ functionCall: { name: "read", args: { path: "a.txt" } } }]),
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
  const answer = { headers: { "content-type": "text/event-stream" }, body: event(call) };
  const files = { "a.txt": "one two three four five six seven eight\n".repeat(100) };
  for (const [cap, atMost] of [
    [["--max-tokens", "9000"], 9000 * 9],
    // Nine characters a token: pai counts eight, and JSON adds some. At 0.10 dollars a million tokens.
    [["--max-cost", "0.001"], 10_000 * 9],
  ] as const) {
    await using place = openPlace(Array(50).fill(answer), files);
    const result = await place.pai(["run", "-y", "--json", "--mode", "tool-loop", ...cap, "read it again and again"]);
    const sent = place.gemini.requests.reduce((sum, { body }) => sum + body.length, 0);
    const { error } = JSON.parse(result.stdout) as { readonly error: { readonly code: string } | null };
    expect([sent < atMost, error?.code.startsWith("budget_")], cap.join(" ")).toEqual([true, true]);
  }
});
