/** `pai models --online`: the servers are asked when the user says so, at most once a day, and shown safely. */
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { modelsCommand } from "../../src/cli/commands/models.ts";
import { listen } from "../models/loopback.ts";
import { put } from "../store/temp-home.ts";
import { openProcess, type Process, type Typed } from "./fake-context.ts";

const asked: string[] = [];
const broken = new Set<string>();
const glm = {
  ...{ id: "z-ai/glm-5", context_length: 202_752, expiration_date: "2027-03-01" },
  pricing: { prompt: "0.000001", completion: "0.0000032", input_cache_read: "0.0000002" },
  top_provider: { max_completion_tokens: 131_072 },
};
const answers: Readonly<Record<string, unknown>> = {
  "/or/models": { data: [glm, { id: "evil\u001b[31m" }] },
  "/oai/models": { data: [{ id: "gpt-6.1-terra" }, { id: "gpt-9" }, { id: "o3", shutdown_date: "2026-12-11" }] },
  "/mine/models": { data: [{ id: "qwen3:8b" }] },
  "/v1beta/models": { models: [{ name: "models/gemini-2.5-flash-lite", inputTokenLimit: 1_048_576 }] },
};
const server = listen(({ url, headers }) => {
  const { pathname } = new URL(url);
  asked.push(`${pathname} ${headers.get("authorization") ?? headers.get("x-goog-api-key") ?? "no key"}`);
  const error = { message: "Incorrect API key provided" };
  if (broken.has(pathname)) return Response.json({ error }, { status: 401 });
  const answer = answers[pathname];
  return answer === undefined ? new Response("", { status: 404 }) : Response.json(answer);
});
afterAll(() => server.stop(true));

const at = server.url.origin;
const env = { OPENAI_BASE_URL: `${at}/oai`, GOOGLE_GEMINI_BASE_URL: at };
const keys = { OPENAI_API_KEY: "sk-proj-0123456789abcdefghij", GEMINI_API_KEY: `AQ.${"x".repeat(40)}` };
const now = new Date("2026-11-23T12:00:00Z");

async function list(process: Process, words: readonly string[], typed: Typed = {}, day = now) {
  asked.length = 0;
  const flags = { online: true, ...typed.flags };
  const run: typeof modelsCommand = (context) => modelsCommand({ ...context, now: () => day });
  put(process.home.config("config.json"), JSON.stringify({ baseUrl: { openrouter: `${at}/or` } }));
  return process.run({ run }, { ...typed, words, flags, env: { ...env, ...typed.env } });
}

test("one provider: its models with windows, outputs, prices and ends; OpenRouter without a key", async () => {
  const out = [
    "USD per million tokens  window output      in  cached     out",
    `openrouter (${at}/or), 1 model; left out: 1 without a usable name`,
    "  z-ai/glm-5              203k   131k       1     0.2     3.2  ends 2027-03-01",
    "",
  ];
  expect(await list(openProcess(), ["openrouter"])).toEqual({ code: 0, out: out.join("\n"), err: "" });
  expect(asked).toEqual(["/or/models no key"]);
});

test("what a server does not tell comes from the catalogue; unknown is a question mark, never a guess", async () => {
  const { out } = await list(openProcess(), ["openai"], { env: keys });
  expect(out.split("\n").slice(2, 5)).toEqual([
    "  gpt-6.1-terra             1M   128k       1    0.05       5  above 272k: 2 / 7.5",
    "  gpt-9                      ?      ?       ?       ?       ?",
    "  o3                      200k   100k       2     0.5       8  ends 2026-12-11",
  ]);
});

test("without a name every provider with a key is asked, at most once a day; a name asks anew", async () => {
  const process = openProcess();
  const first = await list(process, [], { env: keys });
  const [openai, gemini] = [`/oai/models Bearer ${keys.OPENAI_API_KEY}`, `/v1beta/models ${keys.GEMINI_API_KEY}`];
  expect(asked.toSorted()).toEqual([openai, gemini]);
  expect(first.out).toContain("gemini-2.5-flash-lite     1M    66k     0.1    0.01     0.4  closed to new accounts");
  const later = await list(process, [], { env: keys }, new Date("2026-11-23T15:20:00Z"));
  expect([asked, later.out.includes(`openai (${at}/oai, asked 3 h 20 min ago), 3 models`)]).toEqual([[], true]);
  await list(process, ["openai"], { env: keys });
  expect(asked).toHaveLength(1);
  const nextDay = new Date("2026-11-24T12:00:01Z");
  await list(process, [], { env: keys }, nextDay);
  expect(asked).toHaveLength(2);
  await list(process, [], { env: { ...keys, GOOGLE_GEMINI_BASE_URL: `${at}/elsewhere` } }, nextDay);
  expect(asked).toEqual([`/elsewhere${gemini}`]);
});

