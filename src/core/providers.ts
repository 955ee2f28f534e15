/** Every provider pai can reach, one row each: its names, keys, addresses and headers, and the wire it speaks. */

import type { Effort } from "./model.ts";

export type Wire = "gemini" | "responses" | "messages" | "chat" | "local";

/** How a server of Chat Completions differs from OpenAI's. */
export interface ChatDialect {
  /** It counts tokens without `stream_options`, and refuses a request that has them. */
  readonly countsUnasked: boolean;
  /** Call ids are nine letters and digits, and a user's message never follows a tool's. */
  readonly strictMessages: boolean;
  /** It finds the cache of a conversation by a key. */
  readonly hasCacheKey?: boolean;
  /** The effort stands in an object `reasoning`; absent: in `reasoning_effort`. */
  readonly reasoningObject?: boolean;
}

export interface Provider {
  readonly id: string;
  readonly wire: Wire;
  /** Bare model names that are surely its own; null: none, `provider:name` must be written. */
  readonly names: RegExp | null;
  /** The model to use when this provider has the only key; null: it has no default. */
  readonly usualModel: string | null;
  readonly needsKey: boolean;
  /** Environment variables that may hold a key; hints name the first. */
  readonly keyVariables: readonly string[];
  /** Where a person gets a key; absent: nowhere that pai knows. */
  readonly keyPage?: string;
  /** How keys usually look; gateways may give others, so none is refused. null: nothing tells them from other texts. */
  readonly keyShape: { readonly prefixes: readonly string[]; readonly goesOn: string; readonly kind: string } | null;
  readonly headers: Headers;
  readonly url: string;
  /** Environment variable for another address; `urlForm`: it holds a URL, or a host as Ollama reads it. null: none. */
  readonly urlVariable: string | null;
  readonly urlForm: "url" | "host";
  /** Whether the version (`/v1`) belongs to the base URL or to the paths after it. */
  readonly versionIn: "url" | "path";
  /** Path after the base URL that answers to a valid key alone and costs nothing: mostly the list of models. */
  readonly probe: string;
  /** Seconds of silence after which the connection is dead: models think, and a local server may load one first. */
  readonly silence: number;
  /** Its server lists all models to everybody, with prices. */
  readonly listsPrices?: true;
  readonly dialect?: ChatDialect;
  /** The provider whose limits count for the same names of models; absent: this one. */
  readonly like?: string;
  readonly insecureHttp?: boolean;
  /** The effort of its models where none is wanted; absent: their own. */
  readonly effort?: Effort | undefined;
}

type Headers = (key: string | null) => Readonly<Record<string, string>>;

const bearer: Headers = (key) => (key === null ? {} : { authorization: `Bearer ${key}` });

/** What every server of a wire wants, and the header in which it takes a key. */
export const wireHeaders: Readonly<Record<Wire, Headers>> = {
  gemini: (key) => (key === null ? {} : { "x-goog-api-key": key }),
  responses: bearer,
  messages: (key) => ({ ...(key === null ? {} : { "x-api-key": key }), "anthropic-version": "2023-06-01" }),
  chat: bearer,
  local: bearer,
};

/** What most rows have. */
const usual = { needsKey: true, urlVariable: null, urlForm: "url", versionIn: "url", silence: 300 } as const;

