/** The effort on each wire: what models know, what is sent, what is dropped, and that nothing is sent unasked. */
import { describe, expect, test } from "bun:test";
import { efforts, type Fields, type ModelRequest } from "../../src/core/model.ts";
import { firstOfWire, providerTable } from "../../src/core/providers.ts";
import { nearestNamed, openEffort } from "../../src/models/effort.ts";
import { openModel } from "../../src/models/open.ts";
import { delta, done, event, line, ollamaSays, says } from "./chat/chat-wire.ts";
import { says as geminiSays } from "./gemini/gemini-wire.ts";
import { folderWith, ollama, options, quiet, refusal, request, sse, take, useServer } from "./loopback.ts";

type Row = Parameters<typeof openEffort>[0];

/** The fields for each effort, in the order of `efforts`. */
function fieldsOf(provider: Row, model: string, thinks?: boolean): readonly Fields[] {
  const { fields } = openEffort(provider, model, () => {}, thinks === undefined ? undefined : { thinks });
  return efforts.map((effort) => fields({ ...request, maxOutputTokens: 32_768, effort }));
}

/** The levels that are sent for each effort, in the order of `efforts`; -: none. */
const levels = (provider: Row, model: string, read: (fields: Fields) => unknown) =>
  fieldsOf(provider, model)
    .map((fields) => read(fields) ?? "-")
    .join(" ");
const at = (fields: Fields, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Fields | undefined)?.[key], fields);

const { openai, anthropic, gemini, openrouter, local } = providerTable;

/** The level in the fields, on whatever wire. */
const levelOf = (fields: Fields): unknown =>
  at(fields, "reasoning", "effort") ??
  at(fields, "output_config", "effort") ??
  at(fields, "generationConfig", "thinkingConfig", "thinkingLevel") ??
  at(fields, "reasoning_effort") ??
  (at(fields, "thinking", "type") === "disabled" ? "none" : null);

/** Models by the levels that they are sent. */
const tables: readonly (readonly [Row, Readonly<Record<string, string>>])[] = [
  [
    openai,
    {
      "none low low medium high max": "gpt-6.1-terra gpt-6-sol gpt-5.6-luna my-deployment",
      "low low low medium high max": "gpt-6.1-sol gpt-6.2-sol gpt-6-astra",
      "none low low medium high xhigh": "gpt-5.5 gpt-5.4-mini gpt-5.3-codex",
      "medium medium medium medium high xhigh": "gpt-5.5-pro",
      "low low low medium high xhigh": "gpt-5.3-codex-spark grok-4.7",
      "none low low medium high high": "gpt-5.1",
      "minimal minimal low medium high high": "gpt-5-mini-2025-08-07",
      "high high high high high high": "gpt-5-pro",
      "low low low medium high high": "o3 openai.gpt-oss-120b",
      "- - - - - -": "gpt-4.1-mini gpt-5-chat-latest",
    },
  ],
  [
    anthropic,
    {
      "low low low medium high max": "claude-sonnet-5-5 claude-opus-5-5-20260901 claude-fable-5-2",
      "none low low medium high max":
        "claude-haiku-5-5 claude-opus-5 claude-sonnet-5-20260301 anthropic.claude-opus-4-7-v1 claude-sonnet-4-6@default",
    },
  ],
  [
    gemini,
    {
      "MINIMAL MINIMAL LOW MEDIUM HIGH HIGH": "gemini-3.5-flash-lite gemini-3-flash-preview gemini-flash-latest",
      "LOW LOW LOW MEDIUM HIGH HIGH": "gemini-3.1-pro-preview gemini-3.8-flash gemini-4-argon gemini-pro-latest",
      "- - - - - -": "gemini-2.0-flash",
    },
  ],
  [
    { wire: "chat" },
    {
      "none low low medium high high": "some-model",
      "low low low medium high high": "openai/gpt-oss-20b",
      "none high high high high high": "mistral-medium-latest",
      "- - - - - -": "codestral-latest",
    },
  ],
  [openrouter, { [efforts.join(" ")]: "any/model" }],
];
const rows = tables.flatMap(([provider, table]) =>
  Object.entries(table).flatMap(([sent, models]) => models.split(" ").map((model) => [provider, model, sent] as const)),
);
test.each(rows)("$wire: %s", (provider, model, sent) => {
  expect(levels(provider, model, levelOf)).toBe(sent);
});

