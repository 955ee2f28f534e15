/** Identifies the server at a local address: its kind, and the context window of one of its models. */
import { usualOutput } from "../catalogue.ts";
import { askOnce, type ProbeModelOptions } from "../probe.ts";
import { count, fields, listIn, parseJson, textIn, type WireFields } from "../wire/fields.ts";
import type { BridgeOptions } from "../wire/open-bridge.ts";

export interface LocalServer {
  /** Ollama gets requests of its own API, all others get Chat Completions. */
  readonly kind: "ollama" | "chat";
  /** Tokens of input and output together; null: the server does not say. */
  readonly window: number | null;
  /** Ollama says that the model can think, and be told not to. */
  readonly thinks: boolean;
}

/** The least context with which pai works well. Ollama's own, which depends on the memory, may be a quarter of it. */
const leastWindow = 16_384;
/** What pai asks of Ollama where its own is less. */
const usualWindow = 32_768;
const timeoutMs = 2000;
const answerLimit = 4_000_000;

/** The address of the server itself, without the `/v1` of Chat Completions. */
export const rootOf = (url: string): string => url.replace(/\/v\d+$/, "");

/** Output tokens: a quarter of the window, or half where thoughts count as output, too. */
export const outputOf = (window: number, thinks: boolean): number =>
  Math.max(256, Math.min(usualOutput, Math.floor(window / (thinks ? 2 : 4))));

/**
 * Asks all at once. Has Ollama load the model, in at most `loadMs`, since only then it says how much of the window it
 * uses: needless where the user stated that. Never throws.
 */
export async function askServer(
  { endpoint, model, idleMs: loadMs, notify }: Pick<BridgeOptions, "endpoint" | "model" | "idleMs" | "notify">,
  { headers, signal, isStated }: Pick<ProbeModelOptions, "headers" | "signal"> & { readonly isStated: boolean },
): Promise<LocalServer> {
  const root = rootOf(endpoint.url);
  const ask = async (url: string, body?: object, ms = timeoutMs): Promise<WireFields> => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
    const post = body === undefined ? {} : { post: JSON.stringify(body) };
    const asking = askOnce(endpoint, url, { headers, signal: within, limit: answerLimit, ...post });
    const answer = await asking.catch(() => null);
    return fields(answer?.status === 200 ? parseJson(answer.body) : null);
  };
  const [version, props, show, running, models, studio] = await Promise.all([
    ask(`${root}/api/version`),
    // A router of llama.cpp has properties for every model, and must not load one just for this question.
    ask(`${root}/props?model=${encodeURIComponent(model)}&autoload=false`),
    ask(`${root}/api/show`, { model }),
    ask(`${root}/api/ps`),
    ask(`${endpoint.url}/models`),
    ask(`${root}/api/v0/models`),
  ]);
  const slots = count(fields(props["default_generation_settings"])["n_ctx"]) || count(props["n_ctx"]);
  if (textIn(version["version"]) === "" || slots > 0) {
    const window = slots || windowIn(studio, model) || windowIn(models, model) || null;
    return { kind: "chat", window, thinks: false };
  }
  const thinks = listIn(show["capabilities"]).includes("thinking");
  let own = Math.max(configuredWindow(show), loadedWindow(running, model));
  if (own === 0 && !isStated && !isRemote(show) && Object.keys(show).length > 0) {
    notify({ level: "info", code: "loading", text: `Ollama loads ${model}` });
    await ask(`${root}/api/generate`, { model }, loadMs);
    own = loadedWindow(await ask(`${root}/api/ps`), model);
  }
  return { kind: "ollama", window: chooseWindow(show, own), thinks };
}

/** Whether the model runs on another server, which Ollama only passes requests on to. */
const isRemote = (show: WireFields): boolean => textIn(show["remote_model"]) !== "";

/** Ollama's own window for the model, if it is large enough, but not more than the model was made for. */
function chooseWindow(show: WireFields, own: number): number {
  const made = windowMade(show);
  if (isRemote(show) && made > 0) return made;
  const wanted = own >= leastWindow ? own : usualWindow;
  return made === 0 ? wanted : Math.min(wanted, made);
}

/** The window that Ollama says a model was made for; 0: it does not say. */
export const windowMade = (show: WireFields): number =>
  count(Object.entries(fields(show["model_info"])).find(([name]) => name.endsWith(".context_length"))?.[1]);

const configuredWindow = (show: WireFields): number =>
  Number(/^num_ctx\s+(\d+)/m.exec(textIn(show["parameters"]))?.[1] ?? 0);

function loadedWindow(running: WireFields, model: string): number {
  const plain = (name: unknown) => textIn(name).replace(/:latest$/, "");
  const all = listIn(running["models"]).map(fields);
  const loaded = all.find(({ name, model: id }) => [name, id].some((each) => plain(each) === plain(model)));
  return count(loaded?.["context_length"]);
}

/** Fields with the window: `max_model_len` of vLLM and SGLang, the loaded one of LM Studio, others of gateways and services. */
const names = [
  "max_model_len",
  "loaded_context_length",
  "context_length",
  "context_window",
  "max_context_length",
  "inputTokenLimit",
  "max_input_tokens",
];

export const windowOfRow = (row: WireFields): number =>
  [...names.map((name) => row[name]), fields(row["top_provider"])["context_length"], fields(row["meta"])["n_ctx"]]
    .map(count)
    .find((tokens) => tokens > 0) ?? 0;

function windowIn(answer: WireFields, model: string): number {
  const all = listIn(answer["data"]).map(fields);
  const entry = all.find(({ id }) => id === model) ?? (all.length === 1 ? fields(all[0]) : {});
  // For a model that is not loaded, LM Studio tells what it was made for, but may load it with far less.
  if (entry["state"] === "not-loaded") return 0;
  return windowOfRow(entry) || windowAtStart(listIn(fields(entry["status"])["args"]));
}

/** The window that llama.cpp will load a model with, from its options: slots share the context unless unified. */
function windowAtStart(args: readonly unknown[]): number {
  const numberOf = (option: string) => count(Number(args[args.indexOf(option) + 1]));
  const slots = args.includes("--kv-unified") ? 1 : numberOf("--parallel") || 1;
  return Math.floor(numberOf("--ctx-size") / slots);
}
