/** Finds and masks what looks like a key, and every spelling of the keys we hold. */

/** A key-shaped piece of text: where it stands, and what it seems to be. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

export interface Secret {
  /** 1-based. */
  readonly line: number;
  readonly kind: string;
  /** Masked: safe to show. */
  readonly sample: string;
}

/** Tokens that name their maker by how they begin. */
const tokenShapes: readonly (readonly [kind: string, shape: RegExp])[] = [
  ["Google key", /AIza[\w-]{30,}|AQ\.[\w-]{30,}/],
  ["Google token", /ya29\.[\w-]{20,}/],
  ["Anthropic key", /sk-ant-[\w-]{16,}/],
  ["API key", /sk-[\w-]{20,}/],
  ["GitHub token", /gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,}/],
  ["GitLab token", /glpat-[\w-]{20,}/],
  ["Slack token", /xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}/],
  ["AWS key id", /A[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z])/],
  ["npm token", /npm_[A-Za-z0-9]{36,}/],
  ["PyPI token", /pypi-AgE[\w-]{40,}/],
  ["Hugging Face token", /hf_[A-Za-z0-9]{30,}/],
  ["Groq key", /gsk_[A-Za-z0-9]{30,}/],
  ["Stripe key", /[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/],
  ["SendGrid key", /SG\.[\w-]{20,}\.[\w-]{40,}/],
  ["JSON web token", /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{10,}/],
];
const anyToken = new RegExp(tokenShapes.map(([, shape]) => shape.source).join("|"), "g");