const table = [
  {
    ...usual,
    id: "gemini",
    wire: "gemini",
    names: /^gemini-/,
    usualModel: "gemini-3.5-flash-lite",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    keyPage: "https://aistudio.google.com/apikey",
    keyShape: { prefixes: ["AIza", "AQ."], goesOn: "[\\w-]{30,}", kind: "Google key" },
    headers: wireHeaders.gemini,
    url: "https://generativelanguage.googleapis.com",
    urlVariable: "GOOGLE_GEMINI_BASE_URL",
    versionIn: "path",
    probe: "/v1beta/models",
  },
  {
    ...usual,
    id: "openai",
    wire: "responses",
    names: /^gpt-|^o\d/,
    usualModel: "gpt-6.1-terra",
    keyVariables: ["OPENAI_API_KEY"],
    keyPage: "https://platform.openai.com/api-keys",
    keyShape: { prefixes: ["sk-"], goesOn: "[\\w-]{20,}", kind: "API key" },
    headers: bearer,
    url: "https://api.openai.com/v1",
    urlVariable: "OPENAI_BASE_URL",
    probe: "/models",
  },
  {
    ...usual,
    id: "anthropic",
    wire: "messages",
    names: /^claude-/,
    usualModel: "claude-sonnet-5-5",
    keyVariables: ["ANTHROPIC_API_KEY"],
    keyPage: "https://console.anthropic.com/settings/keys",
    keyShape: { prefixes: ["sk-ant-"], goesOn: "[\\w-]{16,}", kind: "Anthropic key" },
    headers: wireHeaders.messages,
    url: "https://api.anthropic.com",
    urlVariable: "ANTHROPIC_BASE_URL",
    versionIn: "path",
    probe: "/v1/models",
  },
  {
    ...usual,
    id: "openrouter",
    wire: "chat",
    names: null,
    usualModel: null,
    keyVariables: ["OPENROUTER_API_KEY"],
    keyPage: "https://openrouter.ai/settings/keys",
    keyShape: { prefixes: ["sk-or-"], goesOn: "[\\w-]{20,}", kind: "OpenRouter key" },
    headers: (key: string | null) => ({ ...bearer(key), "x-title": "pai" }),
    url: "https://openrouter.ai/api/v1",
    probe: "/key",
    dialect: { countsUnasked: false, strictMessages: false, reasoningObject: true },
    listsPrices: true,
  },
  {
    ...usual,
    id: "mistral",
    wire: "chat",
    names: /^(?:mistral|ministral|codestral|devstral|magistral|pixtral)-/,
    usualModel: "mistral-large-latest",
    keyVariables: ["MISTRAL_API_KEY"],
    keyPage: "https://console.mistral.ai/api-keys",
    keyShape: null,
    headers: bearer,
    url: "https://api.mistral.ai/v1",
    probe: "/models",
    dialect: { countsUnasked: true, strictMessages: true, hasCacheKey: true },
  },
  {
    ...usual,
    id: "local",
    wire: "local",
    names: null,
    usualModel: null,
    needsKey: false,
    keyVariables: [],
    keyShape: null,
    headers: bearer,
    url: "http://127.0.0.1:11434/v1",
    urlVariable: "OLLAMA_HOST",
    urlForm: "host",
    probe: "/models",
    silence: 900,
  },
] as const satisfies readonly Provider[];

export type ProviderId = (typeof table)[number]["id"];

type Row = Provider & { readonly id: ProviderId };

export const providers: readonly [Row, ...Row[]] = table;

export const providerIds: readonly ProviderId[] = table.map(({ id }) => id);

export const wires: readonly Wire[] = [...new Set(table.map(({ wire }) => wire))];

/** The first provider of a wire: its version path and limits count for a provider of the user, too. */
export const firstOfWire = (wire: Wire): Row => providers.find((provider) => provider.wire === wire) ?? providers[0];

/** The model of a user who chose none: the usual one of the first provider. */
export const defaultModel = `${table[0].id}:${table[0].usualModel}`;

export const findProvider = (id: string): Row | null => providers.find((provider) => provider.id === id) ?? null;

/** The row of a provider of pai or of the user (`own`); null: unknown provider. */
export const findAnyProvider = <P extends Provider>(id: string, own: readonly P[]): Row | P | null =>
  findProvider(id) ?? own.find((provider) => provider.id === id) ?? null;

export const byProvider = <T>(make: (provider: Row) => T): Readonly<Record<ProviderId, T>> =>
  Object.fromEntries(providers.map((provider) => [provider.id, make(provider)])) as Record<ProviderId, T>;

export const providerTable = byProvider((provider) => provider);

/** The provider whose keys begin like this one, by the longest beginning; null: none. */
export function providerOfKey(key: string): Row | null {
  const begun = providers.flatMap((provider) =>
    (provider.keyShape?.prefixes ?? [])
      .filter((prefix) => key.startsWith(prefix))
      .map((prefix) => ({ provider, length: prefix.length })),
  );
  return begun.toSorted((a, b) => b.length - a.length)[0]?.provider ?? null;
}

/** The command that stores a key; without a name, `pai config` means the first provider. */
export const renderSetKey = ({ id }: Provider): string => (id === providerIds[0] ? "pai key set" : `pai key set ${id}`);
