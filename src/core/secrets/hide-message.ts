/** Messages and diffs with every secret replaced by its name. Pure. */

import type { Blob, Change, FileBlob } from "../change.ts";
import { renderSteps } from "../diff.ts";
import type { Message } from "../model.ts";
import { finish } from "../steps.ts";
import { isWide } from "../text.ts";
import { mannerOfFile } from "./named-values.ts";
import { createVeil, type Veil } from "./veil.ts";

export function hideMessage(veil: Veil, message: Message): Message {
  if (message.role === "tools") {
    return { ...message, results: message.results.map((result) => ({ ...result, text: veil.hide(result.text) })) };
  }
  const text = veil.hide(message.text);
  if (message.role === "user") return { ...message, text };
  return { ...message, text, calls: message.calls.map((call) => ({ ...call, input: veil.hideAll(call.input) })) };
}

/** The file with secrets replaced by their names; the same object if it holds none. `path` decides how it is searched. */
export function hideFile(veil: Veil, path: string, file: FileBlob): FileBlob {
  const isBinary = file.bytes.subarray(0, 8000).includes(0) && !isWide(file.bytes);
  const bytes = isBinary ? file.bytes : veil.hideBytes(file.bytes, mannerOfFile(path));
  return bytes === file.bytes ? file : { ...file, bytes };
}

/** `renderChanges` with names in place of secrets, found in whole files: an excerpt of a key no longer looks like one. */
export function renderHidden(changes: readonly Change[], known: readonly string[] = []): string {
  const veil = createVeil({ known });
  const hide = (path: string, blob: Blob | null) => (blob?.kind === "file" ? hideFile(veil, path, blob) : blob);
  const seen = (change: Change): Change => ({
    ...change,
    before: hide(change.from ?? change.path, change.before),
    after: hide(change.path, change.after),
  });
  return veil.show(finish(renderSteps(changes, seen)));
}
