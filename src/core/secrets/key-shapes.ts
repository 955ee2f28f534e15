/** Finds and masks text that looks like a key. */
import { beginnings, kinds, tokens } from "./token-shapes.ts";

/** A key-shaped piece of text: its position, and what it seems to be. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

const mask = "…[masked]";
const privateKey = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/g;
const base64Lines = /^[\w+/=\\\s]*/;
/** A password may contain an unescaped `@`; the last `@` then separates it from the host. */
const urlPassword = /:\/\/([^\s:@/"'`]{0,200}):(?=[^\s/"'`]{6})([^\s@/"'`]{1,200}(?:@[\w.!$%^*+~-]{1,200}){0,3})@/g;
/** Passwords of examples and local set-ups, which are not secret. */
const commonPassword =
  /^(?:pass|passwd|password|secret|user|admin|root|postgres|mysql|mongo|redis|guest|test|example|dev|local|app|rabbitmq|elastic)\w?\d{0,3}$/i;
/** Words that a secret may follow. Within a group, one letter near the end tells the words apart. */
const nameEnd = /(?=\\?["'`]?(?:\]?\s{0,3}[:=,>]|\s{1,40}value\b))/.source;
const nameShapes = [
  ["key", "token"],
  ["secret"],
  ["password", "passwd", "passphrase", "pwd"],
  ["credentials", "credential"],
  ["authorization"],
];
const namePattern = (words: readonly string[]) => `(?:${words.join("|")})${nameEnd}`;
const bearerPattern = "bearer(?=\\s)";

const names = [
  ...nameShapes.map((words) => readNames(words, new RegExp(namePattern(words), "gi"))),
  readNames(["bearer"], new RegExp(bearerPattern, "gi")),
];

/** How tokens and named values begin. */
const anyBeginning = new RegExp([...beginnings, `(?i:${namePattern(nameShapes.flat())}|${bearerPattern})`].join("|"));
const maxPrechecked = 4096;
/** False for most texts of up to `maxPrechecked` characters: they hold nothing that is searched. */
const mayHold = (text: string): boolean =>
  text.length > maxPrechecked ||
  anyBeginning.test(text) ||
  text.includes("PRIVATE KEY") ||
  (text.includes("://") && text.includes("@"));

