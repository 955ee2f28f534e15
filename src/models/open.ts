/** Opens a model from `provider:name`: one stream that retries and takes keys in turn, or the replies of a recording. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { PaiError, toPaiError } from "../core/error.ts";
import type { KeyState } from "../core/key-turns.ts";
import {
  type Call,
  type Json,
  type Model,
  type ModelEvent,
  noUsage,
  type StopReason,
  type Usage,
} from "../core/model.ts";
import { findAnyProvider, type Provider, providerIds, providers, renderSetKey, type Wire } from "../core/providers.ts";
import { suggest } from "../core/suggest.ts";
import { describeModel, limitModel, type StatedLimits } from "./catalogue.ts";
import { createConcessions } from "./concessions.ts";
import { ignoreEffort, openEffort } from "./effort.ts";
import { type Key, takeKeysInTurn } from "./keys-in-turn.ts";
import { askServer, outputOf } from "./local/server.ts";
import { type RetryOptions, type Stream, throwIfInterrupted, tryUntilBegun, withRetry } from "./stream.ts";
import { type Endpoint, type ProxyEnv, parseEndpoint } from "./wire/endpoint.ts";
import { count, fields, listIn, parseJson, textIn, type WireFields } from "./wire/fields.ts";
import type { BridgeOptions } from "./wire/open-bridge.ts";
import { createCallNamer } from "./wire/replies.ts";

export const modelSources = [...providerIds, "replay"] as const;

export interface OpenOptions extends RetryOptions {
  readonly id: string;
  readonly own?: readonly Provider[];
  /** The default key first. */
  readonly keys: readonly Key[];
  /** Makes the key of each call, instead of the keys; `refused`: one that the server refused. Absent: keys last. */
  readonly renew?: ((signal: AbortSignal, refused: Key | null) => Promise<Key>) | undefined;
  /** Address of the provider; null: a recording, which has none. */
  readonly baseUrl: string | null;
  /** What pai calls itself, as in `pai/1.2.3`. */
  readonly agent: string;
  readonly insecureHttp: boolean;
  /** What the user states wins over what pai knows and what a local server says; absent: nothing. */
  readonly limits?: StatedLimits;
  readonly folder: string;
  readonly keyState: KeyState;
  readonly now: () => number;
  readonly proxyEnv: ProxyEnv;
  /** Silence after which a connection counts as dead, in milliseconds; absent: the value in the provider's row. */
  readonly idleMs?: number;
  /** Ends the requests that find out about a local server. */
  readonly signal?: AbortSignal;
}

/** `provider`: its id, or "replay". Throws PaiError `model_unknown` when the provider of a name is unclear. */
export function parseModelId(source: string, own: readonly Pick<Provider, "id">[] = []) {
  const trimmed = source.trim();
  const sources: readonly string[] = [...modelSources, ...own.map(({ id }) => id)];
  const [, prefix = "", rest = ""] = /^([A-Za-z][\w-]*):(.*)$/s.exec(trimmed) ?? [];
  const named = sources.find((source) => source === prefix);
  const usable = named === "replay" ? rest.trim() !== "" : /^\S+$/.test(rest);
  if (named !== undefined && usable) return { provider: named, name: rest };
  const guessed = providers.find(({ names }) => names?.test(trimmed));
  if (guessed !== undefined && /^[\w.:@/-]+$/.test(trimmed)) return { provider: guessed.id, name: trimmed };
  const near = prefix === "" ? null : suggest(prefix, sources);
  throw new PaiError("model_unknown", `the model ${JSON.stringify(source)} belongs to no provider`, {
    hint:
      near === null || near === prefix
        ? `write it as provider:name, such as ${sources.filter((each) => each !== "replay").join(":…, ")}:…; see: pai models, in a session /model`
        : `did you mean ${near}:${rest}?`,
  });
}

export const providerOfModel = <P extends Provider>(source: string, own: readonly P[] = []): Provider | P | null =>
  findAnyProvider(parseModelId(source, own).provider, own);

/** Throws PaiError: model_unknown, no_key, key_invalid, config_invalid (address, proxy), untrusted (plain http). */
export async function openModel(options: OpenOptions): Promise<Model> {
  const { own = [], id } = options;
  const { name } = parseModelId(id, own);
  const provider = providerOfModel(id, own);
  if (provider === null)
    return ignoreEffort(createReplayModel(await readReplay(name, options.folder), name), options.notify);
  const opened = {
    ...describeModel(provider.id, name, provider.like),
    ...(await openRemote(provider, name, options)),
  };
  return limitModel(opened, options.limits ?? {});
}

/** In the path of an address, the name of the model takes the place of `{model}`. */
const modelMark = "%7Bmodel%7D";

