/** Finds calls that a small model writes into its text instead of making them. */
import { readJson } from "../../core/json.ts";
import { fields, parseJson, textIn } from "../wire/fields.ts";

interface TextCall {
  readonly name: string;
  readonly input: unknown;
}

/** Where a call may begin: tags of the usual chat templates, a fence, or JSON at the beginning of a line. */
const opening =
  /<tool_call>|<function(?:=|_call>)|\[TOOL_CALLS\]|<\|(?:python_tag|tool_call)\|>|```|^[^\S\n]*(?:\{|\[\s*\{)/m;
const longestOpening = "<|python_tag|>".length;

/** `names`: the tools that were offered, in lower case; without any, no call is searched. */
export function createTextCallReader(names: readonly string[]) {
  let held = "";
  let holding = false;
  /** Something of the current line has been shown, so that no JSON begins it. */
  let begun = false;

  function release(upto: number): string {
    const shown = held.slice(0, upto);
    const line = shown.slice(shown.lastIndexOf("\n") + 1);
    begun = (begun && line.length === shown.length) || line.trim() !== "";
    held = held.slice(upto);
    return shown;
  }

  return {
    /** Returns text that is surely not part of a call, to be shown at once. */
    push(piece: string): string {
      held += piece;
      if (holding) return "";
      if (names.length === 0) return release(held.length);
      const at = begun ? `.${held}`.search(opening) - 1 : held.search(opening);
      holding = at >= 0;
      // A tail that may be the beginning of an opening waits for the next piece.
      const from = Math.max(0, held.length - longestOpening);
      const tail = held.slice(from).search(/[<[`]/);
      return release(holding ? at : tail < 0 ? held.length : from + tail);
    },
    /** At the end of the reply: its calls, or the text that was held back in vain. */
    end() {
      const calls = holding ? findCalls(held, names) : [];
      return { text: calls.length === 0 ? held : "", calls };
    },
  };
}

function findCalls(held: string, names: readonly string[]): readonly TextCall[] {
  const tagged = [...held.matchAll(/<function=([\w.-]+)>([\s\S]*?)(?:<\/function>|$)/g)].map(
    ([, name = "", body = ""]) => ({ name, input: readBody(body) }),
  );
  const named = [...held.matchAll(/\[TOOL_CALLS\]\s*([\w.-]+)\s*(?:\[ARGS\])?\s*(?=\{)/g)].map(
    ({ 0: { length }, 1: name = "", index }) => ({ name, input: jsonValues(held.slice(index + length))[0] }),
  );
  const marked = [...tagged, ...named];
  const all = marked.length > 0 ? marked : jsonValues(held).flatMap((value) => readCalls(value));
  return all
    .map(({ name, input }) => ({ name: name.replace(/^functions\./, ""), input }))
    .filter(({ name, input }) => names.includes(name.toLowerCase()) && input !== undefined);
}

const closer = "</parameter>";

/** Reads arguments that are JSON, or `<parameter=name>value</parameter>` for each. */
function readBody(body: string): unknown {
  const closed = body.slice(0, body.lastIndexOf(closer) + closer.length);
  const parameters = [...closed.matchAll(/<parameter=([\w.-]+)>\n?([\s\S]*?)\n?<\/parameter>/g)];
  if (parameters.length === 0) return body.trim() === "" ? {} : parseJson(body);
  return Object.fromEntries(parameters.map(([, name = "", value = ""]) => [name, parseJson(value) ?? value]));
}

function readCalls(value: unknown): readonly TextCall[] {
  if (Array.isArray(value)) return value.flatMap(readCalls);
  const outer = fields(value);
  if (Array.isArray(outer["tool_calls"])) return readCalls(outer["tool_calls"]);
  const call = "function" in outer ? fields(outer["function"]) : outer;
  const name = textIn(call["name"]) || textIn(call["tool"]) || textIn(outer["function"]);
  const input = call["arguments"] ?? call["parameters"] ?? call["input"] ?? call["args"] ?? {};
  return name === "" ? [] : [{ name, input: typeof input === "string" ? parseJson(input) : input }];
}

/** How often each character is read on average at most: with many unclosed brackets, it would be once for each. */
const looks = 16;

function jsonValues(source: string): readonly unknown[] {
  const found: unknown[] = [];
  let left = looks * source.length;
  for (let at = 0; at < source.length && left > 0; at += 1) {
    if (source[at] !== "{" && source[at] !== "[") continue;
    const end = closingOf(source, at);
    const value = end === null ? undefined : parseLenient(source.slice(at, end));
    left -= (end ?? source.length) - at;
    if (end === null || value === undefined) continue;
    found.push(value);
    at = end - 1;
  }
  return found;
}

function parseLenient(source: string): unknown {
  const value = parseJson(source);
  if (value !== undefined || !/^\{\s*["']/.test(source)) return value;
  const reading = readJson(source);
  return reading.ok ? reading.value : undefined;
}

/** The index after the bracket that closes the one at `start`; null: none does. */
function closingOf(source: string, start: number): number | null {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;
  token.lastIndex = start;
  let depth = 0;
  for (let match = token.exec(source); match !== null; match = token.exec(source)) {
    if (match[0] === "{" || match[0] === "[") depth += 1;
    else if (match[0] === "}" || match[0] === "]") depth -= 1;
    if (depth === 0) return token.lastIndex;
  }
  return null;
}
