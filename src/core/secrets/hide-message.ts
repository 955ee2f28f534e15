/** Messages and diffs with every secret replaced by its name. Pure. */

import type { Blob, Change } from "../change.ts";
import { renderSteps } from "../diff.ts";
import type { Message } from "../model.ts";
import { finish } from "../steps.ts";
import { decode } from "../text.ts";
import { createVeil, type Veil } from "./veil.ts";

/** The message as the model gets it: secrets replaced by their names, also in calls and results. */
export function hideMessage(veil: Veil, message: Message): Message {
  if (message.role === "tools") {
    return { ...message, results: message.results.map((result) => ({ ...result, text: veil.hide(result.text) })) };
  }
  const text = veil.hide(message.text);
  if (message.role === "user") return { ...message, text };
  return { ...message, text, calls: message.calls.map((call) => ({ ...call, input: veil.hideAll(call.input) })) };
}

/**
 * `renderChanges` with names in place of secrets. Whole files are searched for them: an excerpt of a private key no
 * longer looks like one. `known`: secrets that are known already.
 */
export function renderHidden(changes: readonly Change[], known: readonly string[] = []): string {
  const veil = createVeil({ known });
  const hide = (blob: Blob | null): Blob | null =>
    blob?.kind === "file" && decode(blob.bytes) !== null ? { ...blob, bytes: veil.hideBytes(blob.bytes) } : blob;
  const seen = (change: Change): Change => ({ ...change, before: hide(change.before), after: hide(change.after) });
  return veil.show(finish(renderSteps(changes, seen)));
}
