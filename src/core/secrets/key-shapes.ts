/** Finds and masks text that looks like a key. */

import { mapTexts } from "../map-texts.ts";
import { providers } from "../providers.ts";
import { findNamedValues, isDistinct, isPlaceholder, type Manner, type Span } from "./named-values.ts";

type TokenShape = readonly [kind: string, begins: string, goesOn: string];

/** The longest prefix first: several begin with `sk-`. */
const providerKeys = providers
  .flatMap(({ keyShape }) => (keyShape === null ? [] : keyShape.prefixes.map((prefix) => ({ ...keyShape, prefix }))))
  .toSorted((a, b) => b.prefix.length - a.prefix.length)
  .map(({ kind, prefix, goesOn }): TokenShape => [kind, prefix.replaceAll(".", "\\."), goesOn]);

const shapes: readonly TokenShape[] = [
  ...providerKeys,
  ["Google token", "ya29\\.", "[\\w-]{20,}"],
  ["GitHub token", "gh[pousr]_", "[A-Za-z0-9]{30,}"],
  ["GitHub token", "github_pat_", "\\w{22,}"],
  ["GitLab token", "glpat-", "[\\w-]{20,}"],
  ["Slack token", "xox[a-z]-", "[A-Za-z0-9-]{10,}"],
  ["Slack token", "xapp-", "[A-Za-z0-9-]{10,}"],
  ["AWS key id", "A[KS]IA", "[0-9A-Z]{16}(?![0-9A-Za-z])"],
  ["npm token", "npm_", "[A-Za-z0-9]{36,}"],
  ["PyPI token", "pypi-AgE", "[\\w-]{40,}"],
  ["Hugging Face token", "hf_", "[A-Za-z0-9]{30,}"],
  ["Groq key", "gsk_", "[A-Za-z0-9]{30,}"],
  ["Stripe key", "[rs]k_(?:live|test)_", "[A-Za-z0-9]{16,}"],
  ["SendGrid key", "SG\\.", "[\\w-]{20,24}\\.[\\w-]{40,}"],
  ["JSON web token", "eyJ", "[\\w-]{8,1000}\\.eyJ[\\w-]{8,8000}\\.[\\w-]{10,}"],
];

const anyToken = new RegExp(shapes.map(([, begins, goesOn]) => begins + goesOn).join("|"), "g");

const kinds = shapes.map(([kind, begins, goesOn]) => ({ kind, shape: new RegExp(`^(?:${begins}${goesOn})`) }));

/** null: it only looks like a token. */
function kindOfToken(token: string): string | null {
  const kind = kinds.find(({ shape }) => shape.test(token))?.kind ?? "API key";
  return isPlaceholder(token) || (kind === "API key" && isHyphenated(token)) ? null : kind;
}

