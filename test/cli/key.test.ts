/** `pai key`: keys come in unseen, for their owner, are shown masked, and what is no key is refused with the right command. */
import { beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { defineConfigCommand } from "../../src/cli/commands/config.ts";
import { openKeyState } from "../../src/store/key-state.ts";
import { useServer } from "../models/loopback.ts";
import { openProcess, type Process, type Typed } from "./fake-context.ts";

const canary = `AIza${"cAnArY0987".repeat(3)}tail`;
const other = `AIza${"oThEr12345".repeat(3)}tail`;
const gateway = "0123456789abcdef0123456789abcdef";
const asking = (name: "key" | "config", hidden: string | null) => ({
  run: defineConfigCommand(name, () => ({ askHidden: async () => hidden, readLine: null })),
});
const [key, silent, settings] = [asking("key", canary), asking("key", null), asking("config", null)];

const say = (process: Process, line: string, typed: Typed = {}) =>
  process.run(key, { words: line === "" ? [] : line.split(" "), ...typed });
const config = (process: Process, line: string) => process.run(settings, { words: line.split(" ") });
const stored = ({ home }: Process) => JSON.parse(readFileSync(home.config("credentials.json"), "utf8")).providers;
const server = useServer();
beforeEach(() => {
  server.answer = () => Response.json({});
});
/** The path and the key of each request. */
const asked = () =>
  server.seen.map(({ path, headers }) => {
    const names = ["x-goog-api-key", "x-api-key", "authorization"];
    return `${path} ${names.map((name) => headers.get(name)).find((value) => value !== null) ?? "none"}`;
  });
/** The command of a person at a terminal, who enters this key and gives these answers. */
function seated(entered: string, ...answers: (string | null)[]) {
  const asked: string[] = [];
  const readLine = async (question: string) => {
    asked.push(question);
    return answers.shift() ?? null;
  };
  const askHidden = async (question: string) => (question.startsWith("Key") ? entered : readLine(question));
  return { asked, run: defineConfigCommand("key", () => ({ askHidden, readLine })) };
}

test("reads the key from standard input, or hidden at a terminal", async () => {
  const process = openProcess();
  expect(await say(process, "set", { stdin: `${canary}\n` })).toEqual({
    code: 0,
    out: "Stored the gemini key primary: AIzacA...tail\n",
    err: "check it: pai key check --online\n",
  });
  expect((await say(process, "add work")).code).toBe(0);
  expect(stored(process)).toMatchObject({ gemini: { default: "primary", keys: { primary: canary, work: canary } } });
});

test("a key on the command line works, and warns", async () => {
  const process = openProcess();
  const { code, err } = await say(process, `set ${canary}`);
  expect([code, stored(process).gemini.keys.primary]).toEqual([0, canary]);
  expect(err).toContain("seen by ps");
});

test("what cannot be a key is refused, what does not look like one is stored with a warning", async () => {
  const process = openProcess();
  for (const stdin of [" \n", "two words"]) expect((await say(process, "set", { stdin })).code).toBe("key_invalid");
  expect((await process.run(silent, { words: ["set"] })).code).toBe("key_invalid");
  expect((await say(process, "set", { flags: { noInput: true } })).code).toBe("usage");
  const short = await say(process, "set", { stdin: "sk-1234567", flags: { provider: "gemini" } });
  expect([short.code, short.out]).toEqual([0, "Stored the gemini key primary: ***\n"]);
  expect(short.err).toContain("does not look like one of gemini");
});

test("one word after set is a name for the key, its provider, or the key itself", async () => {
  const process = openProcess();
  for (const [line, stdin, kept] of [
    ["set work", canary, "gemini key work: AIzacA...tail"],
    ["set mistral", gateway, "mistral key primary: 012345...cdef"],
    [`set ${gateway}`, undefined, "gemini key primary: 012345...cdef"],
  ] as const)
    expect((await say(process, line, stdin === undefined ? {} : { stdin })).out).toBe(`Stored the ${kept}\n`);
  expect((await say(process, "add two/words", { stdin: canary })).code).toBe("usage");
  expect((await say(process, "add env", { stdin: canary })).err).toContain("means the key of the environment");
});

test("without a word: help; with an unknown one: did you mean; with too many: usage", async () => {
  const process = openProcess();
  expect((await say(process, "")).out).toStartWith("Usage: pai key WORD\n");
  const meant = expect.stringContaining("pai key check?");
  expect(await say(process, "chek")).toMatchObject({ code: "usage", err: meant });
  expect(await say(process, "list all")).toMatchObject({ code: "usage", err: "usage: pai key list\n" });
  expect((await say(process, "default")).code).toBe("usage");
});

test("list says name, source, age, shape and rest of each key; nothing stored is not a failure", async () => {
  const process = openProcess();
  expect(await say(process, "list")).toMatchObject({ code: 0, out: expect.stringContaining("No API key") });
  await say(process, `set ${canary}`);
  await say(process, "add b", { stdin: "AIzaShort" });
  await say(process, "add b", { stdin: other, flags: { provider: "openai" } });
  const until = Date.now() + 90_500;
  openKeyState(process.home.places.stateDir).save({ cursor: {}, resting: { "gemini/b": until, "gemini/primary": 5 } });
  const { out } = await say(process, "list", { env: { OPENAI_API_KEY: other } });
  expect(out.replace(/9[01] s/, "90 s").split("\n")).toEqual([
    "gemini  primary  AIzacA...tail  credentials.json  today  default",
    "gemini  b        ***            credentials.json  today  unknown shape, rests for 90 s",
    "openai  env      AIzaoT...tail  OPENAI_API_KEY           used alone, unknown shape",
    "openai  b        AIzaoT...tail  credentials.json  today  default, unknown shape",
    "",
  ]);
  const json = JSON.parse((await say(process, "list", { flags: { json: true, provider: "gemini" } })).out);
  expect(json).toMatchObject({ command: "key", code: 0, notices: [], error: null });
  expect(json.data.keys[0]).toEqual({
    provider: "gemini",
    id: "primary",
    masked: "AIzacA...tail",
    shape: "known",
    added: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    default: true,
    origin: "credentials.json",
    rests: null,
  });
});

test("check fails with exit 4 without a key; a shape alone is a reason to warn, not to fail", async () => {
  const process = openProcess();
  expect((await say(process, "check")).code).toBe("no_key");
  await say(process, "set AIzaShort");
  expect(await say(process, "check")).toMatchObject({
    code: 0,
    out: "Whether the gemini key primary is valid, only the server can tell: add --online\n",
    err: expect.stringContaining("is shorter than those of gemini"),
  });
  const { out } = await say(process, "check", { flags: { json: true } });
  expect(JSON.parse(out).data.keys).toEqual([{ id: "primary", masked: "***", valid: null }]);
  await say(process, `set ${canary}`);
  expect((await say(process, "check")).out).toBe("The gemini key primary looks valid\n");
});

test("check --online asks the provider whatever the key looks like, and never shows it (R46)", async () => {
  const process = openProcess();
  await say(process, `set ${canary}`);
  const typed = { flags: { online: true }, env: { GOOGLE_GEMINI_BASE_URL: server.origin } };
  const good = await say(process, "check", typed);
  expect([good.code, good.out]).toEqual([0, `The gemini key primary was accepted by ${server.origin}\n`]);
  expect(asked()).toEqual([`/v1beta/models ${canary}`]);
  const message = `API key not valid: ${canary}`;
  const error = { code: 400, status: "INVALID_ARGUMENT", message, details: [{ reason: "API_KEY_INVALID" }] };
  server.answer = () => Response.json({ error }, { status: 400 });
  const bad = await say(process, "check", typed);
  expect([bad.code, bad.err.includes(canary)]).toEqual(["key_rejected", false]);
  await say(process, "remove");
  await say(process, `set ${gateway}`);
  server.answer = () => Response.json({});
  expect((await say(process, "check", typed)).code).toBe(0);
  expect(asked().at(-1)).toBe(`/v1beta/models ${gateway}`);
});

test("check --online asks for every key of every provider and names the one that was refused", async () => {
  const process = openProcess();
  const isBad = (n: number) => server.seen[n]?.headers.get("x-api-key")?.includes("bad") === true;
  server.answer = (n) => Response.json({}, { status: isBad(n) ? 401 : 200 });
  const at = `${server.origin}/of`;
  for (const id of ["one", "bad", "two"])
    await say(process, `add ${id} sk-ant-${id}`, { flags: { provider: "anthropic" as const } });
  const anthropic = { flags: { online: true, provider: "anthropic" as const }, env: { ANTHROPIC_BASE_URL: at } };
  const mixed = await say(process, "check", anthropic);
  expect(mixed.code).toBe("key_rejected");
  expect(asked()).toEqual(["one", "bad", "two"].map((id) => `/of/v1/models sk-ant-${id}`));
  expect(mixed.err).toContain('refused the key "bad"');
  expect(mixed.err).toContain("key one was accepted");
  const env = { OPENAI_BASE_URL: at, OPENAI_API_KEY: "sk-x" };
  const openai = { flags: { online: true, provider: "openai" as const }, env };
  expect((await say(process, "check", openai)).out).toBe(`The openai key env was accepted by ${server.origin}\n`);
  const local = { flags: { online: true, provider: "local" as const }, env: { OLLAMA_HOST: at } };
  expect((await say(process, "check", local)).out).toBe(`local without a key was accepted by ${server.origin}\n`);
  expect(asked().slice(3)).toEqual(["/of/models Bearer sk-x", "/of/models none"]);
});

test("remove promotes the next key, and default changes who is next", async () => {
  const process = openProcess();
  for (const line of [`add a ${canary}`, `add b ${other}`]) await say(process, line);
  const state = openKeyState(process.home.places.stateDir);
  state.save({ cursor: { gemini: "a" }, resting: { "gemini/a": 5 } });
  await say(process, "default b");
  expect(state.load()).toEqual({ cursor: {}, resting: { "gemini/a": 5 } });
  expect((await say(process, "remove")).out).toBe("Removed the gemini key b\nThe default key is a\n");
  expect((await say(process, "remove x")).code).toBe("usage");
  await say(process, "remove a");
  expect((await say(process, "remove")).code).toBe("no_key");
});

test("a key that its server accepts rests no more", async () => {
  const process = openProcess();
  await say(process, `set ${canary}`);
  const state = openKeyState(process.home.places.stateDir);
  state.save({ cursor: {}, resting: { "gemini/primary": Date.now() + 90_000, "openai/x": 5 } });
  const typed = { flags: { online: true }, env: { GOOGLE_GEMINI_BASE_URL: server.origin } };
  expect((await say(process, "check", typed)).code).toBe(0);
  expect(state.load().resting).toEqual({ "openai/x": 5 });
});

test("a key's beginning tells its provider, and the next step is named", async () => {
  const process = openProcess();
  const { out, err } = await say(process, "set", { stdin: "sk-ant-api03-0123456789abcdef" });
  expect(out).toBe("Stored the anthropic key primary: sk-ant...cdef\n");
  expect(err).toBe("check it: pai key check --online --provider anthropic\n");
  await config(process, "set model gemini:gemini-3.5-flash-lite");
  const router = await say(process, "set", { stdin: "sk-or-v1-0123456789abcdefghijkl" });
  expect(router.err).toContain("use it: pai config set model openrouter:MAKER/MODEL");
});

test("at a terminal a key of an unknown shape is stored for whom the person names", async () => {
  const process = openProcess();
  const person = seated(gateway, "mistral");
  const out = "Stored the mistral key primary: 012345...cdef\n";
  expect(await process.run(person, { words: ["set"] })).toMatchObject({ code: 0, out });
  expect(person.asked).toEqual(["whose key is it? gemini, openai, anthropic, openrouter, mistral: "]);
  for (const answer of ["", "nobody", null])
    expect((await process.run(seated(gateway, answer), { words: ["set"] })).code).toBe("usage");
  expect(stored(process)).toMatchObject({ mistral: { default: "primary", keys: { primary: gateway } } });
});

test("a word like a key is not shown where the name of a provider is asked for", async () => {
  const process = openProcess();
  for (const typed of [canary, gateway, "sk-abcdefghijkl", "abcdefghijklmnopqrstuvwx"]) {
    const { code, out, err } = await process.run(seated(gateway, typed), { words: ["set"] });
    expect([code, out]).toEqual(["usage", ""]);
    expect(err.toLowerCase()).not.toContain(typed.toLowerCase());
    expect(err).toContain("that is no name of a provider");
  }
  expect((await process.run(seated(gateway, "Nobody"), { words: ["set"] })).err).toContain("unknown provider: nobody");
});

test("at a terminal a key that does not look like one of the named provider is stored after a yes alone", async () => {
  const process = openProcess();
  const typed = { words: ["set"], flags: { provider: "gemini" as const } };
  for (const answer of ["n", "", null])
    expect((await process.run(seated(gateway, answer), typed)).code).toBe("declined");
  const person = seated(gateway, "y");
  expect((await process.run(person, typed)).code).toBe(0);
  expect(person.asked[0]).toStartWith("the key does not look like one of gemini (they begin with AIza or AQ.)");
  expect(stored(process).gemini.keys).toEqual({ primary: gateway });
});

test("default and remove find a key by its name, whosever it is, and ask for --provider where two have it", async () => {
  const process = openProcess();
  await say(process, `set ${canary}`);
  const anthropic = { stdin: "sk-ant-api03-0123456789abcdef" };
  await say(process, "add second", anthropic);
  await say(process, "add third", anthropic);
  expect((await say(process, "default third")).out).toBe("Calls to anthropic begin with the key third\n");
  expect((await say(process, "remove second")).out).toStartWith("Removed the anthropic key second\n");
  await say(process, "add primary", anthropic);
  for (const line of ["default primary", "remove primary"]) {
    const { code, err } = await say(process, line);
    expect([code, err]).toEqual(["usage", expect.stringContaining("gemini, anthropic")]);
    expect(err).toContain("--provider gemini");
    expect((await say(process, line, { flags: { provider: "anthropic" } })).code).toBe(0);
  }
  expect(stored(process)).toMatchObject({ gemini: { default: "primary" }, anthropic: { default: "third" } });
});

test("a key of another shape replaces one of the right shape after a yes alone, and never by a pipe", async () => {
  const process = openProcess();
  const gatewayInUse = { GOOGLE_GEMINI_BASE_URL: "https://gateway.example" };
  await say(process, `set ${canary}`);
  for (const [line, env] of [
    ["set", {}],
    ["add primary", gatewayInUse],
    ["set gemini", gatewayInUse],
  ] as const) {
    const { code, err } = await say(process, line, { stdin: "junkjunk", env, flags: { provider: "gemini" } });
    expect([line, code]).toEqual([line, "key_invalid"]);
    expect(err).toContain("pai key add NAME");
    expect(err).toContain("pai key remove primary");
    const typed = { words: line.split(" "), env, flags: { provider: "gemini" as const } };
    for (const answer of ["n", null])
      expect((await process.run(seated("garbage-not-a-key-123456", answer), typed)).code).toBe("declined");
  }
  expect(stored(process).gemini.keys).toEqual({ primary: canary });
  const person = seated(gateway, "y");
  expect((await process.run(person, { words: ["set", "gemini"], env: gatewayInUse })).code).toBe(0);
  expect(person.asked[0]).toContain("replace the key primary with it?");
  expect((await say(process, "set gemini", { stdin: "junkjunk" })).code).toBe(0);
});

test("keys of today and of a gateway are stored without a question or a warning", async () => {
  const process = openProcess();
  const today = seated(`AQ.${"Ab8RN6-_".repeat(6)}`);
  expect((await process.run(today, { words: ["set"] })).err).toBe("check it: pai key check --online\n");
  const own = seated(gateway);
  const env = { OPENAI_BASE_URL: "https://gateway.example/v1" };
  const { code, err } = await process.run(own, { words: ["set"], flags: { provider: "openai" }, env });
  expect([code, today.asked, own.asked]).toEqual([0, [], []]);
  expect(err).not.toContain("does not look");
  // Keys of Bedrock are base64.
  expect((await say(process, "add aws", { stdin: "ABSKQmVkcm9ja0FQSUtleQ==" })).code).toBe(0);
});

test.each([
  ["set model gemini:x", "usage", "pai config set model VALUE"],
  ["set limits.calls", "usage", "pai config set limits.calls VALUE"],
  ["set limits.calls=3", "usage", "pai config set limits.calls VALUE"],
  ["set PAI_MODEL=x", "usage", "pai config set model VALUE"],
  ["add work mode auto", "usage", "pai config set mode VALUE"],
  ["set export GEMINI_API_KEY=AIzaSecret", "usage", "pai key set gemini"],
  ["set OPENAI_API_KEY=sk-Secret", "usage", "pai key set openai"],
  ["set api_key=Secret", "key_invalid", "pai config set NAME VALUE"],
  ["set http://localhost:8080/Secret", "key_invalid", "pai config set baseUrl.local http://HOST:PORT/v1"],
  ["set AIzaSecret and more", "key_invalid", "a key holds no blanks"],
  ["set AIzaSecret\u00e9", "key_invalid", "not valid in an API key"],
])("what is no key is not stored, and the right command is named: %s", async (line, code, hint) => {
  for (const typed of [{}, { stdin: `${line.replace(/^\w+ (work )?/, "")}\n` }]) {
    const process = openProcess();
    const words = typed.stdin === undefined ? line : line.startsWith("add") ? "add work" : "set";
    const said = await say(process, words, typed);
    expect([said.code, said.out]).toEqual([code, ""]);
    expect(said.err).toContain(hint);
    expect(said.err).not.toContain("Secret");
    expect((await say(process, "list")).out).toContain("No API key");
  }
});

test("a stored key never appears in any output (R46)", async () => {
  const process = openProcess();
  const heard: string[] = [];
  const lines = [
    "set X",
    "add work X",
    "add X",
    "X",
    "list",
    "check",
    "default X",
    "default work",
    "remove X",
    "remove work",
  ];
  for (const json of [false, true]) {
    for (const line of lines) {
      const { out, err } = await say(process, line.replace("X", canary), { flags: { json } });
      heard.push(out, err);
    }
    for (const line of [`set ${canary} 1`, `set model ${canary}`, `set ${canary}`, `get ${canary}`, canary]) {
      const { code, out, err } = await config(process, line);
      expect([line, code]).toEqual([line, "usage"]);
      heard.push(out, err);
    }
  }
  expect(heard.join("\n")).not.toContain(canary.slice(6, -4));
  expect(heard.join("\n")).toContain("AIzacA...tail");
});