const mask = "…[masked]";
const privateKey = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/g;
const privateKeyBody = /[\s\S]*?(?=-----END [A-Z0-9 ]*PRIVATE KEY)|[\w+/=\\\s]*/y;
const authorization =
  /authorization\\?["']?\s*[:=,]\s*\\?["'`]?(?:(?:bearer|basic|token)\s+)?([\w.~+/=-]{12,})|\bbearer\s+([\w.~+/=-]{20,})/gi;
const urlPassword = /:\/\/[^\s:@/]+:([^\s@/"'`]{12,})@/g;
const secretName =
  /(?:(?:api|access|secret|private|auth|account|encryption|signing|master)[_-]?key|secret|token|passw(?:or)?d|passphrase|pwd|credentials?)(?=\\?["'`]?\]?\s{0,3}[:=])/gi;
const quotedValue = /\\?["'`]?\]?\s*(?::\s*\w+\s*)?(?::=|=>|=|:)\s*\\?["'`]([^\s"'`\\]{12,512})\\?["'`]/y;
const bareValue = /\s*[:=]\s*([\w+/=~-]{16,512})(?=[\s&;,]|$)/y;

const placeholder = /your|placeholder|change.?me|redacted|masked|dummy|x{4}|\*{3}|\.{3}|<|\$\{|\{\{|%s|(.)\1{5}/i;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const documented = /example/i;

/** A token must begin a word, or follow an escape: `\n`, `%3D`, a terminal colour. */
function beginsWord(text: string, at: number): boolean {
  return /(?:^|[^A-Za-z0-9]|\\[nrt]|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,9}m)$/.test(text.slice(Math.max(0, at - 12), at));
}

/** Words change their letters' class at word limits, random characters in nearly every second place. */
function looksRandom(value: string): boolean {
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value) || new Set(value).size < 8 || uuid.test(value)) return false;
  const turns = value.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g)?.length ?? 0;
  return turns / value.length >= 0.25;
}

/** `sk-loading-dots-wrapper-2` is a class name; a key has a digit and long random parts. */
function isHyphenated(value: string): boolean {
  return !/\d/.test(value) || !/[A-Za-z0-9_]{16}/.test(value);
}

function* findTokens(text: string): Generator<Span> {
  for (const { 0: value, index } of text.matchAll(anyToken)) {
    const kind = tokenShapes.find(([, shape]) => value.search(shape) === 0)?.[0] ?? "API key";
    const wrong = placeholder.test(value) || (kind === "API key" && isHyphenated(value));
    if (!wrong && beginsWord(text, index)) yield { start: index, end: index + value.length, kind };
  }
}

function* findPrivateKeys(text: string): Generator<Span> {
  if (!text.includes("PRIVATE KEY")) return;
  for (const match of text.matchAll(privateKey)) {
    privateKeyBody.lastIndex = match.index + match[0].length;
    const body = privateKeyBody.exec(text)?.[0] ?? "";
    if (body.replace(/[^A-Za-z0-9+/]/g, "").length < 40) continue;
    yield {
      start: match.index + match[0].length,
      end: match.index + match[0].length + body.length,
      kind: "private key",
    };
  }
}

function* findCredentials(text: string): Generator<Span> {
  for (const match of text.matchAll(authorization)) {
    const value = match[1] ?? match[2] ?? "";
    if (placeholder.test(value) || documented.test(value) || !/\d|=$/.test(value)) continue;
    const end = match.index + match[0].length;
    yield { start: end - value.length, end, kind: "authorization" };
  }
  if (!text.includes("://")) return;
  for (const match of text.matchAll(urlPassword)) {
    const value = match[1] ?? "";
    if (placeholder.test(value) || !looksRandom(value)) continue;
    const end = match.index + match[0].length - 1;
    yield { start: end - value.length, end, kind: "password in a URL" };
  }
}

function* findNamedValues(text: string): Generator<Span> {
  for (const match of text.matchAll(secretName)) {
    const after = match.index + match[0].length;
    quotedValue.lastIndex = after;
    bareValue.lastIndex = after;
    const found = quotedValue.exec(text) ?? bareValue.exec(text);
    const value = found?.[1] ?? "";
    if (found === null || placeholder.test(value) || documented.test(value) || !looksRandom(value)) continue;
    const start = found.index + found[0].lastIndexOf(value);
    yield { start, end: start + value.length, kind: `value of ${match[0].toLowerCase()}` };
  }
}

/** All spans in order, none inside another. */
function findSpans(text: string): Span[] {
  const all = [...findPrivateKeys(text), ...findTokens(text)];
  if (/authorization|bearer|:\/\//i.test(text)) all.push(...findCredentials(text));
  all.push(...findNamedValues(text));
  all.sort((a, b) => a.start - b.start || b.end - a.end);
  let reached = 0;
  return all.filter((span) => {
    const free = span.start >= reached;
    if (free) reached = span.end;
    return free;
  });
}

function maskSpan(text: string, span: Span): string {
  const value = text.slice(span.start, span.end);
  if (span.kind === "private key") return value.replace(/[^\r\n]+/g, "[masked]");
  return value.slice(0, 4) + mask;
}

/** Key-shaped text keeps its first four characters: `AIza…[masked]`. Lines keep their number. */
export function maskSecrets(text: string): string {
  let out = "";
  let from = 0;
  for (const span of findSpans(text)) {
    out += text.slice(from, span.start) + maskSpan(text, span);
    from = span.end;
  }
  return from === 0 ? text : out + text.slice(from);
}

function findNew(before: string, after: string): Secret[] {
  const secrets: Secret[] = [];
  let line = 1;
  let from = 0;
  for (const span of findSpans(after)) {
    const value = after.slice(span.start, span.end);
    line += after.slice(from, span.start).split("\n").length - 1;
    from = span.start;
    if (documented.test(value) || before.includes(value)) continue;
    const sample = span.kind === "private key" ? "-----BEGIN PRIVATE KEY-----" : maskSpan(after, span);
    secrets.push({ line, kind: span.kind, sample });
  }
  return secrets;
}

/** Key-shaped text, without documented examples. */
export function findSecrets(text: string): readonly Secret[] {
  return findNew("", text);
}

/** What `after` holds that `before` did not (null: there was nothing). */
export function newSecrets(before: string | null, after: string): readonly Secret[] {
  return findNew(before ?? "", after);
}

/** The characters of a base64 text that depend on nothing but `bytes`, when `offset` other bytes stand before them. */
function base64Core(bytes: Buffer, offset: number, encoding: "base64" | "base64url"): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString(encoding);
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function spellingsOf(key: string): Set<string> {
  const bytes = Buffer.from(key);
  const json = JSON.stringify(key).slice(1, -1);
  const url = encodeURIComponent(key);
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].flatMap((offset) => [
    base64Core(bytes, offset, "base64"),
    base64Core(bytes, offset, "base64url"),
  ]);
  const escapedTwice = JSON.stringify(json).slice(1, -1);
  const lowerUrl = url.replace(/%../g, (code) => code.toLowerCase());
  return new Set([key, escapedTwice, json, url, lowerUrl, hex, hex.toUpperCase(), ...base64]);
}

/**
 * Masks keys we hold, however they look: plain, base64 at any offset, hex, URL-encoded, JSON-escaped.
 * Keys under 8 characters are passed over: masking them would tear ordinary words.
 */
export function maskKnown(text: string, keys: readonly string[]): string {
  let out = text;
  for (const key of keys) {
    if (key.length < 8) continue;
    const shown = key.length < 16 ? "[masked]" : key.slice(0, 4) + mask;
    const spellings = [...spellingsOf(key)].sort((a, b) => b.length - a.length);
    for (const spelling of spellings) out = out.replaceAll(spelling, () => shown);
  }
  return out;
}
