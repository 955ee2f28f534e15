/** Finds names of functions, classes and other code in a request or an output. Pure. */
import { linesTold } from "./mentions.ts";
import { pairsIn, splitRequest, type Term } from "./words.ts";

export interface NamedSymbol {
  readonly name: string;
  readonly by: "request" | "output";
  /** Added to the score of the file that defines it. */
  readonly weight: number;
}

const weights = { request: 0.4, example: 0.1, output: 2 } as const;
const maxNames = { request: 12, output: 20 } as const;

const changesCase = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}|\p{L}_+(?:\p{L}|\p{N})/u;
const qualified = /(?:\p{L}|[_$])(?:\p{L}|\p{N}|[_$])*(?:(?:\.|::|#|->|\\)(?:\p{L}|[_$])(?:\p{L}|\p{N}|[_$])*)*/gu;
const joints = /\.|::|#|->|\\/;
const beginning = /(?:^|[.!?:;]\s*|\n\s*|[-*(]\s*)$/;
/** At the beginning of a sentence, list item or bracket, a capital letter does not make a word a name. */
export const isCapitalWithin = (word: string, before: string): boolean =>
  /^\p{Lu}\p{Ll}{2,}/u.test(word) && !beginning.test(before);
const himself = new Set(["self", "this", "super", "cls", "std", "http", "https", "www", "com", "org"]);
const isQuote = (text: string) => /^[`'"‘’“”]/.test(text);
/** Whether a word of an output is the name of a file: after a folder, or before the number of a line. */
const isFile = (before: string, behind: string) => before === "/" || /^(?::\d|["'”’],? line \d)/.test(behind);

/** Names in what a person writes: qualified, in several words, quoted, or with a capital letter within a sentence. */
function* namesIn(request: string): Generator<string> {
  for (const { 0: found, index } of request.matchAll(qualified)) {
    const before = request.slice(Math.max(0, index - 24), index);
    const parts = found.split(joints);
    const [only = ""] = parts;
    if (before.endsWith("/") || request[index + found.length] === "/") continue;
    const isQuoted = isQuote(before.slice(-1)) && isQuote(request.slice(index + found.length));
    if (parts.length > 1) yield* parts;
    else if (changesCase.test(only) || isQuoted) yield only;
    else if (isCapitalWithin(only, before)) yield only;
  }
}

/** Characters of a line; longer lines are data. */
const maxLine = 1_000;

const name = "(?<!\\p{L}|\\p{N}|[_$])(?:\\p{L}|[_$])(?:\\p{L}|\\p{N}|[_$.:#>\\\\-])*";
/** What compilers and interpreters say of a name, the first group. Compiled only when there is an output. */
const saidOf = (): readonly RegExp[] => [
  new RegExp(`(${name}) is not (?:defined|a function|a constructor|iterable)`, "gu"),
  new RegExp(`(?:undefined|unresolved reference|Unresolved reference|undeclared name): ?(${name})`, "gu"),
  new RegExp(
    `(?:(?:symbol|location): +(?:method|class|variable)|[Uu]ndefined (?:function|method)|uninitialized constant) (${name})`,
    "gu",
  ),
  new RegExp(`(?:has no field or method|unknown field|uses unknown|not defined:) (${name})`, "gu"),
  new RegExp(`^--- FAIL: (${name})`, "gmu"),
  new RegExp(`^\\s*File "[^"\\n]+", line \\d+, in (${name})$`, "gmu"),
  new RegExp(`^\\s*(?:at|from) (?:async |new )?(${name})[ (]`, "gmu"),
  new RegExp(`^(?:#\\d+ .* )?(?:in )?(${name}(?:\\(\\*?\\w+\\)\\.\\w+)?) ?\\(.*\\)(?: at .*)?$`, "gmu"),
  new RegExp(`\\b(?:in|In function|in function) [\`'‘](?:block in )?(${name})['’\`]`, "gu"),
  new RegExp(`^\\s*\\d+: (?:0x[0-9a-f]+ - )?(${name})$`, "gmu"),
];
const trouble = /error|fail|exception|panic|undefined|unresolved|cannot|can't|not found|no such|missing|expected/i;

const isLikely = (found: string, behind: string) =>
  changesCase.test(found) || joints.test(found) || behind.startsWith("(");

/** Names in the output of a check, a compiler or an interpreter; those in its complaints come first. */
function* namesSaid(output: string): Generator<string> {
  const told = linesTold(output).filter((line) => line.length <= maxLine);
  const last = (found: string) => (found.match(/(?:\p{L}|\p{N}|[_$])+/gu) ?? []).slice(-2).toReversed();
  for (const shape of saidOf()) for (const { 1: found = "" } of told.join("\n").matchAll(shape)) yield* last(found);
  const lines = told.filter((line) => trouble.test(line));
  const quoted = new RegExp(`[\`'"‘“](?:block in )?(${name})(?:\\([^)\\n]{0,40}\\))?['"’”\`]`, "gu");
  for (const line of lines) for (const { 1: found = "" } of line.matchAll(quoted)) yield* last(found);
  for (const line of lines)
    for (const { 0: found, index } of line.matchAll(qualified)) {
      const behind = line.slice(index + found.length, index + found.length + 8);
      if (!isFile(line[index - 1] ?? "", behind) && isLikely(found, behind)) yield* last(found);
    }
}

function* distinct(names: Iterable<string>, count: number): Generator<string> {
  const seen = new Set<string>();
  for (const each of names) {
    if (each.length < 3 || himself.has(each) || seen.has(each)) continue;
    seen.add(each);
    yield each;
    if (seen.size === count) return;
  }
}

const capitalized = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);

const namesOf = ([first, second]: readonly [string, string]): readonly string[] => [
  capitalized(first) + capitalized(second),
  first + capitalized(second),
  `${first}_${second}`,
];

/** The names in the output, then those in the request: in its sentences, then in its blocks of code. */
export function symbolsIn(request: string, output: string): NamedSymbol[] {
  const { prose, code } = splitRequest(request);
  const found = new Map<string, NamedSymbol>();
  const add = (names: Iterable<string>, by: NamedSymbol["by"], weight: number): void => {
    for (const name of names) if (!found.has(name)) found.set(name, { name, by, weight });
  };
  if (output !== "") add(distinct(namesSaid(output), maxNames.output), "output", weights.output);
  add(distinct(namesIn(prose), maxNames.request), "request", weights.request);
  add(pairsIn(request).flatMap(namesOf), "request", weights.request);
  add(distinct(namesIn(code), maxNames.request), "request", weights.example);
  return [...found.values()];
}

/** Terms with which the survey counts the names; their weight is 0, so they do not change scores. */
export const termsOfSymbols = (symbols: readonly NamedSymbol[]): Term[] =>
  symbols.map(({ name: each }) => {
    const lower = each.toLowerCase();
    return { spellings: [lower], needs: lower, weight: 0 };
  });
