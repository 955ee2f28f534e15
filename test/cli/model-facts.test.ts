/** What a user states of a model (`models.NAME`) counts wherever pai needs a window, an output limit or a price. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Context } from "../../src/cli/command.ts";
import { configCommand } from "../../src/cli/commands/config.ts";
import { contextCommand } from "../../src/cli/commands/context.ts";
import { runCommand } from "../../src/cli/commands/task.ts";
import { composeBase } from "../../src/cli/compose/base.ts";
import { describeChosen, priceOf } from "../../src/cli/compose/model-facts.ts";
import { keepModelList } from "../../src/store/model-lists.ts";
import { readModelFacts } from "../../src/store/model-settings.ts";
import type { Settings } from "../../src/store/settings.ts";
import { ollamaSays } from "../models/chat/chat-wire.ts";
import { ollama, serve } from "../models/loopback.ts";
import { put } from "../store/temp-home.ts";
import { openProcess, type Process } from "./fake-context.ts";

const say = (process: Process, ...words: string[]) => process.run({ run: configCommand }, { words, stdin: "" });
const file = ({ home }: Process) => JSON.parse(readFileSync(home.config("config.json"), "utf8"));
const today = new Date("2026-11-24");

/** The settings of a user who says this of models, and of whom this state folder keeps lists. */
function told(models: Settings["models"], stateDir: string | null = null) {
  const base = composeBase({ env: {}, cwd: "/", flags: {}, now: () => today } as unknown as Context);
  return { ...base, settings: { ...base.settings, models }, places: { ...base.places, stateDir } };
}

test("a stated limit wins, by name or by provider:name, and the rest stays as pai knows it", () => {
  const models = {
    "gpt-6.1-terra": { window: 200_000 },
    "local:tiny": { window: 8192 },
    "gpt-6-sol": { window: 1_000_000 },
    "openai:wide": { window: 500_000, output: 100_000 },
    "openai:narrow": { window: 20_000 },
    "openai:next": { output: 9000 },
  };
  const limits = (id: string) => {
    const { window, maxOutputTokens } = describeChosen(id, told(models));
    return [window, maxOutputTokens];
  };
  expect(limits("openai:gpt-6.1-terra")).toEqual([200_000, 32_768]);
  expect(limits("gpt-6.1-terra")).toEqual([200_000, 32_768]);
  expect(limits("local:tiny")).toEqual([8192, 2048]);
  expect(limits("openai:next")).toEqual([128_000, 9000]);
  expect(limits("claude-sonnet-5-5")).toEqual([1_000_000, 32_768]);
  // A longer request has a higher price, which only the user may want.
  expect(limits("gpt-6.1-sol")).toEqual([272_000, 32_768]);
  expect(limits("gpt-6-sol")).toEqual([1_000_000, 32_768]);
  expect(limits("openai:wide")).toEqual([500_000, 100_000]);
  expect(limits("openai:narrow")).toEqual([20_000, 10_000]);
});

test("prices that a user states are those of the model", () => {
  const models = readModelFacts({ "local:a": { window: 4096, prices: { input: 5, output: 6, cached: 0.5 } } });
  expect(priceOf("local:a", told(models), today)).toEqual({ input: 5, output: 6, cached: 0.5 });
  expect(priceOf("local:c", told(models), today)).toBeNull();
});

