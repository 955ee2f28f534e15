/** `-m plan=A,work=B`: each model gets its calls, at its own price, and what makes no sense is said in words. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { contextCommand } from "../../src/cli/commands/context.ts";
import { doctorCommand } from "../../src/cli/commands/doctor.ts";
import { replayCommand } from "../../src/cli/commands/replay.ts";
import { runCommand } from "../../src/cli/commands/task.ts";
import { listModels, spellModels } from "../../src/cli/compose/compose-model.ts";
import type { Fields } from "../../src/core/model.ts";
import { openReceipts } from "../../src/store/receipts.ts";
import { finish, plan, write } from "../flows/plans.ts";
import { newFolder } from "../grounds.ts";
import { delta, done, event } from "../models/chat/chat-wire.ts";
import { type Server, serve, sse } from "../models/loopback.ts";
import { put } from "../store/temp-home.ts";
import { openProcess, type Process } from "./fake-context.ts";

const [planner, worker] = [serve(), serve()];
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
  return Promise.all([planner.stop(), worker.stop()]);
});
beforeEach(() => {
  planner.seen.length = 0;
  worker.seen.length = 0;
  planner.answer = () => reply(plan({ steps: ["WRITE a.txt"] }));
  worker.answer = () => reply(write("a.txt", "a\n") + finish("Done."));
});

/** A reply that the server counts as 1,000 tokens in and 100 out. */
const reply = (content: string) =>
  sse([
    delta({ content }),
    delta({}, "stop"),
    event({ choices: [], usage: { prompt_tokens: 1000, completion_tokens: 100 } }) + done,
  ]);

/** Two own providers with prices, windows and keys of their own. */
function openPair(): Process {
  const process = openProcess();
  const row = (server: Server, key: string, input: number) => ({
    wire: "chat",
    url: server.origin,
    key: { variable: key },
    window: input * 100_000,
    prices: { input, output: input * 10 },
  });
  const providers = { thinker: row(planner, "THINKER_KEY", 10), writer: row(worker, "WRITER_KEY", 1) };
  put(process.home.config("config.json"), JSON.stringify({ providers, effort: { plan: "high", work: "none" } }));
  return process;
}

const env = { THINKER_KEY: "thinker-key-0123456789", WRITER_KEY: "writer-key-0123456789" };
const pair = "plan=thinker:a,work=writer:b";

async function run(flags: object, command = { run: runCommand }) {
  const process = openPair();
  const folder = newFolder("disk", "two");
  const said = await process.run(command, {
    words: ["make a.txt"],
    flags: { yes: true, model: pair, cwd: folder, ...flags },
    env,
    stdin: "",
  });
  const files = readdirSync(folder).filter((name) => !name.startsWith("."));
  folders.push(folder);
  return { ...said, files, process, folder };
}

const bodies = ({ seen }: Server) => seen.map(({ body }) => body as Fields);

test("one plans, the other works, each with its key, name and effort, and each call counts at its own price, in the estimate too", async () => {
  const { code, out, files } = await run({ jsonl: true });
  expect([code, files]).toEqual([0, ["a.txt"]]);
  expect(bodies(planner).map(({ model, reasoning_effort }) => [model, reasoning_effort])).toEqual([["a", "high"]]);
  expect(bodies(worker).map(({ model, reasoning_effort }) => [model, reasoning_effort])).toEqual([["b", "none"]]);
  expect(planner.seen[0]?.headers.get("authorization")).toBe("Bearer thinker-key-0123456789");
  expect(worker.seen[0]?.headers.get("authorization")).toBe("Bearer writer-key-0123456789");
  const events = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const started = events.filter(({ type }) => type === "model.started");
  const made = started.map(({ purpose, model }) => `${purpose} ${model}`);
  expect(made).toEqual(["plan thinker:a", "execute writer:b"]);
  const { promise } = events.find(({ type }) => type === "plan.ready");
  expect(promise).toMatchObject({ expected: 2, at_most: 3 });
  const callOf = (price: number) => (1000 * price + 100 * price * 10) / 1e6;
  expect(promise.cost).toBeGreaterThan(callOf(10));
  expect(promise.cost).toBeLessThan(callOf(10) + 0.02);
  const { outcome } = events.at(-1);
  expect(outcome.model).toMatchObject({ requested: pair, served: ["qwen3-8b"] });
  expect(outcome.cost).toBeCloseTo(callOf(10) + callOf(1), 9);
});

