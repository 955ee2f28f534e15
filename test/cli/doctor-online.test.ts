/** `pai doctor --online`: whether the models in use answer, before a task fails; asked only when the user says so. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { doctorCommand } from "../../src/cli/commands/doctor.ts";
import { event, says } from "../models/gemini/gemini-wire.ts";
import { listen } from "../models/loopback.ts";
import { openProcess, type Typed } from "./fake-context.ts";

const key = `AQ.${"dOcToR12".repeat(5)}`;
const talk = JSON.stringify({ intent: "conversation", reply: "hello", execution_plan: null });

const asked: string[] = [];
const world = { list: (): Response => listOf("gemini-3.5-flash-lite"), plan: (): Response => reply(talk) };
const usual = { ...world };
const usageMetadata = { promptTokenCount: 900, candidatesTokenCount: 20 };
const reply = (text: string, stop = "STOP") =>
  new Response(event({ ...says(text, stop), usageMetadata }), { headers: { "content-type": "text/event-stream" } });
const listOf = (...names: string[]) =>
  Response.json({
    models: names.map((name) => ({ name: `models/${name}`, supportedGenerationMethods: ["generateContent"] })),
  });
const server = listen(({ url, headers }) => {
  const { pathname } = new URL(url);
  const isList = pathname === "/v1beta/models";
  if (pathname === "/") return new Response("", { status: 404 });
  const what = isList ? "list" : pathname.replace(/^.*models\/|:.*$/g, "");
  asked.push(`${what} ${headers.get("x-goog-api-key") === key}`);
  return isList ? world.list() : world.plan();
});
afterAll(() => server.stop(true));
beforeEach(() => {
  asked.length = 0;
  Object.assign(world, usual);
});

type Finding = { readonly name: string; readonly level: string; readonly text: string; readonly hint: string | null };
async function examine(flags: Typed["flags"] = {}, env: Typed["env"] = {}) {
  const { code, out, err } = await openProcess().run(
    { run: doctorCommand },
    {
      flags: { online: true, json: true, ...flags },
      env: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: server.url.origin, ...env },
    },
  );
  const all: readonly Finding[] = out === "" ? [] : JSON.parse(out).data.findings;
  const told = all.filter(({ name }) => name === "model list" || name === "answer");
  return { code, err, out, told: told.map(({ name, level, text, hint }) => [name, level, text, hint] as const) };
}

test("a model that answers: what its server lists, and one plan with its time, tokens and cost", async () => {
  const { code, told, out } = await examine();
  expect([code, asked]).toEqual([0, ["list true", "gemini-3.5-flash-lite true"]]);
  const made = /^gemini:gemini-3\.5-flash-lite made a plan \([\d.]+ s, 920 tokens, \$0\.0003\)$/;
  expect(told).toEqual([
    ["model list", "ok", "1 model of gemini, with gemini-3.5-flash-lite", null],
    ["answer", "ok", expect.stringMatching(made), null],
  ]);
  expect(out).not.toContain(key);
});

test("without --online no key is sent, and nothing is asked that costs", async () => {
  await examine({ online: false });
  expect(asked).toEqual([]);
  expect((await examine({ offline: true })).code).toBe("usage");
  expect(asked).toEqual([]);
});

test("a default that is closed is an error before any task, with the line to type", async () => {
  const message =
    "This model models/gemini-3.5-flash-lite is no longer available to new users. Please update your code to use models/gemini-4-flash-lite";
  world.list = () => listOf("gemini-3.5-flash-lite", "gemini-4-flash-lite");
  world.plan = () => Response.json({ error: { code: 404, message, status: "NOT_FOUND" } }, { status: 404 });
  const { code, told } = await examine();
  const gone = expect.stringContaining("no longer available to new users");
  const hint = "use its successor: pai config set model gemini:gemini-4-flash-lite";
  expect(code).toBe(1);
  expect(told).toEqual([
    ["model list", "ok", "2 models of gemini, with gemini-3.5-flash-lite", null],
    ["answer", "error", gone, hint],
  ]);
});

test("what will end, what new accounts do not get, and what is not listed are warnings", async () => {
  world.list = () => listOf("gemini-2.5-pro");
  const closing = await examine({ model: "gemini-2.5-pro" });
  expect(closing.told.map(([name, level, text]) => [name, level, text]).slice(0, 2)).toEqual([
    ["model list", "warning", "gemini-2.5-pro ends 2026-12-01"],
    ["model list", "warning", "gemini-2.5-pro is closed to new accounts"],
  ]);
  const other = await examine({ model: "gemini-3.8-flash" });
  const unlisted = "gemini does not list gemini-3.8-flash";
  const warning = ["model list", "warning", unlisted, "pai models --online gemini"] as const;
  expect([other.code, other.told[0]]).toEqual([0, warning]);
});

const refusal = { error: { message: "API key not valid" } };
test.each([
  ["a refused key", () => Response.json(refusal, { status: 400 }), "refused the key in GEMINI_API_KEY"],
  ["a reply that is cut", () => reply(talk, "MAX_TOKENS"), "ended its reply early (length)"],
])("%s is an error, and exit 1", async (_which, plan, message) => {
  world.plan = plan;
  const { code, told } = await examine();
  expect([code, told.at(-1)?.[1], told.at(-1)?.[2]]).toEqual([1, "error", expect.stringContaining(message)]);
});

test("an answer that is no plan is a warning: a task asks once more", async () => {
  for (const text of ["hello there", '{"intent": 7}', ""]) {
    world.plan = () => reply(text);
    const { code, told } = await examine();
    expect([code, told.at(-1)?.[1]]).toEqual(text === "" ? [1, "error"] : [0, "warning"]);
  }
});

test("a server without a list is a warning, if it answers", async () => {
  world.list = () => new Response("not found", { status: 404 });
  const { code, told } = await examine();
  expect([code, told.map(([name, level]) => `${name} ${level}`)]).toEqual([0, ["model list warning", "answer ok"]]);
});

test("every model of a list is asked", async () => {
  await examine({ model: "gemini:gemini-3.5-flash-lite,gemini:gemini-3.8-flash" });
  const plans = asked.filter((each) => !each.startsWith("list"));
  expect(plans).toEqual(["gemini-3.5-flash-lite true", "gemini-3.8-flash true"]);
});
