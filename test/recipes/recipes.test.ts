/** The recipes of docs/models.md, each played as it stands there against a server that behaves as the service does. */
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../src/cli/commands/task.ts";
import type { Fields } from "../../src/core/model.ts";
import { settingTable } from "../../src/store/setting-table.ts";
import { openProcess } from "../cli/fake-context.ts";
import { finish, plan, write } from "../flows/plans.ts";
import { newFolder } from "../grounds.ts";
import * as messages from "../models/anthropic/anthropic-wire.ts";
import { delta, done, event } from "../models/chat/chat-wire.ts";
import { sse } from "../models/loopback.ts";
import { reply } from "../models/openai/openai-wire.ts";
import { put } from "../store/temp-home.ts";

interface Service {
  /** What is typed after `NAME:`. */
  readonly model: string;
  readonly env: Readonly<Record<string, string>>;
  /** Path and query of every request. */
  readonly path: string;
  /** Headers without which it answers 401; a list: one for each accepted request, as a token that expires. */
  readonly wants: Readonly<Record<string, string | readonly string[]>>;
  /** Headers with which it answers 401. */
  readonly refuses?: readonly string[];
  /** What it refuses in a body; null: nothing. */
  readonly fault?: (body: Fields) => string | null;
  /** The stream of a reply with this text. */
  readonly says: (text: string) => string;
  /** What `--effort high` adds. */
  readonly effort: Fields;
  /** What it tells of itself, by path. */
  readonly about?: Readonly<Record<string, unknown>>;
}

const usage = event({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 20 } });
const chat = (text: string) => delta({ role: "assistant", content: text }) + delta({}, "stop") + usage + done;
const responses = (text: string) =>
  reply([{ type: "message", role: "assistant", content: [{ type: "output_text", text }] }], { pieces: [text] });

/** Azure begins with what its filter says of the prompt, and repeats it in every piece. */
const azureFilter = event({ choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] });
const thinkingSummed = { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "high" } };
const key = "key-of-the-service-0123456789";
const bearer = { authorization: `Bearer ${key}` };
const noFormat = (body: Fields) =>
  JSON.stringify(body["output_config"] ?? {}).includes("json_schema")
    ? "output_config.format: Extra inputs are not permitted"
    : null;