type OpenKey = (key: Key | null) => Stream;

async function openRemote(provider: Provider, name: string, options: OpenOptions) {
  const { agent, keys, now, idleMs = provider.silence * 1000, notify } = options;
  const endpoint = parseEndpoint(
    (options.baseUrl ?? "").replaceAll(modelMark, encodeURIComponent(name)),
    options.proxyEnv,
  );
  judgeExposure(endpoint, provider, options);
  if (keys.length === 0 && provider.needsKey) throw noKey(provider);
  const prepare = await bridges[provider.wire]();
  const concessions = createConcessions(name, notify);
  const effort = openEffort(provider, name, notify);
  const base = { provider, model: name, endpoint, agent, idleMs, notify, concessions, effort, now };
  const { open, ...limits } = await prepare(base, options);
  const stream = takeKeys(open, provider.id, options);
  return { ...limits, address: endpoint.url, stream: withRetry(stream, options) };
}

function takeKeys(open: OpenKey, provider: string, options: OpenOptions): Stream {
  const { keys, renew } = options;
  if (renew !== undefined) return renewKey(open, renew);
  const [only = null, ...others] = keys;
  if (others.length === 0) return open(only);
  const keyed = keys.map((key) => ({ id: key.id, stream: open(key) }));
  return takeKeysInTurn(keyed, provider, options);
}

/** Each call with the key of its moment, and once more with another one if that was refused. */
function renewKey(open: OpenKey, renew: NonNullable<OpenOptions["renew"]>): Stream {
  return async function* (request, signal) {
    const tried: Key[] = [];
    yield* tryUntilBegun(async (failed) => {
      const [refused = null, second] = tried;
      const isRefused = failed instanceof PaiError && failed.code === "key_rejected" && second === undefined;
      if (failed !== null && !isRefused) throw failed;
      const key = await renew(signal, refused);
      if (key.key === refused?.key) throw failed;
      tried.push(key);
      return open(key)(request, signal);
    });
  };
}

interface Prepared extends Partial<Pick<Model, "window" | "maxOutputTokens">> {
  readonly open: OpenKey;
}

type Prepare = (base: Omit<BridgeOptions, "key">, options: OpenOptions) => Prepared | Promise<Prepared>;

const prepareBy =
  (open: (options: BridgeOptions) => Stream): Prepare =>
  (base) => ({ open: (key) => open({ ...base, key }) });

/** By wire. A bridge is loaded only when a provider that speaks its wire is used. */
const bridges: Readonly<Record<Wire, () => Promise<Prepare>>> = {
  gemini: async () => prepareBy((await import("./gemini/bridge.ts")).openGemini),
  responses: async () => prepareBy((await import("./openai/bridge.ts")).openOpenai),
  messages: async () => prepareBy((await import("./anthropic/bridge.ts")).openAnthropic),
  chat: async () => prepareBy((await import("./chat/bridge.ts")).openChat),
  local: async () => {
    const { openLocal } = await import("./local/bridge.ts");
    return async (base, { keys: [first], limits: stated, signal = new AbortController().signal }) => {
      const headers = base.provider.headers(first?.key ?? null);
      const found = await askServer(base, { headers, signal, isStated: stated?.window !== undefined });
      const server = { ...found, window: stated?.window ?? found.window };
      const { window, thinks } = server;
      if (window === null) return { open: (key) => openLocal({ ...base, key, server }) };
      const open: OpenKey = (key) => useRest(openLocal({ ...base, key, server }), window);
      return { window, maxOutputTokens: outputOf(window, thinks), open };
    };
  },
};

/** A reply may have all that its request leaves of the window, where no cap forbids it: nobody pays for it. */
const useRest =
  (stream: Stream, window: number): Stream =>
  (request, signal) => {
    const { system, messages, tools, isCapped, maxOutputTokens } = request;
    const asked = Math.ceil(JSON.stringify([system, messages, tools]).length / charactersOfToken);
    const most = Math.max(maxOutputTokens, Math.min(longReply, window - asked));
    return stream(isCapped ? request : { ...request, maxOutputTokens: most }, signal);
  };

/** Few, so that a request takes more of the window than it needs, rather than less. */
const charactersOfToken = 2.5;
/** Tokens that are enough for any reply, also in a large window. */
const longReply = 16_384;

function judgeExposure(endpoint: Endpoint, { insecureHttp: isAccepted }: Provider, options: OpenOptions): void {
  if (endpoint.wantsUnverified) {
    const text =
      "NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified; for one of your own set NODE_EXTRA_CA_CERTS";
    options.notify({ level: "warning", code: "tls_verified", text });
  }
  if (!endpoint.exposed || isAccepted === true) return;
  if (options.keys.length > 0 && !options.insecureHttp) {
    throw new PaiError("untrusted", `${endpoint.address} is plain http: everyone on the way could read the key`, {
      hint: "use https, or allow it: pai config set insecureHttp true",
    });
  }
  const text = `${endpoint.address} is plain http: everyone on the way can read what is sent`;
  options.notify({ level: "warning", code: "plain_http", text });
}

