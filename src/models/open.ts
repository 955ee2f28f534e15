/** Opens the model a run talks to: from `provider:name` and its keys to one stream that is retried and takes keys in turn. */
import { PaiError } from "../core/error.ts";
import type { Model } from "../core/model.ts";
import type { Notice } from "../core/ports.ts";
import { describeModel } from "./catalogue.ts";
import type { Endpoint, ProxyEnv } from "./endpoint.ts";
import type { Key, KeyState } from "./keys-in-turn.ts";
import type { RetryOptions } from "./retry.ts";
import type { Stream } from "./stream.ts";

export const providers = ["gemini", "openai", "anthropic", "local", "replay"] as const;
export type Provider = (typeof providers)[number];

export interface ModelId {
  readonly provider: Provider;
  readonly name: string;
}

export interface OpenOptions extends RetryOptions {
  /** `provider:name`, or a bare name whose prefix tells the provider. */
  readonly id: string;
  /** The default key first. */
  readonly keys: readonly Key[];
  /** null: the provider's own address. */
  readonly baseUrl: string | null;
  /** A key may travel over plain http to another machine. */
  readonly insecureHttp: boolean;
  /** Text of a recording. */
  readonly readText: (path: string) => Promise<string>;
  readonly keyState: KeyState;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly proxyEnv: ProxyEnv;
  /** Silence after which a connection counts as dead, in milliseconds; ten minutes when absent. */
  readonly idleMs?: number;
}

const prefixes: readonly (readonly [RegExp, Provider])[] = [
  [/^gemini-/, "gemini"],
  [/^gpt-|^o\d/, "openai"],
  [/^claude-/, "anthropic"],
];

/** Throws PaiError `model_unknown` for a name whose provider cannot be told. */
export function parseModelId(source: string): ModelId {
  const trimmed = source.trim();
  const [, prefix = "", rest = ""] = /^([a-z]+):(.*)$/s.exec(trimmed) ?? [];
  const named = providers.find((provider) => provider === prefix);
  const usable = named === "replay" ? rest.trim() !== "" : /^\S+$/.test(rest);
  if (named !== undefined && usable) return { provider: named, name: rest };
  const guessed = prefixes.find(([pattern]) => pattern.test(trimmed));
  if (guessed !== undefined && /^[\w.:@/-]+$/.test(trimmed)) return { provider: guessed[1], name: trimmed };
  throw new PaiError("model_unknown", `the model ${JSON.stringify(source)} belongs to no provider`, {
    hint: `write it as provider:name with one of ${providers.join(", ")}; see: pai models`,
  });
}

/**
 * Throws PaiError: `model_unknown`, `no_key`, `key_invalid`, `config_invalid` for a bad base URL or proxy,
 * `untrusted` for a key over plain http, and what `readText` throws. Sends nothing.
 */
export async function openModel(options: OpenOptions): Promise<Model> {
  const { provider, name } = parseModelId(options.id);
  if (provider === "replay") {
    const { createReplayModel, parseReplay } = await import("./replay.ts");
    return createReplayModel(parseReplay(await options.readText(name), name), name);
  }
  if (provider !== "gemini") {
    throw new PaiError("model_unknown", `${provider} comes with a later version`, { hint: "use a gemini model" });
  }
  return { ...describeModel(provider, name), stream: await openGeminiStream(name, options) };
}

async function openGeminiStream(model: string, options: OpenOptions): Promise<Stream> {
  const [{ geminiUrl, openGemini }, { parseEndpoint }, { takeKeysInTurn }, { withRetry }] = await Promise.all([
    import("./gemini.ts"),
    import("./endpoint.ts"),
    import("./keys-in-turn.ts"),
    import("./retry.ts"),
  ]);
  const { keys, now, idleMs = 600_000 } = options;
  const baseUrl = (options.baseUrl ?? geminiUrl).replace(/\/v1(beta|alpha)?\/?$/, "");
  const endpoint = parseEndpoint(baseUrl, options.proxyEnv);
  judgeExposure(endpoint, keys, options);
  if (keys.length === 0 && options.baseUrl === null) throw noKey();
  const open = (key: Key | null): Stream => openGemini({ model, key, endpoint, idleMs, now });
  const keyed = keys.map((key) => ({ id: key.id, stream: open(key) }));
  const turn = { provider: "gemini", state: options.keyState, notify: options.notify, now };
  return withRetry(keyed.length === 0 ? open(null) : takeKeysInTurn(keyed, turn), options);
}

function judgeExposure(endpoint: Endpoint, keys: readonly Key[], options: OpenOptions): void {
  if (!endpoint.exposed) return;
  if (keys.length > 0 && !options.insecureHttp) {
    throw new PaiError("untrusted", `${endpoint.address} is plain http: everyone on the way could read the key`, {
      hint: "use https, or allow it with --insecure-http",
    });
  }
  const notice: Notice = {
    level: "warning",
    code: "plain_http",
    text: `${endpoint.address} is plain http: everyone on the way can read what is sent`,
  };
  options.notify(notice);
}

function noKey(): PaiError {
  return new PaiError("no_key", "there is no key for gemini", {
    hint: "set GEMINI_API_KEY, or store one with: pai config set",
  });
}
