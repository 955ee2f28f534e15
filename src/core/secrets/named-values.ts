/** Finds values that a name tells to be secret: `password: …`, `API_KEY=…`, `mysqldump -p…`. Pure. */

/** Where only string literals count, because other words are code; elsewhere (settings, logs, output) every value counts. */
export type Manner = "code" | "plain";

/** A key-shaped piece of text: its position, and what it seems to be. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
  /** Too short or too common to be looked for elsewhere: it is hidden at this place only. */
  readonly isLocal?: boolean;
}

const codeEnding =
  /\.(?:[cm]?[jt]sx?|vue|svelte|astro|py[iwx]?|ipynb|go|rs|java|kts?|scala|groovy|cs|fs|vb|c|cc|cpp|cxx|hh?|hpp|hxx|mm?|swift|rb|erb|php|phtml|lua|p[lm]|r|jl|dart|exs?|[eh]rl|cljs?|hs|elm|mli?|nim|zig|v|sol|ps[m]?1|sql|graphql|gql|proto|thrift|s?css|sass|less|html?|hbs|ejs|pug|twig|jinja|j2|json[5c]?|xml|svg|mdx?|markdown|rst|adoc|tex|lock|map|snap|diff|patch)$/i;

export const mannerOfFile = (path: string): Manner => (codeEnding.test(path) ? "code" : "plain");

