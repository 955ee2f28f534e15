/** Edits on text instead of bytes, for tests. */
import { applyEdits } from "../../../src/core/edit/apply-edits.ts";
import type { EditBlock } from "../../../src/core/script/script.ts";

export const toBytes = (text: string) => new TextEncoder().encode(text);
export const toText = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** What edits of a text come to: `after` or `why` there is none; what the model is told of a refusal; what was tolerated. */
export function tryEdits(before: string | null, ...blocks: readonly EditBlock[]) {
  const now = before === null ? null : toBytes(before);
  const result = applyEdits({ path: "file.ts", now, shown: null, blocks });
  if (result.kind === "refused")
    return { why: `${whyOf(result.text)} in block ${result.block}`, told: result.text, notes: [] };
  const { notes } = result;
  return result.kind === "already"
    ? { why: "already", told: "", notes }
    : { after: toText(result.bytes), told: "", notes };
}

/** The text after the edits, or why there is none. */
export function edit(before: string | null, ...blocks: readonly EditBlock[]): string {
  const { after, why } = tryEdits(before, ...blocks);
  return after ?? why;
}

const reasons = {
  ambiguous: /occurs \d+ times/,
  binary: /is binary/,
  encoding: /is not UTF-8/,
  identical: /changes nothing/,
  missing_file: /does not exist|is gone since/,
  placeholder: /leaves code out/,
};

/** The kind of a refusal by what the model is told. */
const whyOf = (text: string): string =>
  Object.entries(reasons).find(([, words]) => words.test(text.split("\n")[0] ?? ""))?.[0] ?? "not_found";
