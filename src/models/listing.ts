/** Asks a provider's server for its models, which is free, and reads its list: of any form, bounded, and never trusted. */
import { PaiError } from "../core/error.ts";
import type { ListedModel, ModelList } from "../core/listed-model.ts";
import type { Provider, Wire } from "../core/providers.ts";
import type { Price, Rate } from "../core/spending/cost.ts";
import { rootOf, windowMade, windowOfRow } from "./local/server.ts";
import { type ProbeModelOptions, probeModel, readRefusal } from "./probe.ts";
import { count, fields, listIn, parseJson, textIn, type WireFields } from "./wire/fields.ts";
import type { AskedServer } from "./wire/http-errors.ts";

/** Where each wire's server lists its models: after the base URL, with the longest page. */
const paths: Readonly<Record<Wire, string>> = {
  gemini: "/v1beta/models?pageSize=1000",
  responses: "/models",
  messages: "/v1/models?limit=1000",
  chat: "/models",
  local: "/models",
};

const timeoutMs = 20_000;
/** The longest list read: OpenRouter's has some 2 MB. */
const maxLength = 16 * 1024 * 1024;
const maxModels = 2000;
const maxRows = 20_000;
/** What every name of a model consists of; others could not be asked for, and might control a terminal. */
const usableName = /^[\w~./][\w.:@/+~=-]{0,149}$/;
/** Models of OpenAI and of gateways that write no text; their lists do not say so. */
const notForText =
  /(?:^|[\W_])(?:embed(?:ding)?|whisper|tts|dall-e|moderation|transcribe|realtime|audio|image|sora|veo|imagen|rerank|lyria)/i;

/** Throws network, tls, redirected, what a refusal means, and reply_invalid for an answer that is no list. */
export async function askForModels(
  provider: Provider,
  baseUrl: string,
  options: Pick<ProbeModelOptions, "env" | "signal"> & { readonly key: AskedServer["key"]; readonly now: number },
): Promise<ModelList> {
  const { key, now } = options;
  const headers = provider.headers(key?.key ?? null);
  const asked = { ...options, provider: provider.id, path: paths[provider.wire], headers, timeoutMs, limit: maxLength };
  const answer = await probeModel(baseUrl, asked);
  const refusal = readRefusal(provider.id, key, answer, now);
  if (refusal !== null) throw refusal;
  const { endpoint, body } = answer;
  const { address } = endpoint;
  if (body.length >= maxLength) {
    throw new PaiError("reply_invalid", `${address} lists more than ${maxLength / 1024 / 1024} MB, which is not read`);
  }
  const found = readModelList(body);
  if (found === null) throw new PaiError("reply_invalid", `${address} answered, but not with a list of models`);
  return provider.wire === "local" ? addWindows(found, baseUrl, { ...asked, limit: 1_000_000 }) : found;
}

/** The models in an answer of a server; null: it is no list. */
export function readModelList(body: string): ModelList | null {
  const answer = fields(parseJson(body));
  const rows = [answer["data"], answer["models"]].find((each) => Array.isArray(each));
  if (rows === undefined) return null;
  const known = listIn(rows).slice(0, maxRows).map(readModel);
  const named = known.filter((each) => each !== null);
  const writing = named.filter(({ writes }) => writes).map(({ model }) => model);
  const models = [...new Map(writing.map((model) => [model.name, model])).values()];
  const beyond = listIn(rows).length - known.length + Math.max(0, models.length - maxModels);
  const omitted = [
    [named.length - writing.length, "that write no text"],
    [known.length - named.length, "without a usable name"],
    [beyond, "beyond what pai holds"],
  ] as const;
  const hasMore = textIn(answer["nextPageToken"]) !== "" || answer["has_more"] === true;
  return {
    models: models.slice(0, maxModels),
    omitted: [
      ...omitted.filter(([many]) => many > 0).map(([many, which]) => `${many} ${which}`),
      ...(hasMore ? ["those on further pages of the server"] : []),
    ],
  };
}

