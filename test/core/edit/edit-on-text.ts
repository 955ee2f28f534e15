/** Edits on text instead of bytes, for tests. */
import { applyEdits } from "../../../src/core/edit/apply-edits.ts";
import type { EditBlock } from "../../../src/core/script/script.ts";

export const toBytes = (text: string) => new TextEncoder().encode(text);
export const toText = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** The text after the edit, or why there is none. */
export function edit(before: string | null, ...blocks: EditBlock[]): string {
  const now = before === null ? null : toBytes(before);
  const result = applyEdits({ path: "file.ts", now, shown: null, blocks });
  if (result.kind === "applied") return toText(result.bytes);
  return result.kind === "already" ? "already" : `${whyOf(result.text)} in block ${result.block}`;
}

export function refusalText(before: string, ...blocks: EditBlock[]): string {
  const result = applyEdits({ path: "file.ts", now: toBytes(before), shown: null, blocks });
  return result.kind === "refused" ? result.text : result.kind;
}

export function notes(before: string, ...blocks: EditBlock[]): readonly string[] {
  const result = applyEdits({ path: "file.ts", now: toBytes(before), shown: null, blocks });
  return result.kind === "refused" ? [] : result.notes;
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
export const whyOf = (text: string): string =>
  Object.entries(reasons).find(([, words]) => words.test(text.split("\n")[0] ?? ""))?.[0] ?? "not_found";
