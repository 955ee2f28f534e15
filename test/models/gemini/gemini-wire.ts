/** Gemini's chunks as they stand on the wire, for tests. */

/** One server-sent event. */
export const event = (chunk: unknown) => `data: ${JSON.stringify(chunk)}\n\n`;
/** A chunk with text. */
export const says = (text: string, finishReason?: string) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, ...(finishReason && { finishReason }), index: 0 }],
});
/** A chunk with these parts, the last of its reply unless the reason is null. */
export const parts = (all: readonly unknown[], finishReason: string | null = "STOP") => ({
  candidates: [{ content: { role: "model", parts: all }, ...(finishReason && { finishReason }) }],
});
