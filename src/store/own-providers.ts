/** The setting `providers`: providers of the user, each a row like those of core/providers.ts. */
import { PaiError } from "../core/error.ts";
import { type Effort, efforts, type Json } from "../core/model.ts";
import { findProvider, firstOfWire, type Provider, type Wire, wireHeaders, wires } from "../core/providers.ts";
import { factFields, type ModelFacts, readFacts } from "./model-settings.ts";
import type { Environment } from "./places.ts";
import {
  duration,
  entriesKind,
  entriesShape,
  type Fault,
  nonEmpty,
  objectShape,
  oneOf,
  readCommand,
  type Setting,
  type Shape,
  valueShape,
  withRule,
} from "./setting-kinds.ts";

/** A program of the user that prints a key. */
export interface KeyCommand {
  readonly words: readonly string[];
  /** Milliseconds for which a key that it printed is used. */
  readonly cacheMs: number;
  /** Milliseconds after which it counts as stuck. */
  readonly timeoutMs: number;
}

export interface OwnProvider extends Provider {
  /** null: its keys are in a variable or stored, or it has none. */
  readonly keyCommand: KeyCommand | null;
  /** What the user says of all of its models. */
  readonly facts: ModelFacts;
  /** Values of its headers that nothing may show, and of the variables in them. */
  readonly secrets: readonly string[];
}

type Texts = Readonly<Record<string, string>>;

/** A row as the settings hold it, once judged. */
interface Row {
  readonly wire: Wire;
  readonly url: string;
  readonly query?: Texts;
  readonly headers?: Texts;
  readonly key?: {
    readonly variable?: string;
    readonly stored?: true;
    readonly command?: Json;
    readonly cache?: Json;
    readonly timeout?: Json;
  };
  readonly insecureHttp?: boolean;
  readonly effort?: Effort;
}

const isText = (json: Json): json is string => typeof json === "string";
const isUrl = (json: Json): boolean => {
  const url = isText(json) ? URL.parse(json.trim()) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.hash === "";
};

