/** `--model a,b`: the switch is reported, recorded and paid for at its own price. */
import { expect, test } from "bun:test";
import { runCommand } from "../../src/cli/commands/task.ts";
import { newFolder } from "../grounds.ts";
import { says } from "../models/chat/chat-wire.ts";
import { type Server, serve, sse } from "../models/loopback.ts";
import { openProcess, type Typed } from "./fake-context.ts";

const run = { run: runCommand };
const env = (first: Server, second: Server) => ({
  GEMINI_API_KEY: `AIza${"x".repeat(35)}`,
  GOOGLE_GEMINI_BASE_URL: first.origin,
  OLLAMA_HOST: second.origin,
});

async function play(flags: Typed["flags"]) {
  const talk = JSON.stringify({ intent: "conversation", reply: "Hello" });
  const first = serve(() => Response.json({ error: { message: "no credit", status: "x" } }, { status: 402 }));
  const second = serve(() => sse([says(talk)]));
  const all = { yes: true, jsonl: true, cwd: newFolder("disk", "fallback"), ...flags };
  const typed = { words: ["hi"], flags: all, env: env(first, second), stdin: "" };
  const said = await openProcess().run(run, typed);
  await Promise.all([first.stop(), second.stop()]);
  const events = said.out
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return { ...said, events, asked: [first.seen.length, second.seen.length] };
}
const listed = "gemini:gemini-3.5-flash-lite,local:qwen3";

test("the next model of the list goes on; the events show the switch, the outcome names who served", async () => {
  const { code, events, asked } = await play({ model: listed });
  expect([code, asked]).toEqual([0, [1, 1]]);
  const switched = events.filter(({ code: name }) => name === "model_switched");
  expect(switched.map(({ type, text }) => [type, text.endsWith("going on with local:qwen3")])).toEqual([
    ["notice", true],
  ]);
  const { outcome } = events.at(-1);
  expect(outcome.model).toMatchObject({ requested: "gemini:gemini-3.5-flash-lite", served: ["qwen3-8b"] });
  expect(outcome.cost).toBeNull();
});

test("without a list nothing else is asked", async () => {
  const { code, asked } = await play({ model: "gemini:gemini-3.5-flash-lite" });
  expect([code, asked]).toEqual([6, [1, 0]]);
});

test("--max-cost with a model of unknown price in the list is a usage error, before anything is sent", async () => {
  const { code, asked, err } = await play({ model: listed, maxCost: "1" });
  expect([code, asked]).toEqual(["usage", [0, 0]]);
  expect(err).toContain("local:qwen3 has none");
  expect(err).toContain(`pai config set models.local:qwen3 '{"prices": {"input": USD, "output": USD}}'`);
});

test("--max-cost with a model of OpenRouter says that its server tells the price", async () => {
  const { code, err } = await play({ model: "openrouter:z-ai/glm-5", maxCost: "1" });
  expect([code, err.includes("pai models --online openrouter")]).toEqual(["usage", true]);
});

test("PAI_BASE_URL with models of two providers is a usage error, before a key is sent anywhere", async () => {
  const server = serve(() => Response.json({}));
  const said = await openProcess().run(run, {
    words: ["hi"],
    flags: { yes: true, model: listed },
    env: { GEMINI_API_KEY: `AIza${"x".repeat(35)}`, PAI_BASE_URL: server.origin },
    stdin: "",
  });
  await server.stop();
  expect([said.code, server.seen.length]).toEqual(["usage", 0]);
  expect(said.err).toContain("asks both gemini and local");
  expect(said.err).toContain("pai config set baseUrl.gemini URL, baseUrl.local");
});
