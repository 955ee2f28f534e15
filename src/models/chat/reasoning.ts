/** The reasoning of a reply as the server sent it: models that think between calls want it back the same way. */
import type { Json, Fields as JsonFields, Native } from "../../core/model.ts";
import { fields, listIn, textIn, type WireFields } from "../wire/fields.ts";

/** Marks native replies of a model at one address: only these may be sent back to it. */
export const nativeOfChat = (provider: string, model: string, url: string): string => `${provider}:${model} at ${url}`;

/** Fields of a message with text: of DeepSeek, Kimi and llama.cpp, of OpenRouter, vLLM and LM Studio, of Ollama. */
const textNames = ["reasoning_content", "reasoning", "thinking"] as const;

/** OpenRouter's list of blocks, with summaries, signatures and encrypted reasoning. */
const blocksName = "reasoning_details";

/** What Google's server says of a call beside the call: its signature. Of each call of the reply, in order, or null. */
const extrasName = "extra_content";

/** Fields of a block that come in pieces; of any other field the last value counts. */
const pieced: ReadonlySet<string> = new Set(["text", "summary", "data"]);

export function createReasoningKeeper() {
  const said: Record<string, string> = {};
  const blocks: Record<string, unknown>[] = [];

  function readBlock(piece: WireFields): void {
    const { type, index, id } = piece;
    const isSame = (known: unknown, value: unknown) => known == null || value == null || known === value;
    const isNext = (block: WireFields) => block["type"] === type && block["index"] === index && isSame(block["id"], id);
    const known = index === undefined ? undefined : blocks.find(isNext);
    if (known === undefined) {
      blocks.push({ ...piece });
      return;
    }
    for (const [name, value] of Object.entries(piece)) {
      if (pieced.has(name)) known[name] = textIn(known[name]) + textIn(value);
      else if (value !== null) known[name] = value;
    }
  }

  return {
    /** Takes a message or the next piece of it. Returns the text of its reasoning. */
    push(message: WireFields): string {
      for (const name of textNames) {
        if (textIn(message[name]) !== "") said[name] = (said[name] ?? "") + textIn(message[name]);
      }
      for (const piece of listIn(message[blocksName])) readBlock(fields(piece));
      return textNames.map((name) => textIn(message[name])).find((thought) => thought !== "") ?? "";
    },
    /** The fields of the whole message; null: it had no reasoning. `extras`: what came beside each of its calls, or null. */
    whole(extras: readonly unknown[]): JsonFields | null {
      const thought = blocks.length > 0 ? { [blocksName]: blocks } : said;
      const kept = extras.some((extra) => extra !== null) ? { ...thought, [extrasName]: extras } : thought;
      return Object.keys(kept).length === 0 ? null : (kept as JsonFields);
    },
  };
}

export function reasoningFor(owner: string, native: Native | null) {
  if (native?.model !== owner) return { reply: {}, calls: [] };
  const content = fields(native.content);
  const known = Object.entries(content).filter(([name]) => [...textNames, blocksName].includes(name));
  const calls = listIn(content[extrasName]).map((extra) => (extra === null ? {} : { [extrasName]: extra as Json }));
  return { reply: Object.fromEntries(known) as JsonFields, calls };
}
