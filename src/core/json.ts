/** Reads JSON as models write it: a whole reply, tolerantly, or the `intent` and `reply` of a plan while it streams. */
import { isTooDeep, replyCaps } from "./caps.ts";
import type { Json } from "./model.ts";
import { createThoughtSplitter, findClosing, openingOf } from "./script/thought.ts";

export type JsonReading = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly why: string };

/**
 * The first JSON object in a reply, in an array of one or not. Passed over: reasoning in `<think>`, fences, prose,
 * byte order marks. Mended, because nothing is lost by it: trailing commas, comments, raw line breaks in strings, odd
 * blanks, Python's constants and quotes; a whole object that was escaped once too often.
 * An object that is not closed is never closed here: `why` then begins with "cut".
 */
export function readJson(text: string): JsonReading {
  const body = withoutThoughts(text);
  const whole = body.startsWith("{") ? parseJson(body) : null;
  if (whole?.ok) return whole;
  const inner = readQuoted(body) ?? readEscaped(body);
  if (inner !== null) return readJson(inner);
  let first: JsonReading | null = null;
  for (let at = nextObject(body, 0); at >= 0; ) {
    const scanned = scanObject(body, at);
    if (scanned === null) return first ?? { ok: false, why: "cut: the JSON object is not closed" };
    const reading = parseJson(scanned.json);
    if (reading.ok && isOneOfMany(body, at, scanned.end)) return { ok: false, why: "an array, not one JSON object" };
    if (reading.ok) return reading;
    first ??= reading;
    at = nextObject(body, scanned.end);
  }
  return first ?? { ok: false, why: "there is no JSON object in the reply" };
}

function parseJson(json: string): JsonReading {
  try {
    const value = JSON.parse(json);
    return isTooDeep(value)
      ? { ok: false, why: `nested more than ${replyCaps.depth} levels deep` }
      : { ok: true, value };
  } catch (error) {
    return { ok: false, why: `not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Reasoning that never ends may go on with the answer, on a line of its own; "": it does not. */
function answerIn(thought: string): string {
  const at = thought.search(/^[ \t]*(?:\{|```)/m);
  return at < 0 ? "" : thought.slice(at);
}

/** Some servers leave out the opening tag, so the closing one counts too, unless JSON has begun before it. */
function withoutThoughts(text: string): string {
  const body = text.trimStart();
  const isOpened = openingOf(body) !== "";
  if (!isOpened && ["{", "[", '"', "```"].some((mark) => body.startsWith(mark))) return body;
  const end = findClosing(body)?.end;
  if (end === undefined) return isOpened ? answerIn(body) : body;
  return withoutThoughts(body.slice(end));
}

/** The content of a reply that is one JSON string: an object written as text. */
function readQuoted(body: string): string | null {
  const reading = /^"\s*\{/.test(body) ? parseJson(body) : null;
  return reading?.ok && typeof reading.value === "string" ? reading.value : null;
}

const entities: Readonly<Record<string, string>> = {
  quot: '"',
  "#34": '"',
  "#39": "'",
  apos: "'",
  amp: "&",
  lt: "<",
  gt: ">",
};

