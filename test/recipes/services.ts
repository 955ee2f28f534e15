/** How each service of docs/models.md answers: its path, the headers it wants and refuses, its own form, its own faults. */
import type { Fields } from "../../src/core/model.ts";
import * as messages from "../models/anthropic/anthropic-wire.ts";
import { delta, done, event } from "../models/chat/chat-wire.ts";
import { reply } from "../models/openai/openai-wire.ts";

export interface Service {
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

export const services: Readonly<Record<string, Service>> = {
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
