/** Messages of a conversation with every secret replaced by its name. */
import type { Message } from "../model.ts";
import type { Veil } from "./veil.ts";

/** Hidden messages by original, with the veil's version then: most of a conversation is sent again and again. */
const hiddenMessages = new WeakMap<Message, { readonly version: number; readonly hidden: Message }>();

/** The message as the model gets it: secrets replaced by their names, also in calls and results. */
export function hideMessage(veil: Veil, message: Message): Message {
  const known = hiddenMessages.get(message);
  if (known !== undefined && known.version === veil.version) return known.hidden;
  const hidden = hideTexts(veil, message);
  hiddenMessages.set(message, { version: veil.version, hidden });
  return hidden;
}

function hideTexts(veil: Veil, message: Message): Message {
  if (message.role === "tools") {
    return { ...message, results: message.results.map((result) => ({ ...result, text: veil.hide(result.text) })) };
  }
  const text = veil.hide(message.text);
  if (message.role === "user") return { ...message, text };
  return { ...message, text, calls: message.calls.map((call) => ({ ...call, input: veil.hideAll(call.input) })) };
}