/** The object of a reply, unescaped, when the quote of its first key is escaped for JSON or HTML; null: it is not. */
function readEscaped(body: string): string | null {
  const [opening, quote] = /\{(?:\s|\\[nrt])*(["']|\\"|&quot;|&#34;)/.exec(body) ?? [];
  if (opening === undefined || quote === undefined || quote.length === 1) return null;
  const object = body.slice(body.indexOf(opening), body.lastIndexOf("}") + 1);
  if (quote !== '\\"') return object.replace(/&(#?\w+);/g, (all, name: string) => entities[name] ?? all);
  const reading = parseJson(escapeControls(`"${object}"`));
  return reading.ok && typeof reading.value === "string" ? reading.value : null;
}

/** A brace followed by a key, a comment or its own end; other braces are prose. */
function nextObject(text: string, from: number): number {
  const opening = /\{\s*(?:["'}]|\/[/*])/g;
  opening.lastIndex = from;
  return opening.exec(text)?.index ?? -1;
}

/** Is the object at `at` the first of several in an array? */
function isOneOfMany(text: string, at: number, end: number): boolean {
  return /\[\s*$/.test(text.slice(Math.max(0, at - 80), at)) && /^\s*,\s*[^\s\]]/.test(text.slice(end, end + 80));
}

/** Where the token that begins at `at` ends; -1: the text ends first. */
function tokenEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"' || first === "'") return stringEnd(text, at);
  if (first !== "/" && first !== "#") return at + 1;
  const mark = text.startsWith("/*", at) ? "*/" : "\n";
  const end = text.indexOf(mark, at + 2);
  return end < 0 ? -1 : end + mark.length;
}

function stringEnd(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === text[open]) return at + 1;
  }
  return -1;
}

/** A string in either kind of quotes as JSON writes it; any other token stays. */
function toJsonString(token: string): string {
  if (!/^["']/.test(token)) return token;
  const inner = token.slice(1, -1).replace(/\\.|"/gs, (mark) => (mark === '"' ? '\\"' : mark === "\\'" ? "'" : mark));
  return escapeControls(`"${inner}"`);
}

function escapeControls(quoted: string): string {
  return quoted.replace(/[\x00-\x1f]/g, (char) => JSON.stringify(char).slice(1, -1));
}

const nesting: Readonly<Record<string, number>> = { "{": 1, "[": 1, "}": -1, "]": -1 };

/** The object at `start`, mended; null when the text ends before the object does. */
function scanObject(text: string, start: number): { readonly json: string; readonly end: number } | null {
  const parts: string[] = [];
  const marks = /["'{}[\],/#]/g;
  let depth = 0;
  let from = start;
  marks.lastIndex = start;
  for (let match = marks.exec(text); match !== null; match = marks.exec(text)) {
    const { 0: mark, index } = match;
    const end = tokenEnd(text, index);
    if (end < 0) return null;
    const step = nesting[mark] ?? 0;
    parts.push(toJsonWords(text.slice(from, index)));
    if (step < 0) dropTrailingComma(parts);
    if (mark !== "/" && mark !== "#") parts.push(toJsonString(text.slice(index, end)));
    depth += step;
    if (depth === 0) return { json: parts.join(""), end };
    from = end;
    marks.lastIndex = end;
  }
  return null;
}

/** Replaces constants of Python and JavaScript, and white space that JSON does not know. Never called for strings. */
function toJsonWords(between: string): string {
  return between
    .replace(/[^\S \t\r\n]|[\u200B\u2060]/g, " ")
    .replace(/\b(?:None|undefined|NaN|True|False)\b/g, (word) =>
      word === "True" || word === "False" ? word.toLowerCase() : "null",
    );
}

function dropTrailingComma(parts: string[]): void {
  const last = parts.findLastIndex((part) => part.trim() !== "");
  if (parts[last] === ",") parts[last] = "";
}

/** Takes one character at a time, so a chunk may end anywhere. */
type Reading<T> = Generator<undefined, T, string>;

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

function* readEscape(): Reading<string> {
  const char = yield;
  if (char !== "u") return escapes[char] ?? char;
  let digits = "";
  while (digits.length < 4) digits += yield;
  return String.fromCharCode(Number.parseInt(digits, 16));
}

/** Reads to the closing quote; `show` gets whole characters as they become known. */
function* readString(show: (text: string) => void): Reading<void> {
  let high = "";
  for (let char = yield; char !== '"'; char = yield) {
    const unit = high + (char === "\\" ? yield* readEscape() : char);
    const last = unit.slice(-1);
    high = last >= "\uD800" && last <= "\uDBFF" ? last : "";
    const known = high === "" ? unit : unit.slice(0, -1);
    if (known !== "") show(known);
  }
  if (high !== "") show(high);
}

function* readWord(): Reading<string> {
  let word = "";
  yield* readString((text) => {
    word += text;
  });
  return word;
}

/** The next character that is neither blank nor comment. */
function* nextMark(): Reading<string> {
  for (let char = yield; ; char = yield) {
    if (char === "/") yield* skipComment();
    else if (char.trim() !== "") return char;
  }
}

function* skipComment(): Reading<void> {
  const isBlock = (yield) === "*";
  for (let last = "", char = yield; isBlock ? last + char !== "*/" : char !== "\n"; char = yield) last = char;
}

/** Skips a value that begins with `first`; returns the character after it. */
function* skipValue(first: string): Reading<string> {
  let depth = 0;
  for (let char = first; ; char = yield* nextMark()) {
    if (depth === 0 && /[,}\]]/.test(char)) return char;
    if (char === '"') yield* readString(() => {});
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
  }
}

export interface ReplyReader {
  /** Returns the characters of `reply` that became known, unescaped. */
  push(chunk: string): string;
  /** `complete`: there is nothing more to show. */
  value(): { readonly intent: string | null; readonly reply: string | null; readonly complete: boolean };
}

/**
 * Follows the streamed JSON of a plan for its top-level `intent` and `reply`. `push` returns nothing of a reply that
 * comes before the intent; `value` still has it.
 */
export function createReplyReader(): ReplyReader {
  let intent: string | null = null;
  let reply: string | null = null;
  let complete = false;
  let fresh = "";
  const thoughts = createThoughtSplitter();

  function* readMember(): Reading<string> {
    const key = yield* readWord();
    yield* nextMark();
    const first = yield* nextMark();
    if (first !== '"' || (key !== "intent" && key !== "reply")) return yield* skipValue(first);
    if (key === "intent") intent = yield* readWord();
    else yield* readReply();
    return yield* nextMark();
  }

  function* readReply(): Reading<void> {
    const isShown = intent !== null;
    reply = "";
    yield* readString((text) => {
      reply += text;
      if (isShown) fresh += text;
    });
  }

  function* readReplyObject(): Reading<void> {
    let char = "";
    while (char !== '"' && char !== "}") {
      while (char !== "{") char = yield;
      char = yield* nextMark();
    }
    while ((char === '"' || char === ",") && (intent === null || reply === null))
      char = char === "," ? yield* nextMark() : yield* readMember();
    complete = true;
  }

  const reading = readReplyObject();
  reading.next("");

  return {
    push(chunk) {
      fresh = "";
      const { text } = thoughts.push(chunk);
      for (let at = 0; at < text.length && !complete; at++) reading.next(text[at] ?? "");
      return fresh;
    },
    value: () => ({ intent, reply, complete }),
  };
}
