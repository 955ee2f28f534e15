/** Edits: the table of cases from many tools, then what must hold for every file and every edit. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { applyEdits } from "../../src/core/edit.ts";

interface ApplyCase {
  readonly id: string;
  readonly file_before: string | null;
  readonly search: string;
  readonly replace: string;
  readonly all?: true;
  readonly expected: "applied" | "refused";
  readonly file_after?: string;
}

const cases: readonly ApplyCase[] = readFileSync(join(import.meta.dir, "../data/apply_cases.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

const toBytes = (text: string) => new TextEncoder().encode(text);
const toText = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

describe("the corpus", () => {
  for (const one of cases) {
    test(`${one.id}: ${one.expected} (P01, D27-D29, D32, D43, D50-D54)`, () => {
      const { search, replace, all } = one;
      const result = applyEdits({
        path: "file.txt",
        now: one.file_before === null ? null : toBytes(one.file_before),
        shown: null,
        blocks: [all === true ? { search, replace, all } : { search, replace }],
      });
      if (one.expected === "refused") expect(result.kind).not.toBe("applied");
      else expect(result.kind === "applied" ? toText(result.bytes) : result).toBe(one.file_after ?? "");
    });
  }
});
