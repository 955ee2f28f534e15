/** Identifies the server at a local address: its kind, and the context window of one of its models. */
import { usualOutput } from "../catalogue.ts";
import { type Endpoint, tlsOf, withQuery } from "../wire/endpoint.ts";
import { count, type Fields, fields, list, parseJson, text } from "../wire/fields.ts";
import { readStart } from "../wire/read-start.ts";

export interface LocalServer {
  /** Ollama gets requests of its own API, all others get Chat Completions. */
  readonly kind: "ollama" | "chat";
  /** Tokens of input and output together; null: the server does not say. */
  readonly window: number | null;
}

/** The context that pai asks of Ollama when nothing else is set: Ollama's default is a quarter of it or less. */
const usualWindow = 16_384;
const timeoutMs = 2000;
const answerLimit = 4_000_000;

/** The address of the server itself, without the `/v1` of Chat Completions. */
export function rootOf(url: string): string {
  return url.replace(/\/v\d+$/, "");
}

/** Output tokens: a quarter of the window, within the limits of a sensible reply. */
export function outputOf(window: number): number {
  return Math.max(256, Math.min(usualOutput, Math.floor(window / 4)));
}

/** Sends all questions to a server at once. Never throws: a question without an answer in two seconds stays open. */
export async function askServer(
  endpoint: Endpoint,
  model: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<LocalServer> {
  const root = rootOf(endpoint.url);
  const ask = async (url: string, body?: object): Promise<Fields> => {
    try {
      const response = await fetch(withQuery(url, endpoint), {
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        headers: { "content-type": "application/json", ...headers },
        redirect: "manual",
        proxy: endpoint.proxy,
        ...tlsOf(endpoint),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      return response.ok ? fields(parseJson(await readStart(response, answerLimit))) : {};
    } catch {
      return {};
    }
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
  if (text(version["version"]) !== "" && slots === 0) {
    return { kind: "ollama", window: chooseWindow(show, running, model) };
  }
  return { kind: "chat", window: slots || windowIn(studio, model) || windowIn(models, model) || null };
}

/** The largest of the usual, the loaded and the configured window, but not more than the model was made for. */
function chooseWindow(show: Fields, running: Fields, model: string): number {
  const loaded = list(running["models"])
    .map(fields)
    .find(({ name, model: id }) =>
      [name, id].some((each) => text(each).replace(/:latest$/, "") === model.replace(/:latest$/, "")),
    );
  const configured = Number(/^num_ctx\s+(\d+)/m.exec(text(show["parameters"]))?.[1] ?? 0);
  const made = Object.entries(fields(show["model_info"])).find(([name]) => name.endsWith(".context_length"))?.[1];
  const wanted = Math.max(usualWindow, configured, count(loaded?.["context_length"]));
  return count(made) === 0 ? wanted : Math.min(wanted, count(made));
}

/** Fields with the window: `max_model_len` of vLLM and SGLang, the loaded one of LM Studio, others of gateways. */
const names = ["max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length"];

function windowIn(answer: Fields, model: string): number {
  const all = list(answer["data"]).map(fields);
  const entry = all.find(({ id }) => id === model) ?? (all.length === 1 ? fields(all[0]) : {});
  // For a model that is not loaded, LM Studio tells what it was made for, but may load it with far less.
  if (entry["state"] === "not-loaded") return 0;
  const found = names.map((name) => count(entry[name])).find((tokens) => tokens > 0);
  return found ?? (count(fields(entry["meta"])["n_ctx"]) || windowAtStart(list(fields(entry["status"])["args"])));
}

/** The window that llama.cpp will load a model with, from its options: slots share the context unless unified. */
function windowAtStart(args: readonly unknown[]): number {
  const numberOf = (option: string) => count(Number(args[args.indexOf(option) + 1]));
  const slots = args.includes("--kv-unified") ? 1 : numberOf("--parallel") || 1;
  return Math.floor(numberOf("--ctx-size") / slots);
}
