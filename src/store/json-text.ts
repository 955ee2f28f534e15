/** JSON a person edits: comments and trailing commas allowed, every value knows its place in the text. */
import { PaiError } from "../core/error.ts";
import type { Json } from "../core/model.ts";

/** Where a value stands: offsets in the text, and the line of its first character, 1-based. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

export interface JsonText {
  readonly value: Json;
  /** By path, its names joined by NUL; the whole value is at "". */
  readonly spans: ReadonlyMap<string, Span>;
}

const blank = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const scalar = /"(?:[^"\\\n]|\\[^\n])*"|-?[\d.][\w.+-]*|[a-z]+/iy;
const deepest = 64;

/** The key of `spans` for a path. */
export const pathOf = (names: readonly string[]): string => names.join("\0");

/** Throws config_invalid that names `file` and the line, and never shows the content. */
export function parseJsonText(text: string, file: string): JsonText {
  const spans = new Map<string, Span>();
  let at = text.startsWith("\uFEFF") ? 1 : 0;

  const lineOf = (offset: number): number => text.slice(0, offset).split("\n").length;
  const fault = (what: string): PaiError =>
    new PaiError(
      "config_invalid",
      `${file}, line ${lineOf(at)}: ${at >= text.length ? "the file ends too early" : what}`,
    );
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? "";
  };
  const take = (mark: string): boolean => {
    at += match(blank).length;
    if (text[at] !== mark) return false;
    at += 1;
    return true;
  };
  const parseScalar = (): Json => {
    const token = match(scalar);
    try {
      const value = JSON.parse(token) as Json;
      at += token.length;
      return value;
    } catch {
      throw fault(text[at] === '"' ? "a text that is not closed or not well formed" : "a value is expected here");
    }
  };
  /** Calls `one` for each member until the closing mark. */
  const parseMembers = (close: string, one: () => void): void => {
    while (!take(close)) {
      one();
      if (take(",")) continue;
      if (take(close)) return;
      throw fault(`a , or ${close} is expected here`);
    }
  };
  const parseObject = (path: readonly string[]): Json => {
    const entries: [string, Json][] = [];
    parseMembers("}", () => {
      if (text[at] !== '"') throw fault('a name in "quotes" is expected here');
      const name = String(parseScalar());
      if (!take(":")) throw fault("a : is expected here");
      entries.push([name, parseValue([...path, name])]);
    });
    return Object.fromEntries(entries);
  };
  const parseList = (path: readonly string[]): Json => {
    const values: Json[] = [];
    parseMembers("]", () => {
      values.push(parseValue([...path, String(values.length)]));
    });
    return values;
  };
  const parseValue = (path: readonly string[]): Json => {
    if (path.length > deepest) throw fault("nested too deeply");
    at += match(blank).length;
    const start = at;
    const value = take("{") ? parseObject(path) : take("[") ? parseList(path) : parseScalar();
    spans.set(pathOf(path), { start, end: at, line: lineOf(start) });
    return value;
  };

  const value = parseValue([]);
  at += match(blank).length;
  if (at < text.length) throw fault("nothing may follow the end of the value");
  return { value, spans };
}

/** The text with the value at `path` replaced or added; comments and everything else stay as they are. */
export function replaceJson(text: string, file: string, path: readonly string[], value: Json): string {
  const source = text.trim() === "" ? "{}\n" : text;
  const { spans } = parseJsonText(source, file);
  const old = spans.get(pathOf(path));
  if (old !== undefined) return source.slice(0, old.start) + render(value, path.length) + source.slice(old.end);
  let depth = path.length - 1;
  while (!spans.has(pathOf(path.slice(0, depth)))) depth -= 1;
  const parent = spans.get(pathOf(path.slice(0, depth)));
  if (parent === undefined || source[parent.start] !== "{") {
    throw new PaiError("config_invalid", `${file}: ${path.slice(0, depth).join(".")} is no object`);
  }
  const added = path.slice(depth + 1).reduceRight<Json>((inner, name) => ({ [name]: inner }), value);
  const indent = "  ".repeat(depth + 1);
  const member = `\n${indent}${JSON.stringify(path[depth])}: ${render(added, depth + 1)}`;
  const rest = source.slice(parent.start + 1);
  const alone = /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*\}/.test(rest);
  return `${source.slice(0, parent.start + 1)}${member}${alone ? "" : ","}${rest.startsWith("}") ? `\n${indent.slice(2)}` : ""}${rest}`;
}

function render(value: Json, depth: number): string {
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${"  ".repeat(depth)}`);
}
