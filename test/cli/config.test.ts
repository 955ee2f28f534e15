/** `pai config`: keys come in unseen, are shown masked, and every failure says so. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { defineConfigCommand } from "../../src/cli/commands/config.ts";
import { requireConsent } from "../../src/store/base-url.ts";
import { openKeyState } from "../../src/store/key-state.ts";
import { put } from "../store/temp-home.ts";
import { openProcess, type Process, type Typed } from "./fake-context.ts";

const canary = `AIza${"cAnArY0987".repeat(3)}tail`;
const other = `AIza${"oThEr12345".repeat(3)}tail`;
const config = { run: defineConfigCommand(() => ({ askHidden: async () => canary, readLine: null })) };
const silent = { run: defineConfigCommand(() => ({ askHidden: async () => null, readLine: null })) };

const say = (process: Process, line: string, typed: Typed = {}) =>
  process.run(config, { words: line === "" ? [] : line.split(" "), ...typed });
const stored = ({ home }: Process) => JSON.parse(readFileSync(home.config("credentials.json"), "utf8")).providers;

test("reads the key from standard input, or hidden at a terminal", async () => {
  const process = openProcess();
  expect(await say(process, "set", { stdin: `${canary}\n` })).toEqual({
    code: 0,
    out: "Stored the gemini key primary: AIzacA...tail\n",
    err: "check it: pai config validate --online\n",
  });
  expect((await say(process, "add work")).code).toBe(0);
  expect(stored(process)).toEqual({ gemini: { default: "primary", keys: { primary: canary, work: canary } } });
});

test("a key on the command line works, and warns", async () => {
  const process = openProcess();
  const { code, err } = await say(process, `set ${canary}`);
  expect([code, stored(process).gemini.keys.primary]).toEqual([0, canary]);
  expect(err).toContain("seen by ps");
});

test("what cannot be a key is refused, what does not look like one is stored with a warning", async () => {
  const process = openProcess();
  expect((await say(process, "set", { stdin: " \n" })).code).toBe("key_invalid");
  expect((await say(process, "set", { stdin: "two words" })).code).toBe("key_invalid");
  expect((await process.run(silent, { words: ["set"] })).code).toBe("key_invalid");
  expect((await say(process, "set", { flags: { noInput: true } })).code).toBe("usage");
  const short = await say(process, "set", { stdin: "sk-1234567", flags: { provider: "gemini" } });
  expect([short.code, short.out]).toEqual([0, "Stored the gemini key primary: ***\n"]);
  expect(short.err).toContain("does not look like one of gemini");
});

test("set makes its key the default and loses no other", async () => {
  const process = openProcess();
  await say(process, `add work ${other}`);
  await say(process, `set ${canary}`);
  expect(stored(process).gemini).toEqual({ default: "primary", keys: { work: other, primary: canary } });
});

test("the deprecated flags of the original work and say what to use instead", async () => {
  const process = openProcess();
  expect((await say(process, "", { flags: { set: canary } })).err).toContain("use: pai config set");
  expect((await say(process, "", { flags: { show: true } })).out).toBe("primary  AIzacA...tail  default\n");
  expect((await say(process, "", { flags: { remove: true } })).out).toBe("Removed the gemini key primary\n");
  expect((await say(process, "", { flags: { remove: true, show: true } })).code).toBe("usage");
});

test("without a word: help; with an unknown one: did you mean; with too many: usage", async () => {
  const process = openProcess();
  expect((await say(process, "")).out).toStartWith("Usage: pai config WORD\n");
  expect(await say(process, "valdate")).toMatchObject({
    code: "usage",
    err: expect.stringContaining("pai config validate?"),
  });
  expect(await say(process, "list all")).toMatchObject({ code: "usage", err: "usage: pai config list\n" });
  expect((await say(process, "set-default")).code).toBe("usage");
});

test("show and list name default and environment; nothing stored is not a failure", async () => {
  const process = openProcess();
  expect(await say(process, "show")).toMatchObject({
    code: 0,
    out: expect.stringContaining("No API key is currently configured"),
  });
  await say(process, `set ${canary}`);
  await say(process, `add b ${other}`, { flags: { provider: "openai" } });
  expect((await say(process, "list", { env: { OPENAI_API_KEY: other } })).out).toBe(
    "gemini      primary  AIzacA...tail  default\n" +
      "openai      env      AIzaoT...tail  OPENAI_API_KEY, used alone\n" +
      "openai      b        AIzaoT...tail  default\n",
  );
  expect((await say(process, "show nobody")).code).toBe("usage");
});

test("validate fails with exit 4 without a key; a shape alone is a reason to warn, not to fail", async () => {
  const process = openProcess();
  expect((await say(process, "validate")).code).toBe("no_key");
  await say(process, "set AIzaShort");
  expect(await say(process, "validate")).toMatchObject({
    code: 0,
    out: "Whether the gemini key primary is valid, only the server can tell: add --online\n",
    err: expect.stringContaining("is shorter than those of gemini"),
  });
  const { out } = await say(process, "validate", { flags: { json: true } });
  expect(JSON.parse(out).data.keys).toEqual([{ id: "primary", masked: "***", valid: null }]);
  await say(process, `set ${canary}`);
  expect((await say(process, "validate")).out).toBe("The gemini key primary looks valid\n");
});

test("validate --online asks the provider whatever the key looks like, and never shows it (R46)", async () => {
  const process = openProcess();
  await say(process, `set ${canary}`);
  const seen: (string | null)[] = [];
  let status = 200;
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      seen.push(`${new URL(request.url).pathname} ${request.headers.get("x-goog-api-key")}`);
      const error = {
        code: status,
        status: "INVALID_ARGUMENT",
        message: `API key not valid: ${canary}`,
        details: [{ reason: "API_KEY_INVALID" }],
      };
      return Response.json(status === 200 ? {} : { error }, { status });
    },
  });
  const typed = { flags: { online: true }, env: { GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${server.port}` } };
  const good = await say(process, "validate", typed);
  expect([good.code, good.out, seen]).toEqual([
    0,
    `The gemini key primary was accepted by http://127.0.0.1:${server.port}\n`,
    [`/v1beta/models ${canary}`],
  ]);
  status = 400;
  const bad = await say(process, "validate", typed);
  expect([bad.code, bad.err.includes(canary)]).toEqual(["key_rejected", false]);
  await say(process, "set 0123456789abcdef0123456789abcdef");
  status = 200;
  expect((await say(process, "validate", typed)).code).toBe(0);
  expect(seen.at(-1)).toBe("/v1beta/models 0123456789abcdef0123456789abcdef");
});

test("validate --online asks for every key of every provider and names the one that was refused", async () => {
  const process = openProcess();
  const seen: string[] = [];
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url, headers }) => {
      const key = headers.get("x-api-key") ?? headers.get("authorization") ?? "none";
      seen.push(`${new URL(url).pathname} ${key}`);
      return Response.json({}, { status: key.includes("bad") ? 401 : 200 });
    },
  });
  const at = `http://127.0.0.1:${server.port}`;
  for (const id of ["one", "bad", "two"])
    await say(process, `add ${id} sk-ant-${id}`, { flags: { provider: "anthropic" as const } });
  const anthropic = { flags: { online: true, provider: "anthropic" as const }, env: { ANTHROPIC_BASE_URL: at } };
  const mixed = await say(process, "validate", anthropic);
  expect([mixed.code, seen]).toEqual([
    "key_rejected",
    ["/v1/models sk-ant-one", "/v1/models sk-ant-bad", "/v1/models sk-ant-two"],
  ]);
  expect(mixed.err).toContain('refused the key "bad"');
  expect(mixed.err).toContain("key one was accepted");
  const openai = {
    flags: { online: true, provider: "openai" as const },
    env: { OPENAI_BASE_URL: at, OPENAI_API_KEY: "sk-x" },
  };
  expect((await say(process, "validate", openai)).out).toBe(`The openai key env was accepted by ${at}\n`);
  const local = { flags: { online: true, provider: "local" as const }, env: { OLLAMA_HOST: at } };
  expect((await say(process, "validate", local)).out).toBe(`local without a key was accepted by ${at}\n`);
  expect(seen.slice(3)).toEqual(["/v1/models Bearer sk-x", "/v1/models none"]);
});

test("list says which keys rest and for how long", async () => {
  const process = openProcess();
  await say(process, `add a ${canary}`);
  await say(process, `add b ${other}`);
  const until = Date.now() + 90_500;
  openKeyState(process.home.places.stateDir).save({ cursor: {}, resting: { "gemini/b": until, "gemini/a": 5 } });
  const { out } = await say(process, "list");
  expect(out).toMatch(/^gemini {6}a {2}AIzacA\.\.\.tail {2}default\n.*b {2}AIzaoT\.\.\.tail {2}rests for 9[01] s\n$/);
});

test("remove promotes the next key; set-default and reset change who is next", async () => {
  const process = openProcess();
  for (const [id, key] of [
    ["a", canary],
    ["b", other],
  ])
    await say(process, `add ${id} ${key}`);
  const state = openKeyState(process.home.places.stateDir);
  state.save({ cursor: { gemini: "a" }, resting: { "gemini/a": 5 } });
  await say(process, "set-default b");
  expect(state.load()).toEqual({ cursor: {}, resting: { "gemini/a": 5 } });
  await say(process, "reset");
  expect(state.load()).toEqual({ cursor: {}, resting: {} });
  expect((await say(process, "remove")).out).toBe("Removed the gemini key b\nThe default key is a\n");
  expect((await say(process, "remove x")).code).toBe("usage");
  await say(process, "remove a");
  expect((await say(process, "remove")).code).toBe("no_key");
});

test("--json is one document", async () => {
  const process = openProcess();
  const stored = JSON.parse((await say(process, `set ${canary}`, { flags: { json: true } })).out);
  expect(stored.notices).toEqual([
    { level: "warning", code: "config", text: expect.stringContaining("command line") },
    { level: "info", code: "config", text: "check it: pai config validate --online" },
  ]);
  const { out } = await say(process, "list", { flags: { json: true } });
  expect(JSON.parse(out)).toEqual({
    v: 1,
    ok: true,
    command: "config",
    code: 0,
    data: {
      keys: [
        {
          provider: "gemini",
          id: "primary",
          masked: "AIzacA...tail",
          default: true,
          origin: "credentials.json",
          rests: null,
        },
      ],
    },
    notices: [],
    error: null,
  });
  expect(JSON.parse((await say(process, "", { flags: { json: true } })).out).ok).toBe(true);
});

test("get says what is in force, put writes it and keeps the rest of the file (R44)", async () => {
  const process = openProcess();
  put(process.home.config("config.json"), '{\n  // mine\n  "temperature": 1,\n  "future": 1\n}\n');
  expect((await say(process, "get temperature")).out).toBe("1\n");
  expect((await say(process, "put temperature 0.5")).code).toBe(0);
  await say(process, "put checks make lint");
  await say(process, "put limits.timeout 5m");
  await say(process, "put guard.strict true");
  expect(readFileSync(process.home.config("config.json"), "utf8")).toContain("// mine");
  const { out } = await say(process, "get", { flags: { json: true }, env: { PAI_MODE: "auto" } });
  expect(JSON.parse(out).data).toMatchObject({
    temperature: { value: 0.5, origin: "config.json" },
    checks: { value: ["make", "lint"], origin: "config.json" },
    "limits.timeout": { value: 300, origin: "config.json" },
    "guard.strict": { value: true, origin: "config.json" },
    mode: { value: "auto", origin: "PAI_MODE" },
  });
  expect((await say(process, "put temprature 1")).err).toContain("did you mean temperature?");
  expect((await say(process, "put limits.calls many")).err).toContain("must be a whole number");
  expect((await say(process, "put historyDir x")).err).toContain("PAI_HISTORY_DIR");
});

test("who puts an address agrees to send the present keys there", async () => {
  const process = openProcess();
  await say(process, `set ${canary}`);
  expect((await say(process, "put baseUrl.gemini ftp://x")).code).toBe("config_invalid");
  await say(process, "put baseUrl.gemini https://one.example");
  const endpoint = { provider: "gemini", url: "https://one.example", origin: "config.json" } as const;
  const options = { places: process.home.places, ask: null };
  await requireConsent(endpoint, [canary], options);
  await expect(requireConsent({ ...endpoint, url: "https://two.example" }, [canary], options)).rejects.toMatchObject({
    code: "untrusted",
  });
});

test("a stored key never appears in any output (R46)", async () => {
  const process = openProcess();
  const heard: string[] = [];
  const lines = [
    `set ${canary}`,
    `add work ${canary}`,
    `add ${canary}`,
    `${canary}`,
    "list",
    "show",
    "show work",
    `show ${canary}`,
    "validate",
    `set-default ${canary}`,
    "set-default work",
    `put ${canary} 1`,
    "get",
    `remove ${canary}`,
    "remove work",
    "reset",
    `reset ${canary}`,
  ];
  for (const json of [false, true]) {
    for (const line of lines) {
      const { out, err } = await say(process, line, { flags: { json } });
      heard.push(out, err);
    }
  }
  expect(heard.join("\n")).not.toContain(canary.slice(6, -4));
  expect(heard.join("\n")).toContain("AIzacA...tail");
});
