/** Reads the beginning of an answer's text, so that a server that sends too much does not fill the memory. */

/** About `limit` characters, all of a shorter text; the rest is not waited for. */
export async function readStart(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length >= limit) break;
  }
  return text;
}
