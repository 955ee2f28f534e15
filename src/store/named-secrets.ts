/** Secrets that are known before a run reads anything: those of the environment and of the project's `.env` files. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findSpans } from "../core/secrets/key-shapes.ts";
import { looksRandom } from "../core/secrets/named-values.ts";
import { readSmall } from "../system/lookups.ts";

/** Their usual names in the root; others are closed as well, but not read. */
const files = [".env", ".env.local", ".env.development", ".env.production", ".env.test", ".env.staging", ".envrc"];
const maxBytes = 64 * 1024;
/** One setting, with all of its line: the value ends where its kind of file says. */
const setting = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*[=:][ \t]*(\S.*)/gm;
const secretName = new RegExp(
  [
    "secret|token|passw|passphrase|pwd|credential|cookie|jwt|hmac|service_?role",
    "(?:api|access|private|auth|account|signing|master|encryption)[_-]?key",
    "(?<!com|by)pass(?![a-z])|(?:^|[_-])(?:creds?|pat|auth|salt|sk|pw)(?=[_-]?\\d*$)",
    "(?:^|[_-])(?<!(?:gpg|public|pub)[_-]?)key(?=(?:[_-]?(?:b64|base64|\\d+))?$)",
  ].join("|"),
  "i",
);
/** Paths and addresses do not count as secrets; the search for shapes finds a password in an address. */
const place = /^(?:(?:~|\.{1,2})?\/[a-z]+\/|[a-z][a-z\d+.-]*:\/\/)/i;
const placeholder = /^(?:<.*>|\$\{.*\}|\{\{.*\}\}|%\w+%|your[_-].*|(.)\1{5}.*)$/is;
const minSecret = 8;
const minListed = 16;
const keyLine = /^[\w+/=-]{16,}$/;
const lineBreak = /[\r\n]+|\\[nr]/;

/** The pieces of a text that look like secrets wherever they stand; of a private key each line. */
const shapesIn = (text: string): readonly string[] =>
  findSpans(text).flatMap(({ start, end, kind, isLocal }) => {
    if (isLocal === true) return [];
    const found = text.slice(start, end);
    if (kind === "private key") return found.split(lineBreak).filter((line) => keyLine.test(line));
    return place.test(found) ? [] : [found];
  });

const isSecret = (value: string): boolean =>
  value.length >= minSecret && looksRandom(value) && !placeholder.test(value) && !place.test(value);

/** A value with a secret's name: as it is, without quotation marks around it, and the long ones in a list. */
function namedIn(given: string): readonly string[] {
  const value = given.trim();
  const [, , inner = value] = /^(["'`])(.+)\1$/s.exec(value) ?? [];
  const listed = inner.split(/[\s,;]+/).filter(({ length }) => length >= minListed);
  return [value, inner, ...listed].filter(isSecret);
}

/** What a line of a `.env` file may mean: readers differ in quotation marks, escapes and comments. */
function readingsOf(line: string): readonly string[] {
  const value = line.trim();
  const [, quote = "", quoted = null] = /^(["'`])(.+?)\1(?=\s*(?:[#;]|$))/.exec(value) ?? [];
  if (quoted !== null) return quote === '"' ? [quoted, quoted.replace(/\\(["\\$`])/g, "$1")] : [quoted];
  const comment = value.search(/[ \t]#/);
  return [value, comment < 0 ? value : value.slice(0, comment), value.replace(/[\s;].*$/, "")];
}

/** The secrets in the value of a variable or setting; all of it, where its name says so. */
function valuesIn(name: string, value: string, given: readonly string[]): readonly string[] {
  const isNamed = (secretName.test(name) || given.includes(name)) && !value.includes("PRIVATE KEY");
  return [...shapesIn(`${name}="${value}"\n`), ...(isNamed ? namedIn(value) : [])];
}

export interface NamedPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly root: string;
  /** Variables that commands are given: each is taken to hold a secret. */
  readonly given?: readonly string[];
  readonly known?: readonly string[];
}

/** Values whose name and look say that they are secret. The model sees none of these texts, but may see a value elsewhere. */
export function findNamedSecrets({ env, root, given = [], known = [] }: NamedPlaces): readonly string[] {
  const found = new Set<string>();
  const take = (values: readonly string[]) => {
    for (const value of values) if (!known.includes(value)) found.add(value);
  };
  for (const [name, value = ""] of Object.entries(env)) {
    if (!known.includes(value)) take(valuesIn(name, value, given));
  }
  for (const file of files) {
    const text = existsSync(join(root, file)) ? (readSmall(join(root, file), maxBytes) ?? "") : "";
    take(shapesIn(text));
    for (const [, name = "", line = ""] of text.matchAll(setting)) {
      for (const value of readingsOf(line)) take(valuesIn(name, value, given));
    }
  }
  return [...found];
}
