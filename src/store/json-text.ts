/** JSON files that people edit: comments and trailing commas are allowed, errors name the line, edits keep the rest. */
import type { Node, ParseError } from "jsonc-parser";
import { orNull, PaiError } from "../core/error.ts";
import type { Json } from "../core/model.ts";

export interface JsonText {
  readonly value: Json;
  readonly lineOf: (path: readonly string[]) => number;
}

/** Loaded only for a file with comments or errors, or to write one. Bun.JSONC would ignore text after the value. */
const openParser = (): typeof import("jsonc-parser") => require("jsonc-parser/lib/esm/main.js");

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

/** The first error, in the words of the parser: "comma expected". */
function faultOf(text: string, file: string, [first]: readonly ParseError[]): PaiError {
  const { offset, error } = first as ParseError;
  const isCut = text.slice(offset).trim() === "";
  const words = openParser()
    .printParseErrorCode(error)
    .replace(/\B(?=[A-Z])/g, " ")
    .toLowerCase();
  const what = isCut ? "the file ends too early" : words;
  return new PaiError("config_invalid", `${file}, line ${lineAt(text, offset)}: ${what}`);
}

function parseTree(text: string, file: string): { readonly root: Node | undefined; readonly value: Json } {
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

/** Parses a file. Throws config_invalid, which names `file` and the line, but never shows the content. */
export function parseJsonText(given: string, file: string): JsonText {
  const text = given.replace(/^\uFEFF/, "");
  const { value } = orNull(() => ({ value: JSON.parse(text) as Json })) ?? parseTree(text, file);
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
 * Replaces or adds the value at `path`; undefined removes it. Comments and everything else stay. Throws config_invalid
 * for an invalid text, and if a parent in the path is not an object.
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