test.each(["claude-opus-4-5", "claude-sonnet-4-20250514", "claude-haiku-4-5@20251001", "claude-3-7-sonnet-latest"])(
  "Messages: %s gets tokens to think with, fewer than its reply may have",
  (model) => {
    const budget = (fields: Fields) => at(fields, "thinking", "budget_tokens") ?? at(fields, "thinking", "type");
    expect(levels(anthropic, model, budget)).toBe("disabled 1024 4096 8192 16384 16384");
    const { fields } = openEffort(anthropic, model, () => {});
    const thinking = { type: "enabled", budget_tokens: 2000 };
    expect(fields({ ...request, maxOutputTokens: 4000, effort: "high" })).toEqual({ thinking });
    expect(fields({ ...request, maxOutputTokens: 1500, effort: "high" })).toEqual({});
  },
);

test("Gemini 2.5 gets tokens to think with, and only its pro cannot be told not to think", () => {
  const budget = (fields: Fields) => at(fields, "generationConfig", "thinkingConfig", "thinkingBudget");
  expect(levels(gemini, "gemini-2.5-flash", budget)).toBe("0 1024 4096 8192 16384 24576");
  expect(levels(gemini, "gemini-2.5-pro", budget)).toBe("1024 1024 4096 8192 16384 24576");
});

test("Chat Completions: what some families have besides", () => {
  expect(fieldsOf({ wire: "chat" }, "deepseek-v4-pro").slice(0, 2)).toEqual([
    { thinking: { type: "disabled" } },
    { thinking: { type: "enabled" }, reasoning_effort: "high" },
  ]);
  expect(fieldsOf(local, "qwen3").slice(0, 2)).toEqual([
    { chat_template_kwargs: { enable_thinking: false } },
    { reasoning_effort: "low", chat_template_kwargs: { enable_thinking: true } },
  ]);
});

test("Ollama is told yes or no, gpt-oss a word, and a model that cannot think nothing", () => {
  const think = (model: string, thinks: boolean) => fieldsOf(local, model, thinks).map((fields) => fields["think"]);
  expect(think("qwen3:8b", true)).toEqual([false, true, true, true, true, true]);
  expect(think("gpt-oss:20b", true)).toEqual(["low", "low", "low", "medium", "high", "high"]);
  expect(think("llama3.2", false)).toEqual([undefined, undefined, undefined, undefined, undefined, undefined]);
});

test("without an effort no wire gets a field", () => {
  for (const wire of ["chat", "responses", "messages", "gemini", "local"] as const) {
    const { fields } = openEffort(firstOfWire(wire), "any", () => {});
    expect([fields(request), fields({ ...request, effort: null })]).toEqual([{}, {}]);
  }
});

test("the levels that an error names are read from its end", () => {
  const words =
    "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'. reasoning.effort";
  const named = (["none", "minimal", "low", "max"] as const).map((effort) => nearestNamed(effort, words));
  expect(named).toEqual(["none", "low", "low", "high"]);
  for (const other of ["must be one of `none` or `default`", "'reasoning.effort' is not supported with this model."])
    expect(nearestNamed("high", other)).toBeNull();
});