test("the receipt names the model of each call and holds no key, and the run can be replayed", async () => {
  const { process, folder } = await run({});
  const { stateDir } = process.home.places;
  const entries = readdirSync(stateDir ?? "", { recursive: true, encoding: "utf8" });
  const runs = entries.find((name) => name.endsWith("/runs"));
  const receipts = openReceipts(join(stateDir ?? "", runs ?? ""));
  const [id = ""] = receipts.ids();
  const { facts } = receipts.read(id);
  expect(facts.flatMap((fact) => (fact.type === "call" ? [fact.model] : []))).toEqual(["thinker:a", "writer:b"]);
  expect(JSON.stringify(facts)).not.toContain("key-0123456789");
  const replayed = await process.run({ run: replayCommand }, { words: [id], flags: { cwd: folder }, env, stdin: "" });
  expect([replayed.code, replayed.err]).toEqual([0, ""]);
});

test("--max-cost stops before the call that its own price makes too dear", async () => {
  const dear = await run({ maxCost: "0.001" });
  expect([dear.code, planner.seen.length]).toEqual([13, 0]);
  // At the price of the plan the work would need more than is left.
  const enough = await run({ maxCost: "0.042" });
  expect([enough.code, enough.files]).toEqual([0, ["a.txt"]]);
});

test("a window that is too small for the one is no matter for the other", async () => {
  const { out } = await run({ json: true }, { run: contextCommand });
  expect(JSON.parse(out).data.model).toBe("thinker:a");
});

test("pai doctor looks at the keys of both", async () => {
  const { out } = await run({ json: true, offline: true }, { run: doctorCommand });
  const keys = JSON.parse(out).data.findings.filter(({ name }: { name: string }) => name === "key");
  const texts = keys.map(({ text }: { text: string }) => text);
  expect(texts).toEqual(["thinker: env (THINKER_KEY)", "writer: env (WRITER_KEY)"]);
});

test.each([
  "plan=thinker:a",
  "work=writer:b",
  "plan=,work=writer:b",
  "plan=thinker:a,plan=writer:b,work=writer:b",
  "plan=thinker:a,writer:b",
  "plan=thinker:a,work=writer:b,writer:c",
])("%s is a usage error", async (model) => {
  const { code, err } = await run({ model });
  expect([code, planner.seen.length + worker.seen.length]).toEqual(["usage", 0]);
  expect(err).toContain("must name one model for plan and one for work, or stand-ins alone");
  expect(err).toContain("plan=MODEL,work=MODEL");
});

test("tool-loop makes no plan: two models are a usage error there, before any call", async () => {
  const { code, err } = await run({ mode: "tool-loop" });
  expect([code, planner.seen.length + worker.seen.length]).toEqual([2, 0]);
  expect(err).toContain("tool-loop makes no plan");
  expect(err).toContain("--model writer:b");
});

test("a list of stand-ins stays one, and both are spelled as they are asked", () => {
  const providers: [] = [];
  const two: readonly [string, string] = ["gpt-6.1-terra", "claude-sonnet-5-5"];
  for (const written of ["gpt-6.1-terra,claude-sonnet-5-5", " plan= gpt-6.1-terra , work=claude-sonnet-5-5"])
    expect(listModels(written)).toEqual([...two]);
  for (const [written, spelled] of [
    ["gpt-6.1-terra,local:x", "openai:gpt-6.1-terra,local:x"],
    ["plan=gpt-6.1-terra,work=local:x", "plan=openai:gpt-6.1-terra,work=local:x"],
  ] as const)
    expect(spellModels({ model: written, providers })).toBe(spelled);
  expect(listModels("replay:a,plan=b")).toEqual(["replay:a,plan=b"]);
});