/** `key` alone names all sorts of things; with one of these before it, it names a secret. */
const keyQualifier = /(?:api|access|secret|private|auth|account|encryption|signing|master)[_-]?$/i;
const authorization = /\\?["']?\s*[:=,]\s*\\?["'`]?(?:(?:bearer|basic|token)\s+)?([\w.~+/=-]{12,})/iy;
const bearer = /\s*([\w.~+/=-]{20,})/y;
const quotedValue = /\\?["'`]?\]?\s*(?::\s*\w+\s*)?(?::=|=>|[=:,])\s*\\?["'`]([^\s"'`\\]{8,2048})\\?["'`]/y;
/** The value in a list of names and values, as in Kubernetes and Compose: `name: X`, on the next line `value: …`. */
const pairedValue = /\w*\\?["'`]?\s*,?\s{0,40}\\?["'`]?value\\?["'`]?\s*[:=]\s*\\?["'`]?([^\s"'`\\,}]{12,2048})/iy;
/** The content of an element: `<password>…</password>`, `<string name="api_key">…</string>`. */
const elementValue = /["']?\s{0,3}>\s{0,40}([^\s<>"']{12,2048})\s{0,40}<\//y;
const bareValue = /\s*[:=]\s*([\w+/=~!@#%^*-][\w+/=~!@#$%^*-]{15,2047})(?=[\s&;,]|$)/y;
/** The value of the last parameter of an address. In other places, such signs may follow code. */
const parameterName = /[?&][\w.-]{0,40}$/;
const parameterValue = /=([\w.~%+/=-]{12,2048})(?=["'`<>()[\]{}#|\\])/y;

const placeholder = /your|placeholder|change.?me|redacted|masked|dummy|x{4}|\*{3}|\.{3}|<|\$\{|\{\{|%s|(.)\1{5}/i;
/** A long value holds such characters by chance: there a placeholder is only what begins like one. */
const placeholderBegins = 48;
const isPlaceholder = (value: string): boolean => placeholder.test(value.slice(0, placeholderBegins));
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A token must begin a word, or follow an escape: `\n`, `%3D`, a terminal colour. */
function beginsWord(text: string, at: number): boolean {
  return /(?:^|[^A-Za-z0-9]|\\[nrt]|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,9}m)$/.test(text.slice(Math.max(0, at - 12), at));
}

/** Random characters change between upper case, lower case and digits far more often than words do. No id (UUID) does. */
export function looksRandom(value: string): boolean {
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value) || new Set(value).size < 8 || uuid.test(value)) return false;
  const turns = value.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g)?.length ?? 0;
  return turns / value.length >= 0.25;
}

/** `sk-loading-dots-wrapper-2` is a class name; a key has a digit and long random parts. */
function isHyphenated(value: string): boolean {
  return !/\d/.test(value) || !/[A-Za-z0-9_]{16}/.test(value);
}

/** Calls `take` with every match. Most texts have none, and iterating over matches would cost more than the search. */
function eachMatch(shape: RegExp, text: string, take: (match: RegExpExecArray) => void): void {
  shape.lastIndex = 0;
  for (let match = shape.exec(text); match !== null; match = shape.exec(text)) take(match);
}

function findTokens(text: string, found: Span[]): void {
  const take = ({ 0: value, index }: RegExpExecArray) => {
    const kind = kinds.find(({ shape }) => matchAt(shape, value, 0) !== null)?.kind ?? "API key";
    const wrong = isPlaceholder(value) || (kind === "API key" && isHyphenated(value));
    if (!wrong && beginsWord(text, index)) found.push({ start: index, end: index + value.length, kind });
  };
  for (const { shape, literal } of tokens) if (text.includes(literal)) eachMatch(shape, text, take);
}

function matchAt(shape: RegExp, text: string, at: number): RegExpExecArray | null {
  shape.lastIndex = at;
  return shape.exec(text);
}

const isParameter = (text: string, at: number) => parameterName.test(text.slice(Math.max(0, at - 60), at));

function findPrivateKeys(text: string, found: Span[]): void {
  if (!text.includes("PRIVATE KEY")) return;
  eachMatch(privateKey, text, (match) => {
    const start = match.index + match[0].length;
    const next = text.indexOf("-----BEGIN", start);
    const rest = text.slice(start, Math.min(next < 0 ? text.length : next, start + 30_000));
    const close = rest.indexOf("-----END");
    const body = close < 0 ? (rest.match(base64Lines)?.[0] ?? "") : rest.slice(0, close);
    const isKey = body.replace(/[^A-Za-z0-9+/]/g, "").length >= 40;
    if (isKey) found.push({ start, end: start + body.length, kind: "private key" });
  });
}

function findUrlPasswords(text: string, found: Span[]): void {
  if (!text.includes("://")) return;
  eachMatch(urlPassword, text, (match) => {
    const [, user = "", value = ""] = match;
    if (value === user || isPlaceholder(value) || commonPassword.test(value)) return;
    const end = match.index + match[0].length - 1;
    found.push({ start: end - value.length, end, kind: "password in a URL" });
  });
}

/** The value after a name, when it looks like a secret. */
function matchValue(text: string, name: string, at: number): RegExpExecArray | null {
  const header = name === "bearer" ? bearer : name === "authorization" ? authorization : null;
  const found =
    header === null
      ? (matchAt(quotedValue, text, at) ??
        matchAt(bareValue, text, at) ??
        matchAt(pairedValue, text, at) ??
        matchAt(elementValue, text, at) ??
        (isParameter(text, at) ? matchAt(parameterValue, text, at) : null))
      : matchAt(header, text, at);
  const value = found?.[1] ?? "";
  const isSecret = header === null ? looksRandom(value) : /\d|=$/.test(value);
  return isSecret && !isPlaceholder(value) ? found : null;
}

/** Words with one pattern for all; `back`: how far from the end the letter is that tells them apart. */
function readNames(words: readonly string[], shape: RegExp) {
  let back = 1;
  while (new Set(words.map((word) => word.at(-back))).size < words.length) back++;
  return { words, back, shape };
}

/** Whether the `key` at `at` names a secret. Most follow a quote or a blank, and are ruled out quickly. */
function isQualifiedKey(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const isPartOfName = before === 95 || before === 45 || (before > 64 && before < 123);
  return isPartOfName && keyQualifier.test(text.slice(Math.max(0, at - 12), at));
}

function takeNamedValue(text: string, name: string, end: number, found: Span[]): void {
  if (name === "key" && !isQualifiedKey(text, end - name.length)) return;
  const match = matchValue(text, name, end);
  if (match === null) return;
  const start = match.index + match[0].lastIndexOf(match[1] ?? "");
  found.push({ start, end: start + (match[1] ?? "").length, kind: `value of ${name}` });
}

function findNamedValues(text: string, found: Span[]): void {
  for (const { words, back, shape } of names) {
    shape.lastIndex = 0;
    // JSON may be full of such names, and `exec` would make a match object for each of them.
    while (shape.test(text)) {
      const end = shape.lastIndex;
      const letter = text.charCodeAt(end - back) | 32;
      const name = words.find((word) => word.charCodeAt(word.length - back) === letter);
      if (name !== undefined) takeNamedValue(text, name, end, found);
    }
  }
}

/** No kind of value above is shorter. */
const minSecret = 8;

const finders = [findPrivateKeys, findTokens, findUrlPasswords, findNamedValues];

export interface Search {
  /** In order, none inside another. */
  readonly spans: readonly Span[];
  /** Whole values that others in `spans` cover, in part or altogether: elsewhere they may stand alone. */
  readonly covered: readonly string[];
}

const nothing: Search = { spans: [], covered: [] };

/** All key-shaped pieces of a text. */
export function searchSecrets(text: string): Search {
  if (text.length < minSecret || !mayHold(text)) return nothing;
  const all: Span[] = [];
  for (const find of finders) find(text, all);
  if (all.length === 0) return nothing;
  all.sort((a, b) => a.start - b.start || b.end - a.end);
  const covered: string[] = [];
  let reached = 0;
  const spans = all.flatMap((span) => {
    const free = { ...span, start: Math.max(reached, span.start) };
    if (free.start > span.start && span.kind !== "private key") covered.push(text.slice(span.start, span.end));
    reached = Math.max(reached, span.end);
    return free.start < free.end ? [free] : [];
  });
  return { spans, covered };
}

/** Those pieces in order, none inside another. */
export const findSpans = (text: string): readonly Span[] => searchSecrets(text).spans;

/** The text with every key-shaped piece replaced by what `replace` makes of it. */
export function replaceSecrets(text: string, replace: (value: string, kind: string) => string): string {
  let out = "";
  let from = 0;
  for (const { start, end, kind } of findSpans(text)) {
    out += text.slice(from, start) + replace(text.slice(start, end), kind);
    from = end;
  }
  return from === 0 ? text : out + text.slice(from);
}

/** The content of a line of a private key; in a diff without its sign, so that it stays a line of a diff. */
const keyLine = /(?:^|(?<=[\r\n][ +-])|(?<=[\r\n])(?![ +-]))[^\r\n]+/g;

function maskValue(value: string, kind: string): string {
  if (kind === "private key") return value.replace(keyLine, "[masked]");
  return value.length < 12 ? "[masked]" : value.slice(0, 4) + mask;
}

/** Key-shaped text keeps its first four characters: `AIza…[masked]`. Lines keep their number. */
export const maskSecrets = (text: string): string => replaceSecrets(text, maskValue);