describe("asked with an effort", () => {
  const server = useServer();
  const wanted: ModelRequest = { ...request, effort: "minimal" };
  async function ask(id: string, told: string[], asked = wanted, baseUrl = `${server.origin}/v1`) {
    const model = await openModel(options({ id, baseUrl, notify: ({ text }) => told.push(text) }));
    return [await take(model, quiet, asked), model] as const;
  }
  const bodies = () => server.seen.map(({ body }) => body as Fields);

  test("a level that the server does not take gives way to the nearest that it names, for all calls", async () => {
    const told: string[] = [];
    const error = {
      message:
        "Unsupported value: 'none' is not supported with the 'my-alias' model. Supported values are: 'low', 'medium', and 'high'.",
      type: "invalid_request_error",
      param: "reasoning_effort",
      code: "unsupported_value",
    };
    server.answer = (n) => (n === 0 ? refusal(error) : sse([says("x")]));
    const [{ text }, model] = await ask("openrouter:my-alias", told, { ...request, effort: "none" });
    expect(text).toBe("x");
    await take(model, quiet, { ...request, effort: "max" });
    expect(bodies().map((body) => at(body, "reasoning", "effort"))).toEqual(["none", "low", "high"]);
    expect(told.filter((each) => each.includes("effort"))).toEqual(["my-alias is asked with the effort low"]);
  });

  test("a server that takes none gets none, which is told once", async () => {
    const told: string[] = [];
    const message = "`reasoning_effort` is not supported with this model";
    server.answer = (n) => (n === 0 ? refusal({ message }) : sse([says("x")]));
    const [{ text }, model] = await ask("mistral:magistral-9", told);
    await take(model, quiet, wanted);
    expect([text, bodies().map((body) => body["reasoning_effort"])]).toEqual(["x", ["high", undefined, undefined]]);
    expect(told).toEqual([
      "magistral-9 knows no effort minimal: high is sent",
      "magistral-9 cannot be told how hard to think: the effort has no effect",
    ]);
  });

  test.each([
    "Thinking level is not supported for this model.",
    "Budget 0 is invalid. This model only works in thinking mode.",
  ])("Gemini's refusal is heard: %s", async (message) => {
    const error = { code: 400, message, status: "INVALID_ARGUMENT" };
    server.answer = (n) => (n === 0 ? refusal(error) : sse([event(geminiSays("x", "STOP"))]));
    const [{ text }] = await ask("gemini:gemini-9-flash", [], wanted, server.origin);
    expect([text, bodies().map((body) => JSON.stringify(body).includes("thinking"))]).toEqual(["x", [true, false]]);
  });

  test("a schema stays where only the effort is refused", async () => {
    const message = "output_config.effort: Extra inputs are not permitted";
    server.answer = (n) => refusal({ message }, n === 0 ? 400 : 500);
    const format = { name: "plan", schema: { type: "object", properties: {} } };
    const [, model] = await ask("anthropic:claude-sonnet-5-5", [], { ...wanted, format }, server.origin);
    expect(model.name).toBe("claude-sonnet-5-5");
    const [first, second] = bodies().map((body) => body["output_config"]);
    expect([Object.keys((first ?? {}) as Fields), Object.keys((second ?? {}) as Fields)]).toEqual([
      ["effort", "format"],
      ["format"],
    ]);
  });

  test("summaries that an organization may not have are left out, the effort stays", async () => {
    const message = "Your organization must be verified to generate reasoning summaries.";
    server.answer = () => refusal({ message, param: "reasoning.summary" });
    await ask("openai:gpt-5.5", []);
    const [first, second] = bodies().map((body) => body["reasoning"]);
    expect([first, second]).toEqual([{ effort: "low", summary: "auto" }, { effort: "low" }]);
  });

  test("a model that cannot be told is asked without a field, and that is told once", async () => {
    const told: string[] = [];
    server.answer = () => sse([event(geminiSays("x", "STOP"))]);
    const [{ text }, model] = await ask("gemini:gemini-2.0-flash", told, wanted, server.origin);
    await take(model, quiet, wanted);
    expect([text, JSON.stringify(bodies()).includes("thinking")]).toEqual(["x", false]);
    expect(told).toEqual(["gemini-2.0-flash cannot be told how hard to think: the effort has no effect"]);
  });

  test("a recording says what it said, and that no effort changes it is told once", async () => {
    const told: string[] = [];
    const folder = await folderWith("r", '{"text": "one"}\n{"text": "two"}\n');
    const model = await openModel(
      options({ id: "replay:r", baseUrl: null, folder, notify: ({ text }) => told.push(text) }),
    );
    expect([(await take(model, quiet, wanted)).text, (await take(model, quiet, wanted)).text]).toEqual(["one", "two"]);
    expect(told).toEqual(["replay:r cannot be told how hard to think: the effort has no effect"]);
  });

  test("an Ollama model that thought until its reply was full is told not to think, whatever the effort", async () => {
    server.about = { ...ollama, "/api/show": { ...ollama["/api/show"], capabilities: ["completion", "thinking"] } };
    const mute = line({ message: { role: "assistant", content: "", thinking: "…" }, done: false });
    const full = line({
      message: { role: "assistant", content: "" },
      done: true,
      done_reason: "length",
      eval_count: 9,
    });
    server.answer = (n) => new Response(n === 0 ? mute + full : ollamaSays("x"));
    const [first, model] = await ask("local:qwen3:8b", [], { ...request, effort: "high" });
    expect(first.done?.stop).toBe("length");
    await take(model, quiet, { ...request, effort: "high" });
    const chats = bodies().filter((body) => Array.isArray(body["messages"]) && (body["messages"] as []).length > 0);
    expect(chats.map((body) => body["think"])).toEqual([true, false]);
  });

  test("the effort of an own provider counts where none is wanted", async () => {
    const row = { ...providerTable.openai, id: "gw", urlVariable: null, wire: "chat", effort: "low" } as const;
    server.answer = () => sse([delta({ content: "x" }, "stop") + done]);
    const model = await openModel(options({ id: "gw:m", own: [row], baseUrl: `${server.origin}/v1` }));
    await take(model);
    await take(model, quiet, { ...request, effort: "high" });
    expect(bodies().map((body) => body["reasoning_effort"])).toEqual(["low", "high"]);
  });
});