/** What follows a name: a quotation mark, a bracket, then a sign, or the word `value`. */
const nameEnd = /(?=\\?["'`]?(?:\]?\s{0,3}[:=,>]|\s{1,40}value\b))/.source;
/** Any value behind these is secret. */
const strong = "(?:no)?pass(?:word|wd|phrase)|pass|pwd|psk|bindpw|requirepass|secret(?:_\\w{1,40})?";
/** A value behind these is secret if it looks random. */
const weak = "key|token|credentials?";
const nameShape = new RegExp(
  `(?<strong>${strong})${nameEnd}|(?:${weak}|(?<authorization>authorization))${nameEnd}|(?<bearer>bearer)(?=\\s)`,
  "gi",
);

/** `key` alone names all sorts of things; with one of these before it, it names a secret. */
const keyQualifier = /(?:api|access|secret|private|auth|account|encryption|signing|master)[_-]?key$/i;
const otherWord = /(?:com|by|tres|sur)pass$/i;
/** `secret_name` and the like say where a secret is. */
const pointer = /_(?:name|id|arn|file|path|ref|version|type)$/i;

const authorization = /\\?["']?\s*[:=,]\s*\\?["'`]?(?:(?:bearer|basic|token)\s+)?([\w.~+/=-]{12,})/iy;
const bearer = /\s*([\w.~+/=-]{20,})/y;
const quotedValue = /\\?["'`]?\]?\s*(?::\s*\w+\s*)?(?::=|=>|[=:,])\s*\\?["'`]([^\s"'`\\]{8,2048})\\?["'`]/y;
/** The value in a list of names and values, as in Kubernetes and Compose: `name: X`, on the next line `value: …`. */
const pairedValue = /\w*\\?["'`]?\s*,?\s{0,40}\\?["'`]?value\\?["'`]?\s*[:=]\s*\\?["'`]?([^\s"'`\\,}]{12,2048})/iy;
/** The content of an element: `<string name="api_key">…</string>`. */
const elementValue = /["']?\s{0,3}>\s{0,40}([^\s<>"']{12,2048})\s{0,40}<\//y;
const bareValue = /\s*[:=]\s*([\w+/=~!@#%^*-][\w+/=~!@#$%^*-]{15,2047})(?=[\s&;,]|$)/y;
/** The value of the last parameter of an address. In other places, such signs may follow code. */
const parameterName = /[?&][\w.-]{0,40}$/;
const parameterValue = /=([\w.~%+/=-]{12,2048})(?=["'`<>()[\]{}#|\\])/y;
const randomValues = [quotedValue, bareValue, pairedValue, elementValue];

/** A string literal to the quotation mark that closes it, and the content of an element that has the name itself. */
const literal =
  /\\?["'`]?\]?\s*(?::\s*\w+\s*)?(?::=|=>|[=:])\s*(\\?)(["'`])(?=[^\s"'`])((?:[^\\\r\n]|\1\\.){1,2048}?)\1\2/y;
const element = /\s{0,3}>\s{0,40}([^\s<>"']{1,2048})\s{0,40}<\/[\w:.-]{0,40}(?:password|passphrase|secret)>/iy;
/** Settings, logs and command lines also have values without quotation marks; after a blank one is the rest of a line. */
const bareValues = [
  // A quotation mark or `&` within the value belongs to it, unless code or the next parameter begins there.
  /\\?["']?=(?![=>~])((?:[^\s"'`&;,)<>|]|(?<=[^\s=])["'`](?=[\w%!#$^*])|&(?=[^\s&])(?![\w.[\]-]{0,64}=)){1,2048})/y,
  /["']?[ \t]+=[ \t]*(?![=>~])(?![a-z]{0,2}["'`])(\S{0,2047}?[^\s"'`;]);?[ \t]*(?=\r?$|[ \t][#;])/imy,
  /["']?[ \t]*:[ \t]+(?![a-z]{0,2}["'`])(\S{0,2047}[^\s"'`;,{[])[ \t]*(?=\r?$|[ \t]#)/imy,
];

/** Names, options and addresses whose value follows in a way of its own. */
const plainShapes = [
  // In a sentence: several words in quotation marks, or what holds small and capital letters, digits and signs, as no word does.
  /\b[Pp]ass(?:word|phrase):?[ \t]+(?:(?:to|is|as|with):?[ \t]+)?(?:(["'`])(?=[^\s"'`]+\s)((?:[^\\\r\n]|\\.){1,200}?)\1|["'`]?(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])(?=\S*[!$%^&*#?~|])([^\s"'`^/]\S{7,199}?)(?=["'`]?[.,;:)]?(?:\s|$)))/g,
  /^[ \t]*(?:requirepass|masterauth|bindpw|rootpw|psk)[ \t]+["']?([^\s"']{1,2048})["']?[ \t]*\r?$/gim,
  /\bsecret[ \t]+"([^\s"]{1,2048})"/gi,
  // The headers that nginx, Apache and HAProxy pass on.
  /\b(?:proxy_set_header|RequestHeader[ \t]+\w+|set-header|add-header)[ \t]+["']?[\w-]*(?:token|key|auth|secret|password)[\w-]*["']?[ \t]+["']?(?:(?:Bearer|Basic)[ \t]+)?([^\s"';$%{][^\s"';]{7,2047})/gi,
  /\b(?:mysql|mariadb)[\w-]*\b[^\n|;&]{0,200}?\s-p["']?([^\s"']{1,200})/g,
  /\bcurl\b[^\n|;&]{0,200}?\s(?:-u|--user|--proxy-user)[ \t=]?[ \t]*["']?[^\s:'"]{1,64}:([^\s'"]{1,200})/g,
  /(?<=^|[\s"'=,])(?!(?:mailto|e?mail|user|from|to|cc|npm|jsr|sip|xmpp|acct|git|github):)[a-z_][\w.-]{0,63}:([^\s:@/"'`{};]{1,200})@(?!sha\d)[a-z][\w.-]+/gim,
];

const placeholder =
  /your|placeholder|change.?me|redacted|masked|dummy|x{4}|\*{3}|\.{3}|…|^<|<[<%]|<\/?[a-z][\w.:-]+\/?>|\$\{|\{\{|%s|(.)\1{5}|^[${%@[(]|^(?:null|none|nil|true|false|yes|no|on|off|undefined|string|str|number|int|bool(?:ean)?|any|unknown|bytes|text)\??$/i;
/** A long value holds such characters by chance: there a placeholder is only what begins like one. */
const placeholderBegins = 48;
export const isPlaceholder = (value: string): boolean => placeholder.test(value.slice(0, placeholderBegins));

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Random characters change between upper case, lower case and digits far more often than words do. No id (UUID) does. */
export function looksRandom(value: string): boolean {
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value) || new Set(value).size < 8 || uuid.test(value)) return false;
  const turns = value.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g)?.length ?? 0;
  return turns / value.length >= 0.25;
}

const fewest = 8;
const identifier = /^[\p{L}_$][\w\p{L}$.-]*$/u;

/** Whether a value may be looked for in other texts: words, numbers, types and identifiers stand in many by chance. */
export const isDistinct = (value: string): boolean =>
  value.length >= fewest && !/^[\d.,:-]+$/.test(value) && (!identifier.test(value) || looksRandom(value));

/** Repeats the name, says where a secret is, calls for it, or takes it from a variable: no secret. */
const points =
  /^[~^]?\d+\.\d+\.|^[^\d!#]*(?:pass|pwd|secret|psk)[^\d!#]*$|^(?:~|\.{0,2})\/|^[a-z][a-z\d+.-]*:\/\/|^[\w.]+[([]|^(?:process|os|env|self|this|config|var|local|data|args|opts|options|settings)\./i;
const escapes = /\\(?:u[\da-f]{4}|.)|&#?\w+;/gi;
/** What stands where a value does: a word, or a text of which a word holds a digit or sign, as those of messages do not. */
function isGiven(value: string): boolean {
  if (value === "" || isPlaceholder(value) || points.test(value)) return false;
  const words = value.replace(escapes, " ").split(/\s+/);
  return words.length === 1 || words.some((word) => /\p{L}/u.test(word) && /[\d$%^&*#~|]|[!?]\S/.test(word));
}

type Look = (shape: RegExp, at: number) => RegExpExecArray | null;

const firstMatch = (shapes: readonly RegExp[], look: Look, at: number) =>
  shapes.reduce<ReturnType<Look>>((found, shape) => found ?? look(shape, at), null);

const unquoted = new Set([bareValue, ...bareValues]);
/** Names within so long a value without quotation marks are not looked at: a text may be one name after the other. */
const longValue = 256;

const valueIn = (match: RegExpExecArray): string => match.findLast((group) => group !== undefined) ?? "";

function spanOf(match: RegExpExecArray, kind: string): Span {
  const value = valueIn(match);
  const start = match.index + match[0].lastIndexOf(value);
  return { start, end: start + value.length, kind, ...(!isDistinct(value) && { isLocal: true }) };
}

function strongValue(text: string, look: Look, name: string, at: number, manner: Manner): RegExpExecArray | null {
  if (pointer.test(name) || /^no/i.test(name)) return null;
  const found = look(literal, at) ?? look(element, at) ?? (manner === "code" ? null : firstMatch(bareValues, look, at));
  if (found === null || !isGiven(valueIn(found))) return null;
  // Test runners count and list what passes.
  const isCount = /^pass$/i.test(name) && !/[\w.]/.test(text.charAt(at - name.length - 1));
  return isCount && (/^\d+$/.test(valueIn(found)) || /^\s*:/.test(found[0])) ? null : found;
}

function randomValue(text: string, look: Look, at: number): RegExpExecArray | null {
  const isParameter = () => parameterName.test(text.slice(Math.max(0, at - 60), at));
  const found = firstMatch(randomValues, look, at) ?? (isParameter() ? look(parameterValue, at) : null);
  return found !== null && looksRandom(found[1] ?? "") && !isPlaceholder(found[1] ?? "") ? found : null;
}

const headerValue = (found: RegExpExecArray | null): RegExpExecArray | null =>
  found !== null && /\d|=$/.test(found[1] ?? "") && !isPlaceholder(found[1] ?? "") ? found : null;

function valueAfter(match: RegExpExecArray, text: string, look: Look, manner: Manner): RegExpExecArray | null {
  const [name] = match;
  const { strong: isStrong, authorization: isHeader, bearer: isBearer } = match.groups ?? {};
  const end = match.index + name.length;
  const before = text.slice(Math.max(0, end - 15), end);
  if (/^key$/i.test(name) && !keyQualifier.test(before)) return null;
  if (otherWord.test(before)) return null;
  if (isHeader !== undefined) return headerValue(look(authorization, end));
  if (isBearer !== undefined) return headerValue(look(bearer, end));
  return (isStrong === undefined ? null : strongValue(text, look, name, end, manner)) ?? randomValue(text, look, end);
}

export function* findNamedValues(text: string, manner: Manner): Generator<Span> {
  let looked = 0;
  const look: Look = (shape, at) => {
    shape.lastIndex = at;
    const found = shape.exec(text);
    if (unquoted.has(shape) && found !== null && found[0].length > longValue) looked = at + found[0].length;
    return found;
  };
  for (const match of text.matchAll(nameShape)) {
    const found = match.index < looked ? null : valueAfter(match, text, look, manner);
    if (found !== null) yield spanOf(found, `value of ${match[0].toLowerCase()}`);
  }
  if (manner === "code") return;
  for (const shape of plainShapes) {
    for (const match of text.matchAll(shape)) if (isGiven(valueIn(match))) yield spanOf(match, "password");
  }
}