function readModel(row: unknown): { readonly model: ListedModel; readonly writes: boolean } | null {
  const each = fields(row);
  const name = (textIn(each["id"]) || textIn(each["name"])).replace(/^models\//, "");
  if (!usableName.test(name)) return null;
  const top = fields(each["top_provider"]);
  const window = windowOfRow(each) || null;
  const output =
    count(top["max_completion_tokens"]) || count(each["outputTokenLimit"]) || count(each["max_tokens"]) || null;
  return {
    model: { name, window, output, price: readPrice(fields(each["pricing"])), ends: readEnd(each) },
    writes: writesText(each, name),
  };
}

/** Gemini names the methods of a model, OpenRouter what it puts out, Mistral what it can do, Anthropic its stage. */
function writesText(each: WireFields, name: string): boolean {
  const methods = listIn(each["supportedGenerationMethods"]);
  const puts = listIn(fields(each["architecture"])["output_modalities"]);
  const chats = fields(each["capabilities"])["completion_chat"];
  if (methods.length > 0 && !methods.includes("generateContent")) return false;
  if (puts.length > 0) return puts.includes("text");
  return chats !== false && each["lifecycle"] !== "retired" && !notForText.test(name);
}

function readEnd(each: WireFields): string | null {
  const dates = ["shutdown_date", "expiration_date", "deprecation", "retires_at"].map((name) => textIn(each[name]));
  const day = dates.find((date) => /^\d{4}-\d\d-\d\d(?:T|$)/.test(date));
  return day?.slice(0, 10) ?? null;
}

type Rates = Readonly<Record<"input" | "cached" | "written" | "output", number | null>>;

/** A text in USD a token, as OpenRouter writes it, in USD per million; null: none. */
function usd(value: unknown): number | null {
  const amount = Number(textIn(value) || Number.NaN);
  return amount >= 0 && amount < 1 ? Number((amount * 1e6).toPrecision(10)) : null;
}

const ratesOf = (pricing: WireFields): Rates => ({
  input: usd(pricing["prompt"]),
  cached: usd(pricing["input_cache_read"]),
  written: usd(pricing["input_cache_write"]),
  // Thinking may have a rate of its own; all output counts at the dearer one.
  output: dearer(usd(pricing["completion"]), usd(pricing["internal_reasoning"])),
});

const dearer = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

const dearest = (all: readonly Rates[]): Rates =>
  all.reduce((a, b) => ({
    input: dearer(a.input, b.input),
    cached: dearer(a.cached, b.cached),
    written: dearer(a.written, b.written),
    output: dearer(a.output, b.output),
  }));

/** OpenRouter's price; null: another form, or a cost beside tokens. Rates of hours count always: no call is too cheap. */
function readPrice(pricing: WireFields): Price | null {
  if ((usd(pricing["request"]) ?? 0) > 0) return null;
  const overrides = listIn(pricing["overrides"]).map(fields);
  const long = overrides.filter((each) => count(each["min_prompt_tokens"]) > 0);
  const usual = dearest([pricing, ...overrides.filter((each) => !long.includes(each))].map(ratesOf));
  const rate = rateOf(usual);
  if (rate === null || long.length === 0) return rate;
  const above = Math.min(...long.map((each) => count(each["min_prompt_tokens"])));
  const large = rateOf(dearest([usual, ...long.map(ratesOf)]));
  return large === null ? rate : { ...rate, large: { above, ...large } };
}

function rateOf({ input, cached, written, output }: Rates): Rate | null {
  if (input === null || output === null) return null;
  return { input, cached: cached ?? input, ...(written === null ? {} : { written }), output };
}

const maxShown = 20;

/** The windows that Ollama knows of its models, asked for the first ones; other servers do not answer. */
async function addWindows({ models, omitted }: ModelList, baseUrl: string, asked: ProbeModelOptions) {
  const windowOf = async (model: ListedModel): Promise<ListedModel> => {
    if (model.window !== null) return model;
    const post = JSON.stringify({ model: model.name });
    const asking = probeModel(rootOf(baseUrl), { ...asked, path: "/api/show", post, timeoutMs: 2000 });
    const answer = await asking.catch(() => null);
    asked.signal.throwIfAborted();
    return { ...model, window: windowMade(fields(answer?.status === 200 ? parseJson(answer.body) : null)) || null };
  };
  const [first, rest] = [models.slice(0, maxShown), models.slice(maxShown)];
  return { models: [...(await Promise.all(first.map(windowOf))), ...rest], omitted };
}