const mask = "…[masked]";
const privateKey = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/g;
const base64Lines = /^[\w+/=\\\s]*/;
/** A password may contain an unescaped `@`; the last `@` then separates it from the host. */
const urlPassword = /:\/\/([^\s:@/"'`]{0,200}):(?=[^\s/"'`]{6})([^\s@/"'`]{1,200}(?:@[\w.!$%^*+~-]{1,200}){0,3})@/g;
/** Passwords of examples and local set-ups, which are not secret. */
const commonPassword =
  /^(?:pass|passwd|password|secret|user|admin|root|postgres|mysql|mongo|redis|guest|test|example|dev|local|app|rabbitmq|elastic)\w?\d{0,3}$/i;
/** Hashes of passwords, as crypt and its successors write them. */
const hash =
  /\$(?:1|2[abxy]?|5|6|7|y|gy|sha1|md5|apr1|argon2(?:id?|d)|scrypt|pbkdf2[a-z\d-]*)\$(?:[\w=,./+-]{1,128}\$){1,3}[\w./+]{22,128}/g;

/** The body of what ansible-vault has encrypted, whole files and values of YAML: with its password it opens everything. */
const vault = /(\$ANSIBLE_VAULT;[\w.;-]{1,100}\r?\n[ \t]*)((?:[ \t]{0,200}[\da-f]{2,160}\r?(?:\n|$)){1,10000})/g;

/** A token must begin a word, or follow an escape: `\n`, `%3D`, a terminal colour. */
const beginsWord = (text: string, at: number): boolean =>
  /(?:^|[^A-Za-z0-9]|\\[nrt]|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,9}m)$/.test(text.slice(Math.max(0, at - 12), at));

const isHyphenated = (value: string): boolean => !/\d/.test(value) || !/[A-Za-z0-9_]{16}/.test(value);

function* findWords(text: string, shape: RegExp, kindOf: (value: string) => string | null): Generator<Span> {
  for (const { 0: value, index } of text.matchAll(shape)) {
    const kind = kindOf(value);
    if (kind !== null && beginsWord(text, index)) yield { start: index, end: index + value.length, kind };
  }
}

function* findPrivateKeys(text: string): Generator<Span> {
  for (const match of text.matchAll(privateKey)) {
    const start = match.index + match[0].length;
    const next = text.indexOf("-----BEGIN", start);
    const rest = text.slice(start, Math.min(next < 0 ? text.length : next, start + 30_000));
    const close = rest.indexOf("-----END");
    const body = close < 0 ? (rest.match(base64Lines)?.[0] ?? "") : rest.slice(0, close);
    const isKey = body.replace(/[^A-Za-z0-9+/]/g, "").length >= 40;
    if (isKey) yield { start, end: start + body.length, kind: "private key" };
  }
}

function* findVaults(text: string): Generator<Span> {
  for (const { 1: head = "", 2: body = "", index } of text.matchAll(vault)) {
    const start = index + head.length;
    yield { start, end: start + body.trimEnd().length, kind: "vault" };
  }
}

function* findUrlPasswords(text: string): Generator<Span> {
  for (const match of text.matchAll(urlPassword)) {
    const [, user = "", value = ""] = match;
    if (value === user || isPlaceholder(value) || commonPassword.test(value)) continue;
    const end = match.index + match[0].length - 1;
    const isLocal = !isDistinct(value);
    yield { start: end - value.length, end, kind: "password in a URL", ...(isLocal && { isLocal }) };
  }
}

/** `spans`: in order, none inside another. `covered`: whole values under others; elsewhere they may stand alone. */
export function searchSecrets(text: string, manner: Manner = "code") {
  const all = [
    ...findPrivateKeys(text),
    ...findWords(text, anyToken, kindOfToken),
    ...findWords(text, hash, () => "password hash"),
    ...findVaults(text),
    ...findUrlPasswords(text),
    ...findNamedValues(text, manner),
  ].sort((a, b) => a.start - b.start || b.end - a.end);
  const covered: string[] = [];
  let reached = 0;
  const spans = all.flatMap((span) => {
    const free = { ...span, start: Math.max(reached, span.start) };
    if (free.start > span.start && span.kind !== "private key" && span.isLocal !== true)
      covered.push(text.slice(span.start, span.end));
    reached = Math.max(reached, span.end);
    return free.start < free.end ? [free] : [];
  });
  return { spans, covered };
}

export const findSpans = (text: string, manner: Manner = "code"): readonly Span[] => searchSecrets(text, manner).spans;

export function replaceSecrets(
  text: string,
  replace: (value: string, span: Span) => string,
  manner: Manner = "code",
): string {
  let out = "";
  let from = 0;
  for (const span of findSpans(text, manner)) {
    out += text.slice(from, span.start) + replace(text.slice(span.start, span.end), span);
    from = span.end;
  }
  return from === 0 ? text : out + text.slice(from);
}

/** The content of a line of a private key; in a diff without its sign, so that it stays a line of a diff. */
const keyLine = /(?:^|(?<=[\r\n][ +-])|(?<=[\r\n])(?![ +-]))[^\r\n]+/g;

function maskValue(value: string, { kind }: Span): string {
  if (kind === "private key") return value.replace(keyLine, "[masked]");
  return value.length < 12 ? "[masked]" : value.slice(0, 4) + mask;
}

/** Key-shaped text keeps its first four characters: `AIza…[masked]`. Lines keep their number. */
export const maskSecrets = (text: string, manner: Manner = "code"): string => replaceSecrets(text, maskValue, manner);

export const maskAll = <T>(value: T): T => mapTexts(value, (text) => maskSecrets(text));

const documented = /example/i;

export const standsIn = (text: string, value: string): boolean =>
  text.includes(value) && new RegExp(`(?<![A-Za-z0-9])${RegExp.escape(value)}(?![A-Za-z0-9])`).test(text);

/** Whether a text holds a value as a secret, or in full view. A yes for a part of a secret would confirm a guess. */
export function openHolding(text: string): (value: string) => boolean {
  const own = new Set(findSpans(text).map(({ start, end }) => text.slice(start, end)));
  const inView = replaceSecrets(text, () => "\0");
  return (value) => own.has(value) || standsIn(inView, value);
}

/** Lines (from 1) and kinds of new key-shaped texts, without examples and words; models are told of them, so no text. */
export function newSecrets(wasHeld: (value: string) => boolean, after: string) {
  const secrets: { readonly line: number; readonly kind: string }[] = [];
  let line = 1;
  let from = 0;
  for (const span of findSpans(after)) {
    const value = after.slice(span.start, span.end);
    line += after.slice(from, span.start).split("\n").length - 1;
    from = span.start;
    if (span.isLocal !== true && !documented.test(value) && !wasHeld(value)) secrets.push({ line, kind: span.kind });
  }
  return secrets;
}
