/** How many tokens a server of the user says it holds, whichever kind of server it is. */
import { expect, test } from "bun:test";
import { type OpenOptions, openModel } from "../../../src/models/open.ts";
import { ollama, options, useServer } from "../loopback.ts";

const server = useServer();
const opened = (about: typeof server.about, over: Partial<OpenOptions> = {}) => {
  server.about = about;
  return openModel(options({ id: "local:qwen3:8b", keys: [], baseUrl: `${server.origin}/v1`, ...over }));
};

const slots = (n_ctx: number) => ({ default_generation_settings: { n_ctx } });
/** llama.cpp with several models; `args` are those it starts this one with. */
const router = (known: Readonly<Record<string, unknown>>, args: readonly string[] = []) => ({
  "/props": { role: "router", ...slots(0) },
  "/v1/models": { data: [{ id: "qwen3:8b", status: { value: "unloaded", args } }, { id: "other" }] },
  ...known,
});

const made = (context: number) => ({ model_info: { "x.context_length": context } });
const vllm = (...data: readonly object[]) => ({ "/v1/models": { data } });
const studio = (fields: object) => ({ "/api/v0/models": { data: [{ id: "qwen3:8b", ...fields }] } });
/** Ollama that says this of the model. */
const shows = (fields: object) => ({ ...ollama, "/api/show": fields });
const elsewhere = { ...made(262_144), remote_model: "glm-5", remote_host: "https://ollama.com" };
const loaded = { "/api/ps": { models: [{ name: "qwen3:8b", context_length: 65_536 }] } };
const inOneSlot = ["--parallel", "4", "--kv-unified", "-c", "x", "--ctx-size", "65536"];

const windows: readonly (readonly [string, Readonly<Record<string, unknown>>, number, number])[] = [
  ["llama.cpp", { "/props": slots(4096), "/api/version": { version: "1" } }, 4096, 1024],
  ["vLLM", vllm({ id: "qwen3:8b", max_model_len: 32_768 }), 32_768, 8192],
  ["another name", vllm({ id: "a" }, { id: "b", max_model_len: 9 }), 8192, 2048],
  ["LM Studio", studio({ loaded_context_length: 12_000, max_context_length: 131_072 }), 12_000, 3000],
  ["LM Studio, not loaded", studio({ state: "not-loaded", max_context_length: 131_072 }), 8192, 2048],
  ["llama.cpp as a router", router({ "/props?model=qwen3%3A8b&autoload=false": slots(20_000) }), 20_000, 5000],
  ["… not loaded", router({}, ["llama-server", "--ctx-size", "65536", "--jinja"]), 65_536, 16_384],
  ["… not loaded, in slots", router({}, ["--parallel", "4", "--ctx-size", "65536"]), 16_384, 4096],
  ["… not loaded, in slots of one", router({}, inOneSlot), 65_536, 16_384],
  ["… not loaded, silent", router({}, ["llama-server"]), 8192, 2048],
  ["Ollama, configured", ollama, 32_768, 8192],
  ["Ollama, silent", shows({}), 32_768, 8192],
  ["Ollama, a small model", shows(made(2048)), 2048, 512],
  ["Ollama, a thinking model", shows({ ...made(40_960), capabilities: ["thinking"] }), 32_768, 16_384],
  ["Ollama, a model elsewhere", shows(elsewhere), 262_144, 32_768],
  ["Ollama, loaded", { ...shows({}), ...loaded }, 65_536, 16_384],
  ["a server that says nothing", {}, 8192, 2048],
];
test.each(windows)("%s", async (_name, about, window, maxOutputTokens) => {
  expect(await opened(about)).toMatchObject({ window, maxOutputTokens });
  expect(server.seen.length).toBe(0);
});

/** Ollama that has not loaded the model, and loads it with a window of its own. */
function loading(own: number) {
  const asked: unknown[] = [];
  const about = {
    ...shows(made(131_072)),
    "/api/generate": (body: unknown) => ({ done: asked.push(body) > 0, done_reason: "load" }),
    "/api/ps": () => ({ models: asked.length === 0 ? [] : [{ model: "qwen3:8b", context_length: own }] }),
  };
  return { asked, about };
}

test.each([
  ["more than pai needs: it stays", 65_536, 65_536],
  ["enough: it stays", 16_384, 16_384],
  ["too little: more is asked", 4096, 32_768],
])("Ollama loads the model first, and its own window is %s", async (_name, own, window) => {
  const { asked, about } = loading(own);
  const notices: string[] = [];
  const notify = ({ text }: { readonly text: string }) => notices.push(text);
  expect(await opened(about, { notify })).toMatchObject({ window });
  expect([asked, notices]).toEqual([[{ model: "qwen3:8b" }], ["Ollama loads qwen3:8b"]]);
});

test("nothing is loaded where the user states the window", async () => {
  const { asked, about } = loading(4096);
  const limits = { window: 8192 };
  expect(await opened(about, { limits })).toMatchObject(limits);
  expect(asked).toEqual([]);
});
