/** Providers of the user's settings: asked, listed and examined like those of pai, and nothing of them leaks. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { configCommand, keyCommand } from "../../src/cli/commands/config.ts";
import { doctorCommand } from "../../src/cli/commands/doctor.ts";
import { modelsCommand } from "../../src/cli/commands/models.ts";
import { runCommand } from "../../src/cli/commands/task.ts";
import { says } from "../models/chat/chat-wire.ts";
import { serve, sse, useServer } from "../models/loopback.ts";
import { put } from "../store/temp-home.ts";
import { openProcess, type Process, type Typed } from "./fake-context.ts";

const server = useServer();
const talk = JSON.stringify({ intent: "conversation", reply: "Hello" });
const ask = (process: Process, model: string, typed: Typed = {}) =>
  process.run(
    { run: runCommand },
    { words: ["hi"], stdin: "", ...typed, flags: { json: true, model, ...typed.flags } },
  );

function withRows(rows: object): Process {
  const process = openProcess();
  put(process.home.config("config.json"), JSON.stringify({ providers: rows }));
  server.answer = () => sse([says(talk)]);
  return process;
}

const variable = (name: string) => `\${${name}}`;

test("a row is asked at its URL, with its query, its headers and its key, and PAI_BASE_URL does not move it", async () => {
  const elsewhere = serve();
  const process = withRows({
    azure: {
      wire: "chat",
      url: `${server.origin}/openai/deployments/{model}`,
      query: { "api-version": "2024-10-21" },
      headers: { "api-key": variable("key"), "x-tenant": variable("TENANT") },
      key: { variable: "AZURE_KEY" },
      prices: { input: 1, output: 2 },
      effort: "low",
    },
  });
  const env = { AZURE_KEY: "azure-key-0123456789", TENANT: "tenant-4711", PAI_BASE_URL: elsewhere.origin };
  const { code, out } = await ask(process, "azure:gpt-x-y", { env });
  await elsewhere.stop();
  expect(code).toBe(0);
  const [seen] = server.seen;
  expect(seen?.path).toBe("/openai/deployments/gpt-x-y/chat/completions?api-version=2024-10-21");
  expect(seen?.headers.get("api-key")).toBe("azure-key-0123456789");
  expect(seen?.headers.get("x-tenant")).toBe("tenant-4711");
  expect(seen?.headers.get("authorization")).toBeNull();
  expect(seen?.body).toMatchObject({ model: "gpt-x-y", reasoning_effort: "low" });
  const { model, cost } = JSON.parse(out);
  expect(model.requested).toBe("azure:gpt-x-y");
  expect(cost).toBeGreaterThan(0);
  expect(elsewhere.seen).toEqual([]);
});

test("a value that a header takes from a variable is masked wherever a reply repeats it", async () => {
  const process = withRows({
    gw: { wire: "chat", url: server.origin, headers: { "x-auth": `Basic ${variable("GW")}` } },
  });
  const reply = JSON.stringify({ intent: "conversation", reply: "your secret is gw-secret-value-99, ok?" });
  server.answer = () => sse([says(reply)]);
  const { code, out, err } = await ask(process, "gw:m", { env: { GW: "gw-secret-value-99" } });
  expect([code, server.seen[0]?.headers.get("x-auth")]).toEqual([0, "Basic gw-secret-value-99"]);
  expect(out).toContain("your secret is");
  expect(out + err).not.toContain("gw-secret-value-99");
});

test("what is missing ends with 3 or 4 and says which setting or variable", async () => {
  const process = withRows({
    head: { wire: "chat", url: server.origin, headers: { "x-a": variable("NOWHERE") } },
    keyed: { wire: "chat", url: server.origin, key: { variable: "NO_KEY_HERE" } },
    kept: { wire: "chat", url: server.origin, key: { stored: true } },
  });
  for (const [model, code, words] of [
    ["head:m", "config_invalid", "providers.head.headers.x-a wants the variable NOWHERE"],
    ["keyed:m", "no_key", "set NO_KEY_HERE, store one with: pai key set keyed"],
    ["kept:m", "no_key", "store one with: pai key set kept"],
    ["hed:m", "model_unknown", "did you mean head:m?"],
  ] as const)
    expect(await ask(process, model)).toMatchObject({ code, err: expect.stringContaining(words) });
  expect(server.seen).toEqual([]);
});

test("a stored key of a row is set, listed, checked online and used; an unknown provider is refused", async () => {
  const process = withRows({ gw: { wire: "chat", url: `${server.origin}/api`, key: { stored: true } } });
  const key = (words: string[], typed: Typed = {}) => process.run({ run: keyCommand }, { words, stdin: "", ...typed });
  const set = await key(["set"], { flags: { provider: "gw" }, stdin: "stored-key-123456\n" });
  expect(set.out).toBe("Stored the gw key primary: stored...3456\n");
  expect(set.err).toContain("pai config set model gw:MODEL");
  expect((await key(["list"])).out).toContain("gw ");
  server.answer = () => Response.json({ data: [] });
  const checked = await key(["check"], { flags: { provider: "gw", online: true } });
  expect([checked.code, server.seen[0]?.path]).toEqual([0, "/api/models"]);
  server.answer = () => sse([says(talk)]);
  expect((await ask(process, "gw:some/model")).code).toBe(0);
  expect(server.seen[1]?.headers.get("authorization")).toBe("Bearer stored-key-123456");
  expect(server.seen[1]?.body).toMatchObject({ model: "some/model" });
  const wrong = await key(["set"], { flags: { provider: "gv" }, stdin: "x" });
  expect([wrong.code, wrong.err]).toEqual(["usage", expect.stringContaining("did you mean gw?")]);
});

test("a key in a file that NAME_FILE names is found for a row, too", async () => {
  const process = withRows({ gw: { wire: "messages", url: server.origin, key: { variable: "GW_KEY" } } });
  const file = put(join(process.home.root, "key"), "key-of-a-file-1\n");
  server.answer = () => new Response("no", { status: 401 });
  const { code, err } = await ask(process, "gw:claude-sonnet-5-5", { env: { GW_KEY_FILE: file } });
  expect(server.seen[0]?.headers.get("x-api-key")).toBe("key-of-a-file-1");
  expect(server.seen[0]?.path).toBe("/v1/messages");
  expect([code, err]).toEqual([4, expect.stringContaining("gw refused the key in GW_KEY_FILE")]);
});

test("plain http to another machine is refused with a key, unless the row accepts it", async () => {
  const row = { wire: "chat", url: "http://gateway.corp.invalid/v1", key: { variable: "K" } } as const;
  const process = withRows({ plain: row, accepted: { ...row, insecureHttp: true } });
  const env = { K: "key-0123456789" };
  const plain = await ask(process, "plain:m", { env });
  expect([plain.code, plain.err]).toEqual(["untrusted", expect.stringContaining("plain http")]);
  const accepted = await ask(process, "accepted:m", { env, flags: { timeout: "1" } });
  expect([accepted.code, accepted.err]).toEqual([expect.any(Number), expect.not.stringContaining("plain http")]);
});

test("pai models lists the rows with their place, pai doctor their names, and both show no secret of them", async () => {
  const headers = { "x-key": "literal-99" };
  const providers = {
    gw: { wire: "responses", url: "https://gw.example/v1", key: { variable: "GW_KEY" }, headers },
    token: { wire: "chat", url: "https://t.example", key: { command: "printtoken" } },
  };
  const facts = { "gw:alias": { window: 50_000, prices: { input: 1, output: 2 } } };
  const process = openProcess();
  put(process.home.config("config.json"), JSON.stringify({ providers, models: facts }));
  const env = { GW_KEY: "gw-key-0123456789" };
  const models = (await process.run({ run: modelsCommand }, { env, stdin: "" })).out;
  expect(models).toContain("gw (keys: env), responses at https://gw.example/v1\n");
  expect(models).toMatch(/^ {2}alias +50k +16k +1 +1 +2$/m);
  expect(models).toContain("token (keys: by command), chat at https://t.example\n");
  const { out } = await process.run({ run: doctorCommand }, { env, flags: { offline: true, json: true }, stdin: "" });
  const settings = JSON.parse(out).data.findings.find(({ name }: { name: string }) => name === "settings");
  expect(settings.text).toBe("models = gw:alias (config.json); providers = gw, token (config.json)");
  expect(models + out).not.toContain("literal-99");
});

test("pai config sets one row, and names what is wrong in it", async () => {
  const process = openProcess();
  const config = (...words: string[]) => process.run({ run: configCommand }, { words, stdin: "" });
  expect((await config("set", "providers.gw", '{"wire":"chat","url":"https://gw.example"}')).code).toBe(0);
  expect((await config("get", "providers.gw")).out).toBe('{"wire":"chat","url":"https://gw.example"}\n');
  const wrong = await config("set", "providers.gw", '{"wire":"chat","url":"gw"}');
  const why = expect.stringContaining("providers.gw.url must be an http:// or https:// URL");
  expect([wrong.code, wrong.err]).toEqual(["usage", why]);
});
