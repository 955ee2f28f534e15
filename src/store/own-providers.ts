/** The setting `providers`: providers of the user, each a row like those of core/providers.ts. */
import * as z from "zod/mini";
import { PaiError } from "../core/error.ts";
import { efforts, type Json } from "../core/model.ts";
import { findProvider, firstOfWire, type Provider, wireHeaders, wires } from "../core/providers.ts";
import { factFields, type ModelFacts, readFacts } from "./model-settings.ts";
import type { Environment } from "./places.ts";
import {
  commandShape,
  durationShape,
  entriesKind,
  type Fault,
  objectShape,
  type Setting,
  secondsOf,
  wordsOfCommand,
} from "./setting-kinds.ts";

export interface KeyCommand {
  readonly words: readonly string[];
  readonly cacheMs: number;
  readonly timeoutMs: number;
}

export interface OwnProvider extends Provider {
  /** null: its keys are in a variable or stored, or it has none. */
  readonly keyCommand: KeyCommand | null;
  readonly facts: ModelFacts;
  /** Values of its headers that nothing may show, and of the variables in them. */
  readonly secrets: readonly string[];
}

type Texts = Readonly<Record<string, string>>;

const isUrl = (text: string): boolean => {
  const url = URL.parse(text.trim());
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.hash === "";
};

/** Headers that belong to the connection or to the form of the body. */
const reserved = /^(host|connection|content-length|content-type|transfer-encoding|accept-encoding|te|upgrade)$/i;
const token = /^[\w!#$%&'*+.^`|~-]+$/;
const keyMark = `\${key}`;
const variables = /\$\{(\w+)\}/g;
const isHeaderValue = (text: string): boolean =>
  /^[\x20-\x7e]*$/.test(text) && text.trim() !== "" && !text.replace(variables, "").includes("${");

const ruled = <T extends z.ZodMiniType>(shape: T, rule: (value: z.infer<T>) => Fault | null): T =>
  shape.check((found) => {
    const fault = rule(found.value as z.infer<T>);
    if (fault === null) return;
    found.issues.push({ code: "custom", path: [...fault.path], message: fault.wants, input: found.value });
  }) as T;

const headerWants = `printable ASCII on one line, with variables as \${NAME}`;
const headers = ruled(
  z.record(z.string(), z.string(headerWants).check(z.refine(isHeaderValue, headerWants))),
  (given) => {
    const names = Object.keys(given);
    const bad = names.find((name) => !token.test(name) || reserved.test(name));
    if (bad !== undefined) return { path: [bad], wants: "the name of a header that pai does not send itself" };
    const lower = names.map((name) => name.toLowerCase());
    const twice = names.find((_, at) => lower.indexOf(lower[at] ?? "") !== at);
    return twice === undefined ? null : { path: [twice], wants: "left out: the same header stands above" };
  },
);

const maxCache = 86_400;
const maxTimeout = 600;
const variableWants = "the name of a variable";
const sources = {
  variable: z.optional(z.string(variableWants).check(z.regex(/^[A-Za-z_]\w*$/, variableWants))),
  stored: z.optional(z.literal(true, "true")),
  command: z.optional(commandShape),
};

const keySource = ruled(
  objectShape("a key", { ...sources, cache: z.optional(durationShape), timeout: z.optional(durationShape) }),
  (given) => {
    const names = Object.keys(given);
    const named = names.filter((name) => Object.hasOwn(sources, name));
    if (named.length !== 1)
      return { path: [], wants: 'one of {"variable": "NAME"}, {"stored": true} and {"command": "program words"}' };
    const idle = named[0] === "command" ? undefined : names.find((name) => !named.includes(name));
    return idle === undefined ? null : { path: [idle], wants: "left out: only a command has it" };
  },
);

const urlWants = "an http:// or https:// URL without user, password and #";
const row = ruled(
  objectShape("a provider", {
    wire: z.enum(wires, `one of ${wires.join(", ")}`),
    url: z.string(urlWants).check(z.regex(/^\s*https?:\/\//, urlWants), z.refine(isUrl, urlWants)),
    query: z.optional(z.record(z.string().check(z.regex(/^\S+$/, "named by a parameter")), z.string("a text"))),
    headers: z.optional(headers),
    key: z.optional(keySource),
    insecureHttp: z.optional(z.boolean("true or false")),
    effort: z.optional(z.enum(efforts, `one of ${efforts.join(", ")}`)),
    ...factFields,
  }),
  ({ headers: given = {}, key }) => {
    const keyless = key !== undefined ? undefined : Object.keys(given).find((name) => given[name]?.includes(keyMark));
    return keyless === undefined
      ? null
      : { path: ["headers", keyless], wants: `without ${keyMark}: the row has no key` };
  },
);
type Row = z.infer<typeof row>;

const nameShape = /^[A-Za-z][\w-]{0,31}$/;
const isFree = (name: string) => nameShape.test(name) && findProvider(name) === null && name !== "replay";
const rows = ruled(z.record(z.string(), row), (given) => {
  const taken = Object.keys(given).find((name) => !isFree(name));
  if (taken === undefined) return null;
  const why = nameShape.test(taken) ? "is a name of pai's own" : "is not made of letters, digits, - and _";
  return { path: [taken], wants: `named otherwise: ${JSON.stringify(taken)} ${why}` };
});

type Entries = Readonly<Record<string, Json>>;

/** Whose addresses and commands these are decides where keys go, so no project may name one. */
export const ownProviders: Setting<Entries> = {
  ...entriesKind(
    "providers",
    'providers of your own by name, {"name": {"wire": "chat", "url": "https://…", "key": {"variable": "NAME"}}}',
    rows,
  ),
  shown: (json) =>
    Object.fromEntries(Object.entries(json as Entries).map(([name, row]) => [name, showRow(row as unknown as Row)])),
  userOnly: true,
};

/** A value that stands in a header of this name is a secret, even where no variable holds it. */
const secretHeader = /auth|key|token|secret|cookie|password/i;

function showRow(row: Row): Json {
  if (row.headers === undefined) return row as unknown as Json;
  const shown = Object.entries(row.headers).map(([name, value]) => [
    name,
    secretHeader.test(name) && !value.includes("${") ? "***" : value,
  ]);
  return { ...row, headers: Object.fromEntries(shown) } as unknown as Json;
}

/** `rows`: a value that the setting accepts. Variables are read when a header is made: one may be missing where it is not used. */
export const openProviders = (rows: Entries, env: Environment): readonly OwnProvider[] =>
  Object.entries(rows).map(([name, row]) => openRow(name, row as unknown as Row, env));

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
  if (key?.command === undefined) return null;
  const words = wordsOfCommand(key.command);
  const ms = (given: string | number | undefined, max: number, usual: number) => secondsOf(given ?? usual, max) * 1000;
  return { words, cacheMs: ms(key.cache, maxCache, 300), timeoutMs: ms(key.timeout, maxTimeout, 30) };
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
