/** JSON that a person edits: comments and trailing commas are allowed, a fault names its line, an edit keeps the rest. */
import type { Node, ParseError } from "jsonc-parser";
import { PaiError } from "../core/error.ts";
import type { Json } from "../core/model.ts";

export interface JsonText {
  readonly value: Json;
  /** The line where the value at a path begins, 1-based; 1 when nothing is there. */
  readonly lineOf: (path: readonly string[]) => number;
}

/** Loaded for a file that has comments or a fault, or is written to; Bun.JSONC would ignore text after the value. */
const openParser = (): typeof import("jsonc-parser") => require("jsonc-parser/lib/esm/main.js");

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

/** What is wrong, by the parser's number of the error; other numbers: a word that JSON does not have. */
const faults: Readonly<Record<number, string>> = {
  3: 'a name in "quotes" is expected here',
  4: "a value is expected here",
  5: "a : is expected here",
  6: "a comma is expected here",
  7: "a , or } is expected here",
  8: "a , or ] is expected here",
  9: "nothing may follow the end of the value",
  11: "a comment that is not closed",
  12: "a text that is not closed or not well formed",
  14: "a text that is not closed or not well formed",
  15: "a text that is not closed or not well formed",
  16: "a text that is not closed or not well formed",
};

/** The place of the first fault; where it is only a strange word (1), what the next one expected instead. */
function faultOf(text: string, file: string, errors: readonly ParseError[]): PaiError {
  const offset = errors[0]?.offset ?? 0;
  const { error = 0 } = errors.find((each) => each.error !== 1) ?? {};
  const isCut = text.slice(offset).trim() === "";
  const what = isCut ? "the file ends too early" : (faults[error] ?? "an unknown word");
  return new PaiError("config_invalid", `${file}, line ${lineAt(text, offset)}: ${what}`);
}

interface Tree {
  readonly root: Node | undefined;
  readonly value: Json;
}

function parseTree(text: string, file: string): Tree {
  const { parseTree: parse, getNodeValue } = openParser();
  const errors: ParseError[] = [];
  try {
    const root = parse(text, errors, { allowTrailingComma: true, disallowComments: false });
    if (errors.length > 0) throw faultOf(text, file, errors);
    return { root, value: root === undefined ? null : getNodeValue(root) };
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    throw new PaiError("config_invalid", `${file}, line 1: nested too deeply`);
  }
}

/** Most files have neither comments nor faults. */
function parsePlain(text: string): { readonly value: Json } | null {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return null;
  }
}

/** Throws config_invalid that names `file` and the line, and never shows the content. */
export function parseJsonText(given: string, file: string): JsonText {
  const text = given.replace(/^\uFEFF/, "");
  const { value } = parsePlain(text) ?? parseTree(text, file);
  return {
    value,
    lineOf(path) {
      const { root } = parseTree(text, file);
      const node = root && openParser().findNodeAtLocation(root, [...path]);
      return lineAt(text, node?.offset ?? 0);
    },
  };
}

/**
 * The text with the value at `path` replaced or added; undefined removes it. Comments and everything else stay as they
 * are. Throws config_invalid for a text with a fault, and where a name on the way holds no object.
 */
export function replaceJson(text: string, file: string, path: readonly string[], value: Json | undefined): string {
  const source = text.trim() === "" ? "{}\n" : text.replace(/^\uFEFF/, "");
  const { root } = parseTree(source, file);
  const { findNodeAtLocation, modify, applyEdits } = openParser();
  for (let depth = 0; depth < path.length; depth += 1) {
    const holder = root && findNodeAtLocation(root, path.slice(0, depth));
    if (holder !== undefined && holder.type !== "object")
      throw new PaiError("config_invalid", `${file}: ${path.slice(0, depth).join(".")} is not an object`);
  }
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: "\n" };
  return applyEdits(source, modify(source, [...path], value, { formattingOptions }));
}