function noKey(provider: Provider): PaiError {
  const [variable] = provider.keyVariables;
  const set = variable === undefined ? "" : `set ${variable}, `;
  return new PaiError("no_key", `there is no key for ${provider.id}`, {
    hint:
      `${set}store one with: ${renderSetKey(provider)}; without one ask a server of yours with ` +
      "--model local:NAME, or see how pai works: pai demo",
  });
}

/** One recorded reply, a line of the file. Absent fields are empty; an absent `stop` follows from the calls. */
export interface ReplayLine {
  readonly text?: string;
  readonly calls?: readonly Call[];
  readonly stop?: StopReason;
  readonly usage?: Partial<Usage>;
}

const stops: readonly unknown[] = ["end", "calls", "length", "refused"] satisfies readonly StopReason[];

/** Answers each call with the next line; throws `reply_empty` when no line is left. */
export function createReplayModel(lines: readonly ReplayLine[], name = "recorded"): Model {
  let next = 0;
  return {
    ...describeModel("replay", name),
    address: null,
    async *stream(_request, signal): AsyncIterable<ModelEvent> {
      throwIfInterrupted(signal);
      const line = lines[next];
      next += 1;
      if (line === undefined) {
        const held = lines.length === 1 ? "1 reply" : `${lines.length} replies`;
        throw new PaiError("reply_empty", `the recording ${name} has ${held} and this is call ${next}`, {
          hint: "record the run again, or give a longer recording",
        });
      }
      if (line.stop === "refused") throw new PaiError("reply_blocked", "the recorded model refused to go on");
      const calls = line.calls ?? [];
      if (line.text) yield { type: "text", text: line.text };
      const named = createCallNamer();
      for (const call of calls) yield named({ type: "call", call });
      throwIfInterrupted(signal);
      yield {
        type: "done",
        stop: line.stop ?? (calls.length > 0 ? "calls" : "end"),
        usage: { ...noUsage, ...line.usage },
        served: name,
        key: null,
        native: null,
      };
    },
  };
}

const reasons: Readonly<Record<string, string>> = { ENOENT: " does not exist", EISDIR: " is a folder" };

/** Reads a recording from a file below a folder. Throws usage where there is none, and as `parseReplay`. */
async function readReplay(name: string, folder: string): Promise<readonly ReplayLine[]> {
  const path = resolve(folder, name);
  const text = await readFile(path, "utf8").catch((cause) => {
    const why = reasons[cause.code] ?? `: ${toPaiError(cause).message}`;
    throw new PaiError("usage", `the recording cannot be read: ${path}${why}`, { cause });
  });
  return parseReplay(text, name);
}

/** Reads a JSONL recording. Throws `config_invalid` that names the first bad line. */
export const parseReplay = (source: string, name: string): readonly ReplayLine[] =>
  source
    .replace(/^\uFEFF/, "")
    .split("\n")
    .flatMap((line, index) => (line.trim() === "" ? [] : [parseLine(line, `${name}:${index + 1}`)]));

function parseLine(source: string, where: string): ReplayLine {
  const broken = (why: string) =>
    new PaiError("config_invalid", `${where} is not a recorded reply: ${why}`, {
      hint: 'a line is {"text": "…", "calls": [], "stop": "end", "usage": {}}',
    });
  const value = parseJson(source);
  if (value === undefined) throw broken("not JSON");
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw broken("not an object");
  const line = fields(value);
  const stop = line["stop"] ?? null;
  if (stop !== null && !stops.includes(stop)) throw broken(`stop is ${JSON.stringify(stop)}`);
  if (typeof (line["text"] ?? "") !== "string") throw broken("text is not a string");
  const calls = listIn(line["calls"]).map((call, index) => parseCall(fields(call), index));
  if (calls.some(({ name }) => name === "")) throw broken("a call has no name");
  const usage = fields(line["usage"]);
  return {
    text: textIn(line["text"]),
    calls,
    ...(stop === null ? {} : { stop: stop as StopReason }),
    usage: {
      input: count(usage["input"]),
      cached: count(usage["cached"]),
      output: count(usage["output"]),
      thought: count(usage["thought"]),
    },
  };
}

const parseCall = (call: WireFields, index: number): Call => ({
  id: textIn(call["id"]) || `call-${index + 1}`,
  name: textIn(call["name"]),
  input: (call["input"] ?? {}) as Json,
});
