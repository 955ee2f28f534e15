/** Identifies the server at a local address: its kind, and the context window of one of its models. */
import { type Endpoint, tlsOf } from "../wire/endpoint.ts";
import { count, type Fields, fields, list, parseJson, text } from "../wire/fields.ts";
import { readStart } from "../wire/read-start.ts";

export interface LocalServer {
  /** Ollama is spoken to in its own form, everyone else by Chat Completions. */
  readonly kind: "ollama" | "chat";
  /** Tokens of input and output together; null: the server does not say. */
  readonly window: number | null;
}

/** The context that pai asks of Ollama when nothing else is set: its own default is a quarter of it or less. */
const usualWindow = 16_384;
const patienceMs = 2000;
const answerLimit = 4_000_000;

/** The address of the server itself: Chat Completions live under `/v1` of it. */
export function rootOf(url: string): string {
  return url.replace(/\/v\d+$/, "");
}

/** A quarter of the window is kept for the reply, as far as a reply can be long. */
export function outputOf(window: number): number {
  return Math.max(256, Math.min(32_768, Math.floor(window / 4)));
}

/** Asks everything a server may know at once. Never throws: a server that does not answer in two seconds is asked nothing more. */
export async function askServer(
  endpoint: Endpoint,
  model: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<LocalServer> {
  const root = rootOf(endpoint.url);
  const ask = async (url: string, body?: object): Promise<Fields> => {
    try {
      const response = await fetch(url, {
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        headers: { "content-type": "application/json", ...headers },
        redirect: "manual",
        proxy: endpoint.proxy,
        ...tlsOf(endpoint),
        signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
      });
      return response.ok ? fields(parseJson(await readStart(response, answerLimit))) : {};
    } catch {
      return {};
    }
  };
  const [version, props, show, running, models, studio] = await Promise.all([
    ask(`${root}/api/version`),
    // A router of llama.cpp has these of every model; it is not to load one for the question alone.
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

/** What is loaded already or was configured, else as much as is usual, never more than the model was made for. */
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

/** vLLM and SGLang say `max_model_len`, LM Studio what is loaded, gateways the rest. */
const names = ["max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length"];

function windowIn(answer: Fields, model: string): number {
  const all = list(answer["data"]).map(fields);
  const entry = all.find(({ id }) => id === model) ?? (all.length === 1 ? fields(all[0]) : {});
  // LM Studio says what the model was made for, and may load it with far less.
  if (entry["state"] === "not-loaded") return 0;
  const found = names.map((name) => count(entry[name])).find((tokens) => tokens > 0);
  return found ?? (count(fields(entry["meta"])["n_ctx"]) || windowAtStart(list(fields(entry["status"])["args"])));
}

/** What llama.cpp will give a model that is not loaded yet: its slots share the context, or each has all of it. */
function windowAtStart(args: readonly unknown[]): number {
  const numberOf = (option: string) => count(Number(args[args.indexOf(option) + 1]));
  const slots = args.includes("--kv-unified") ? 1 : numberOf("--parallel") || 1;
  return Math.floor(numberOf("--ctx-size") / slots);
}