const services: Readonly<Record<string, Service>> = {
  azure: {
    model: "my-terra",
    env: { AZURE_OPENAI_API_KEY: key },
    path: "/openai/v1/responses",
    wants: { "api-key": key },
    refuses: ["authorization"],
    says: responses,
    effort: { reasoning: { effort: "high", summary: "auto" } },
  },
  "azure-classic": {
    model: "my-o4-mini",
    env: { AZURE_OPENAI_API_KEY: key },
    path: "/openai/deployments/my-o4-mini/chat/completions?api-version=2024-10-21",
    wants: { "api-key": key },
    refuses: ["authorization"],
    fault: (body) =>
      "max_tokens" in body
        ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        : null,
    says: (text) => azureFilter + chat(text),
    effort: { reasoning_effort: "high" },
  },
  foundry: {
    model: "claude-opus-4-5",
    env: { ANTHROPIC_FOUNDRY_API_KEY: key },
    path: "/anthropic/v1/messages",
    wants: { "x-api-key": key, "anthropic-version": "2023-06-01" },
    says: messages.says,
    effort: { thinking: { type: "enabled", budget_tokens: 16_384 } },
  },
  bedrock: {
    model: "anthropic.claude-sonnet-5-5",
    env: { AWS_BEARER_TOKEN_BEDROCK: key },
    path: "/anthropic/v1/messages",
    wants: { "x-api-key": key, "anthropic-version": "2023-06-01" },
    refuses: ["authorization"],
    fault: noFormat,
    says: messages.says,
    effort: thinkingSummed,
  },
  "bedrock-openai": {
    model: "openai.gpt-5.5",
    env: { AWS_BEARER_TOKEN_BEDROCK: key },
    path: "/openai/v1/responses",
    wants: bearer,
    says: responses,
    effort: { reasoning: { effort: "high", summary: "auto" } },
  },
  vertex: {
    model: "google/gemini-3.8-flash",
    env: {},
    path: "/v1/projects/PROJECT/locations/global/endpoints/openapi/chat/completions",
    wants: { authorization: ["Bearer ya29.token-number-1", "Bearer ya29.token-number-2"] },
    refuses: ["x-goog-api-key"],
    says: chat,
    effort: { reasoning_effort: "high" },
  },
  litellm: {
    model: "team-alias",
    env: { LITELLM_KEY: key },
    path: "/v1/chat/completions",
    wants: bearer,
    fault: (body) =>
      "reasoning_effort" in body
        ? "litellm.UnsupportedParamsError: openai does not support parameters: ['reasoning_effort'], for model=team-alias"
        : null,
    says: chat,
    effort: {},
  },
  deepseek: {
    model: "deepseek-v4-pro",
    env: { DEEPSEEK_API_KEY: key },
    path: "/chat/completions",
    wants: bearer,
    says: (text) => `: keep-alive\n\n${delta({ content: null, reasoning_content: "hm" })}${chat(text)}`,
    effort: { thinking: { type: "enabled" }, reasoning_effort: "high" },
  },
  groq: {
    model: "openai/gpt-oss-120b",
    env: { GROQ_API_KEY: key },
    path: "/openai/v1/chat/completions",
    wants: bearer,
    says: (text) => event({ choices: [], x_groq: { id: "req_1" } }) + delta({ reasoning: "hm" }) + chat(text),
    effort: { reasoning_effort: "high" },
  },
  xai: {
    model: "grok-4.7",
    env: { XAI_API_KEY: key },
    path: "/v1/responses",
    wants: bearer,
    fault: (body) => ("instructions" in body ? "The `instructions` parameter is not supported." : null),
    says: responses,
    effort: { reasoning: { effort: "high", summary: "auto" } },
  },
  cloudflare: {
    model: "claude-haiku-5-5",
    env: { ANTHROPIC_API_KEY: key, CF_AIG_TOKEN: "cf-token-9876543210" },
    path: "/v1/ACCOUNT/GATEWAY/anthropic/v1/messages",
    wants: { "x-api-key": key, "cf-aig-authorization": "Bearer cf-token-9876543210" },
    says: messages.says,
    effort: thinkingSummed,
  },
  apim: {
    model: "gpt-6.1-terra",
    env: { APIM_KEY: key },
    path: "/llm/v1/chat/completions",
    wants: { "ocp-apim-subscription-key": key, "x-team": "platform" },
    refuses: ["authorization"],
    says: chat,
    effort: { reasoning_effort: "high" },
  },
  vllm: {
    model: "Qwen/Qwen3.5-27B",
    env: { VLLM_API_KEY: key },
    path: "/v1/chat/completions",
    wants: bearer,
    says: (text) => delta({ reasoning_content: "hm" }) + chat(text),
    effort: { reasoning_effort: "high", chat_template_kwargs: { enable_thinking: true } },
    about: { "/v1/models": { object: "list", data: [{ id: "Qwen/Qwen3.5-27B", max_model_len: 65_536 }] } },
  },
};

const page = readFileSync(join(import.meta.dir, "../../docs/models.md"), "utf8");
const recipes: Readonly<Record<string, Fields>> = Object.assign(
  {},
  ...[...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => JSON.parse(block)),
);

const folder = newFolder("disk", "recipes");

/** `gcloud`, which prints another token each time. */
writeFileSync(
  join(folder, "gcloud"),
  `#!/bin/sh
[ "$*" = "auth print-access-token" ] || { echo "unknown: $*" >&2; exit 2; }
printf x >> ${folder}/count
echo "ya29.token-number-$(wc -c < ${folder}/count | tr -d ' ')"
`,
);
chmodSync(join(folder, "gcloud"), 0o755);

interface Seen {
  readonly path: string;
  readonly body: Fields;
  readonly status: number;
}

