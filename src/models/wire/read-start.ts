/** Reads only the beginning of an answer's text, so that a server cannot fill the memory. */

/** The text up to about `limit` characters, without waiting for the rest. */
export async function readStart(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length >= limit) break;
  }
  return text;
}