test("the server of this machine is asked, too, with keys or without; where none answers nothing is said of it", async () => {
  const OLLAMA_HOST = `${at}/mine`;
  const alone = await list(openProcess(), [], { env: { OLLAMA_HOST } });
  expect([alone.code, alone.err, alone.out.split("\n")[1]]).toEqual([0, "", `local (${at}/mine), 1 model`]);
  const beside = await list(openProcess(), [], { env: { ...keys, OLLAMA_HOST } });
  expect(beside.out.match(/^\w+(?= \()/gm)?.toSorted()).toEqual(["gemini", "local", "openai"]);
  const off = await list(openProcess(), [], { env: { ...keys, OLLAMA_HOST: "127.0.0.1:9" } });
  expect([off.code, off.err, off.out.includes("local (")]).toEqual([0, "", false]);
});

test("nothing is asked unbidden", async () => {
  asked.length = 0;
  const process = openProcess();
  await process.run({ run: modelsCommand }, { env: { ...env, ...keys } });
  expect((await list(process, ["openai"], { flags: { online: false }, env: keys })).code).toBe("usage");
  expect(asked).toEqual([]);
});

test("one provider that refuses is a warning beside the others, alone it is the error", async () => {
  broken.add("/oai/models");
  const both = await list(openProcess(), [], { env: keys });
  const refused = expect.stringContaining("openai refused the key in OPENAI_API_KEY (HTTP 401)");
  expect([both.code, both.out.includes("gemini-2.5-flash-lite"), both.err]).toEqual([0, true, refused]);
  const alone = await list(openProcess(), ["openai"], { env: keys });
  expect([alone.code, alone.err.includes(keys.OPENAI_API_KEY)]).toEqual(["key_rejected", false]);
  broken.clear();
});

const mistral = { MISTRAL_API_KEY: "x".repeat(32), PAI_BASE_URL: at, OPENAI_BASE_URL: "" };
const plain = { ...keys, OPENAI_BASE_URL: "http://192.0.2.1" };
test.each([
  ["an unknown provider", ["openruter"], {}, "usage", "did you mean openrouter?"],
  ["no key at all", [], {}, "no_key", "pai models --online openrouter"],
  ["no key of the named provider", ["openai"], {}, "no_key", "pai key set openai"],
  ["a server without a list", ["mistral"], mistral, "network", "404"],
  ["one address for two providers", [], { ...keys, PAI_BASE_URL: at }, "usage", "asks both"],
  ["a key over plain http", ["openai"], plain, "untrusted", "pai config set insecureHttp true"],
])("%s is an error that says what to do", async (_which, words, given, code, hint) => {
  const said = await list(openProcess(), words, { env: given });
  expect([said.code, said.out]).toEqual([code, ""]);
  expect(said.err).toContain(hint);
});

test("a damaged file of lists is asked for again, and nothing is kept of an ephemeral call", async () => {
  const process = openProcess();
  const file = join(process.home.places.stateDir ?? "", "models.json");
  for (const text of ["{", "[]", '{"v":1,"lists":[null,{"provider":"openai","models":"x"}]}', "\u0000"]) {
    put(file, text);
    expect((await list(process, [], { env: keys })).code).toBe(0);
    expect(asked).toHaveLength(2);
  }
  expect(JSON.parse(readFileSync(file, "utf8")).lists).toHaveLength(2);
  const ephemeral = openProcess();
  for (const many of [2, 2]) {
    await list(ephemeral, [], { env: keys, flags: { ephemeral: true } });
    expect(asked).toHaveLength(many);
  }
});

test("--json has the whole list, with the address and the time", async () => {
  const { out } = await list(openProcess(), ["openrouter"], { flags: { json: true } });
  const price = { input: 1, cached: 0.2, output: 3.2 };
  const told = { window: 202_752, max_output: 131_072, price, next_price: null, ends: "2027-03-01", closed: null };
  const models = [{ name: "z-ai/glm-5", ...told }];
  const asked_at = "2026-11-23T12:00:00.000Z";
  const omitted = ["1 without a usable name"];
  expect(JSON.parse(out).data.providers).toEqual([
    { provider: "openrouter", address: `${at}/or`, asked_at, models, omitted },
  ]);
});