test("what a server listed today counts for a model that the catalogue does not know, and what the user says wins", () => {
  const { places } = openProcess().home;
  const price = { input: 1, cached: 0.2, output: 3.2, large: { above: 200_000, input: 2, cached: 0.4, output: 5 } };
  const row = { name: "z-ai/glm-5", window: 202_752, output: 131_072, price, ends: null };
  const gemini = { ...row, name: "gemini-3.5-flash-lite", price: { input: 9, cached: 9, output: 9 } };
  const list = { provider: "openrouter", address: "https://openrouter.ai/api/v1", omitted: [] };
  const keep = (at: string, over: object = {}) =>
    keepModelList(places.stateDir, { ...list, at: Date.parse(at), models: [row, gemini], ...over });
  keep("2026-11-23T12:00:00Z");
  keep("2026-11-23T12:00:00Z", { provider: "gemini", address: "https://generativelanguage.googleapis.com" });
  const [base, id] = [told({}, places.stateDir), "openrouter:z-ai/glm-5"];
  expect(describeChosen(id, base)).toMatchObject({ window: 202_752, maxOutputTokens: 32_768 });
  expect(priceOf(id, base, today)).toEqual(price);
  expect(priceOf("gemini:gemini-3.5-flash-lite", base, today)?.input).toBe(0.3);
  expect(priceOf("openrouter:z-ai/glm-6", base, today)).toBeNull();
  const stated = told({ [id]: { window: 100_000, prices: { input: 5, cached: 5, output: 5 } } }, places.stateDir);
  expect([describeChosen(id, stated).window, priceOf(id, stated, today)?.input]).toEqual([100_000, 5]);
  keep("2026-11-22T12:00:00Z");
  expect(priceOf(id, base, today)).toBeNull();
  keep("2026-11-23T12:00:00Z", { address: "https://gateway.example/api/v1" });
  expect([priceOf(id, base, today), describeChosen(id, base).window]).toEqual([null, 128_000]);
});

test("pai config sets, shows and unsets what is said of one model", async () => {
  const process = openProcess();
  const facts = '{"window": 65536, "prices": {"input": 0.1, "output": 0.4}}';
  expect((await say(process, "set", "models.local:qwen3.5", facts)).code).toBe(0);
  await say(process, "set", "models.gpt-6.1-terra", '{"output": 8000}');
  expect(file(process).models).toEqual({
    "local:qwen3.5": { window: 65_536, prices: { input: 0.1, output: 0.4 } },
    "gpt-6.1-terra": { output: 8000 },
  });
  expect((await say(process, "get", "models.gpt-6.1-terra")).out).toBe('{"output":8000}\n');
  await say(process, "unset", "models.local:qwen3.5");
  expect(Object.keys(file(process).models)).toEqual(["gpt-6.1-terra"]);
});

test.each([
  ["models.a", '{"window": 12}', "models.a.window must be a whole number of tokens, at least 256"],
  ["models.a", '{"windw": 4096}', "models.a.windw must be left out: a model has window, output, prices"],
  ["models.a", '{"prices": {"input": 1}}', "models.a.prices.output must be an amount in USD per million tokens"],
  ["models.a", "65536", "models.a must be an object with window, output, prices"],
  ["models.a", '{"prices": {"input": -1, "output": 1}}', "models.a.prices.input must be an amount"],
])("%s %s is refused with the part that is wrong", async (name, value, words) => {
  const { code, err } = await say(openProcess(), "set", name, value);
  expect([code, err]).toEqual(["usage", expect.stringContaining(words)]);
});

test("a wrong part of a file is named with its line", async () => {
  const process = openProcess();
  put(process.home.config("config.json"), '{\n  "models": {\n    "a": {\n      "output": "many"\n    }\n  }\n}\n');
  const { code, err } = await process.run({ run: contextCommand }, { words: ["x"], stdin: "" });
  expect(code).toBe("config_invalid");
  expect(err).toContain("config.json, line 4: models.a.output must be a whole number of tokens");
});

test("Ollama is asked for the stated window, the reply fits it, and --max-cost counts the stated price", async () => {
  const process = openProcess();
  const server = serve(() => new Response(ollamaSays(JSON.stringify({ intent: "conversation", reply: "Hello" }))));
  server.about = ollama;
  const facts = { window: 20_480, prices: { input: 1, output: 2 } };
  put(process.home.config("config.json"), JSON.stringify({ models: { "local:qwen3:8b": facts } }));
  const { code, out } = await process.run(
    { run: runCommand },
    {
      words: ["hi"],
      flags: { json: true, model: "local:qwen3:8b", maxCost: "1" },
      env: { OLLAMA_HOST: server.origin },
      stdin: "",
    },
  );
  await server.stop();
  expect(code).toBe(0);
  const sent = server.seen[0]?.body as { readonly options: { num_ctx: number; num_predict: number } };
  expect(sent.options.num_ctx).toBe(20_480);
  expect(sent.options.num_predict).toBeLessThan(20_480);
  expect(JSON.parse(out).cost).toBeCloseTo((10 * 1 + 5 * 2) / 1e6, 9);
});
