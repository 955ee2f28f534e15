/** Diffs that are shown outside of a run. Pure. */
import type { Blob, Change } from "../change.ts";
import { renderSteps } from "../diff.ts";
import { finish } from "../steps.ts";
import { decode } from "../text.ts";
import { createVeil } from "./veil.ts";

/**
 * `renderChanges` with names in place of secrets. Whole files are searched for them: an excerpt of a private key no
 * longer looks like one. `known`: secrets that are known already.
 */
export function renderHidden(changes: readonly Change[], known: readonly string[] = []): string {
  const veil = createVeil({ known });
  const hide = (blob: Blob | null): Blob | null =>
    blob?.kind === "file" && decode(blob.bytes) !== null ? { ...blob, bytes: veil.hideBytes(blob.bytes) } : blob;
  const seen = (change: Change): Change => ({ ...change, before: hide(change.before), after: hide(change.after) });
  return veil.coverText(finish(renderSteps(changes, seen)));
}