/** Headers that belong to the connection or to the form of the body. */
const reserved = /^(host|connection|content-length|content-type|transfer-encoding|accept-encoding|te|upgrade)$/i;
const token = /^[\w!#$%&'*+.^`|~-]+$/;
/** The key of the row in the value of a header. */
const keyMark = `\${key}`;
const variables = /\$\{(\w+)\}/g;
/** A `$` begins `${NAME}` and nothing else. */
const isHeaderValue = (json: Json): boolean =>
  isText(json) && /^[\x20-\x7e]*$/.test(json) && json.trim() !== "" && !json.replace(variables, "").includes("${");

const headers = withRule(
  entriesShape(
    { wants: "a header", shape: /^/ },
    valueShape(`printable ASCII on one line, with variables as \${NAME}`, nonEmpty, isHeaderValue),
  ),
  (json) => {
    const given = Object.keys(json as object);
    const bad = given.find((name) => !token.test(name) || reserved.test(name));
    if (bad !== undefined) return { path: [bad], wants: "the name of a header that pai does not send itself" };
    const lower = given.map((name) => name.toLowerCase());
    const twice = given.find((_, at) => lower.indexOf(lower[at] ?? "") !== at);
    return twice === undefined ? null : { path: [twice], wants: "left out: the same header stands above" };
  },
);

const lasting = (max: number): Shape => {
  const { wants, schema, check } = duration("", max);
  return valueShape(wants, schema, (json) => check(json) !== null);
};
const maxCache = 86_400;
const maxTimeout = 600;
const variableName = "^[A-Za-z_]\\w*$";
const sources: Readonly<Record<string, Shape>> = {
  variable: valueShape(
    "the name of a variable",
    { type: "string", pattern: variableName },
    (json) => isText(json) && new RegExp(variableName).test(json),
  ),
  stored: valueShape("true", { const: true }, (json) => json === true),
  command: valueShape(
    "a command without quotes, or a list of its words",
    { anyOf: [nonEmpty, { type: "array", items: nonEmpty, minItems: 1 }] },
    (json) => readCommand(json) !== null,
  ),
};

const keySource = withRule(
  objectShape("a key", {}, { ...sources, cache: lasting(maxCache), timeout: lasting(maxTimeout) }),
  (json) => {
    const given = Object.keys(json as object);
    const named = given.filter((name) => Object.hasOwn(sources, name));
    if (named.length !== 1)
      return { path: [], wants: 'one of {"variable": "NAME"}, {"stored": true} and {"command": "program words"}' };
    const idle = named[0] === "command" ? undefined : given.find((name) => !named.includes(name));
    return idle === undefined ? null : { path: [idle], wants: "left out: only a command has it" };
  },
);

const row = withRule(
  objectShape(
    "a provider",
    {
      wire: oneOf(wires),
      url: valueShape(
        "an http:// or https:// URL without user, password and #",
        { type: "string", pattern: "^\\s*https?://" },
        isUrl,
      ),
    },
    {
      query: entriesShape({ wants: "a parameter", shape: /^\S+$/ }, valueShape("a text", { type: "string" }, isText)),
      headers,
      key: keySource,
      insecureHttp: valueShape("true or false", { type: "boolean" }, (json) => typeof json === "boolean"),
      effort: oneOf(efforts),
      ...factFields,
    },
  ),
  (json) => {
    const { headers: given = {}, key } = json as unknown as Row;
    const keyless = key !== undefined ? undefined : Object.keys(given).find((name) => given[name]?.includes(keyMark));
    return keyless === undefined
      ? null
      : { path: ["headers", keyless], wants: `without ${keyMark}: the row has no key` };
  },
);

const nameShape = /^[A-Za-z][\w-]{0,31}$/;
const isFree = (name: string) => nameShape.test(name) && findProvider(name) === null && name !== "replay";
const rows = entriesShape({ wants: "a provider", shape: /^/ }, row);

function judgeProviders(json: Json): Fault | null {
  const taken = Object.keys(json === null || typeof json !== "object" ? {} : json).find((name) => !isFree(name));
  if (taken === undefined || Array.isArray(json)) return rows.judge(json);
  const why = nameShape.test(taken) ? "is a name of pai's own" : "is not made of letters, digits, - and _";
  return { path: [taken], wants: `named otherwise: ${JSON.stringify(taken)} ${why}` };
}

type Entries = Readonly<Record<string, Json>>;

/** Whose addresses and commands these are decides where keys go, so no project may name one. */
export const ownProviders: Setting<Entries> = {
  ...entriesKind(
    "providers",
    'providers of your own by name, {"name": {"wire": "chat", "url": "https://…", "key": {"variable": "NAME"}}}',
    { judge: judgeProviders, schema: rows.schema },
  ),
  shown: (json) =>
    Object.fromEntries(Object.entries(json as Entries).map(([name, row]) => [name, showRow(row as unknown as Row)])),
  userOnly: true,
};

/** A value that stands in a header of this name is a secret, even where no variable holds it. */
const secretHeader = /auth|key|token|secret|cookie|password/i;

/** The row without what a header holds literally. */
function showRow(row: Row): Json {
  if (row.headers === undefined) return row as unknown as Json;
  const shown = Object.entries(row.headers).map(([name, value]) => [
    name,
    secretHeader.test(name) && !value.includes("${") ? "***" : value,
  ]);
  return { ...row, headers: Object.fromEntries(shown) } as unknown as Json;
}

/** `rows`: a value that the setting accepts. Variables are read when a header is made: one may be missing where it is not used. */
export function openProviders(rows: Entries, env: Environment): readonly OwnProvider[] {
  return Object.entries(rows).map(([name, row]) => openRow(name, row as unknown as Row, env));
}

function openRow(id: string, row: Row, env: Environment): OwnProvider {
  const { wire, headers = {}, key = null, insecureHttp = false, effort } = row;
  const like = firstOfWire(wire);
  const isKeyed = Object.values(headers).some((value) => value.includes(keyMark));
  return {
    id,
    wire,
    like: like.id,
    names: null,
    usualModel: null,
    needsKey: key !== null && key.command === undefined,
    keyVariables: key?.variable === undefined ? [] : [key.variable],
    keyShape: null,
    headers: (held) => ({ ...wireHeaders[wire](isKeyed ? null : held), ...fillHeaders(id, headers, held, env) }),
    url: withParameters(row),
    urlVariable: null,
    urlForm: "url",
    versionIn: like.versionIn,
    probe: like.versionIn === "path" ? like.probe : "/models",
    silence: like.silence,
    insecureHttp,
    effort,
    keyCommand: readKeyCommand(key),
    facts: readFacts(row as unknown as Entries),
    secrets: Object.entries(headers).flatMap(([name, value]) => secretsIn(name, value, env)),
  };
}

function withParameters({ url, query = {} }: Row): string {
  const whole = new URL(url.trim());
  if (Object.keys(query).length === 0) return url.trim();
  for (const [name, value] of Object.entries(query)) whole.searchParams.append(name, value);
  return whole.href;
}

function readKeyCommand(key: NonNullable<Row["key"]> | null): KeyCommand | null {
  const words = key?.command === undefined ? null : readCommand(key.command);
  if (words === null) return null;
  const ms = (given: Json | undefined, max: number, usual: number) =>
    (duration("", max).check(given ?? usual) ?? usual) * 1000;
  return { words, cacheMs: ms(key?.cache, maxCache, 300), timeoutMs: ms(key?.timeout, maxTimeout, 30) };
}

/** Throws config_invalid for a variable that is not set, or whose value no header can hold. */
function fillHeaders(id: string, headers: Texts, key: string | null, env: Environment): Texts {
  const filled = Object.entries(headers).map(([name, value]) => {
    const setting = `providers.${id}.headers.${name}`;
    const made = value.replace(variables, (mark, variable: string) => {
      if (mark === keyMark) return key ?? "";
      const held = env[variable]?.trim() ?? "";
      if (/^[\x20-\x7e]+$/.test(held)) return held;
      throw new PaiError(
        "config_invalid",
        held === ""
          ? `${setting} wants the variable ${variable}, which is not set`
          : `${setting} wants the variable ${variable}, which holds characters that no header can`,
        { hint: `set ${variable} for pai, or change ${setting}` },
      );
    });
    return [name.toLowerCase(), made] as const;
  });
  return Object.fromEntries(filled);
}

function secretsIn(name: string, value: string, env: Environment): readonly string[] {
  const held = [...value.matchAll(variables)].map(([, variable = ""]) => env[variable]?.trim() ?? "");
  const literal = held.length === 0 && secretHeader.test(name) ? [value.replace(/^\w+ /, "")] : [];
  return [...held, ...literal].filter((each) => each !== "");
}
