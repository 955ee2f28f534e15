/** Gemini's chunks as they stand on the wire, for tests. */

/** One server-sent event. */
export const event = (chunk: unknown) => `data: ${JSON.stringify(chunk)}\n\n`;
/** A chunk with text. */
export const says = (text: string, finishReason?: string) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, ...(finishReason && { finishReason }), index: 0 }],
});
/** A chunk with these parts, the last of its reply. */
export const parts = (all: readonly unknown[], finishReason = "STOP") => ({
  candidates: [{ content: { role: "model", parts: all }, finishReason }],
});