/** A service on loopback. Its first reply is a plan, its second the work. */
function serveAs({ path, wants, refuses = [], fault, says, about = {} }: Service) {
  const seen: Seen[] = [];
  const replies = [plan({ steps: ["WRITE a.txt"] }), write("a.txt", "made\n") + finish("Done.")];
  let accepted = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      const asked = url.pathname + url.search;
      const wanted = Object.entries(wants).every(([name, value]) => {
        const now = typeof value === "string" ? value : value[accepted];
        return request.headers.get(name) === now;
      });
      if (!wanted || refuses.some((name) => request.headers.has(name)))
        return note(asked, {}, 401, "Request had invalid authentication credentials.");
      if (request.method === "GET") {
        const told = about[url.pathname];
        return told === undefined ? new Response("no", { status: 404 }) : Response.json(told);
      }
      if (asked !== path) return note(asked, {}, 404, "Resource not found");
      const body = (await request.json()) as Fields;
      const wrong = fault?.(body) ?? null;
      if (wrong !== null) return note(asked, body, 400, wrong);
      const text = replies[accepted] ?? "";
      accepted += 1;
      note(asked, body, 200, "");
      return sse([says(text)]);
    },
  });
  function note(asked: string, body: Fields, status: number, message: string): Response {
    if (asked.includes("/api/") || asked.startsWith("/props")) return new Response("no", { status: 404 });
    seen.push({ path: asked, body, status });
    return Response.json({ error: { message, type: "invalid_request_error" } }, { status });
  }
  return { origin: `http://127.0.0.1:${server.port}`, seen, stop: () => server.stop(true) };
}

/** The row as it stands on the page, with the host of the mock. */
function onMock(row: Fields, origin: string): Fields {
  const { url } = row;
  return { ...row, url: String(url).replace(/^https?:\/\/[^/]+/, origin) };
}

async function play(name: string, service: Service, flags: Fields = {}) {
  const server = serveAs(service);
  const process = openProcess();
  const row = onMock(recipes[name] ?? {}, server.origin);
  put(process.home.config("config.json"), JSON.stringify({ providers: { [name]: row } }));
  rmSync(join(folder, "count"), { force: true });
  const project = mkdtempSync(join(folder, "project-"));
  const said = await process.run(
    { run: runCommand },
    {
      words: ["make a.txt"],
      flags: { yes: true, json: true, model: `${name}:${service.model}`, cwd: project, ...flags },
      env: { PATH: `${folder}:/usr/bin:/bin`, ...service.env },
      stdin: "",
    },
  );
  await server.stop();
  const files = readdirSync(project).filter((file) => !file.startsWith("."));
  return { ...said, files, seen: server.seen };
}

test("every recipe of the page has a service here, and every row on it is right", () => {
  expect(Object.keys(recipes).sort()).toEqual(Object.keys(services).sort());
  expect(settingTable.providers.check(recipes)).not.toBeNull();
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(12 * 1024);
});

describe.each(Object.entries(services))("%s", (name, service) => {
  test("a task is planned and done, and no key is shown", async () => {
    const { code, out, err, files, seen } = await play(name, service);
    expect([code, files, err.includes("401")]).toEqual([0, ["a.txt"], false]);
    const accepted = seen.filter(({ status }) => status === 200);
    expect(accepted.map(({ path }) => path)).toEqual([service.path, service.path]);
    for (const value of Object.values(service.env)) expect(out + err).not.toContain(value);
    const model = service.path.includes("/deployments/") ? expect.anything() : service.model;
    for (const { body } of accepted) expect(body).toMatchObject({ model, stream: true });
    expect(JSON.stringify(accepted)).not.toMatch(/reasoning_effort|"effort"|budget_tokens|enable_thinking/);
  });

  test("--effort high is said in the fields of the service, or dropped with a word", async () => {
    const { code, err, seen } = await play(name, service, { effort: "high" });
    expect(code).toBe(0);
    const accepted = seen.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(2);
    for (const { body } of accepted) expect(body).toMatchObject(service.effort);
    const isDropped = Object.keys(service.effort).length === 0;
    expect(err.includes("the effort has no effect")).toBe(isDropped);
  });
});

test("a token that is over is printed anew once the service refuses it", async () => {
  const { seen } = await play("vertex", services["vertex"] as Service);
  expect(seen.map(({ status }) => status)).toEqual([200, 401, 200]);
});

test("vLLM is asked for its window, which a reply may then use", async () => {
  const { about: _, ...silent } = services["vllm"] as Service;
  const most = async (service: Service) => (await play("vllm", service)).seen[0]?.body["max_tokens"];
  expect([await most(services["vllm"] as Service), await most(silent)]).toEqual([16_384, 2048]);
});
