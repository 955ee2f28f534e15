/** The first start without a key: what is offered, what is chosen by itself, and what is kept. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { composeBase } from "../../src/cli/compose/base.ts";
import { askForModel, offerToKeep } from "../../src/cli/onboard/choose-model.ts";
import { pickModel } from "../../src/cli/onboard/pick-model.ts";
import { PaiError } from "../../src/core/error.ts";
import { type ProviderId, providerTable } from "../../src/core/providers.ts";
import type { FoundServer } from "../../src/models/local/discover.ts";
import { findKeys } from "../../src/store/keys.ts";
import { makeHome } from "../store/temp-home.ts";
import { makeContext } from "./fake-context.ts";

const servers: readonly FoundServer[] = [
  { url: "http://127.0.0.1:8000/v1", usual: "vLLM", owner: "root", models: ["a", "b"] },
];
const usual = "gemini:gemini-3.5-flash-lite";
const anthropicKey = "sk-ant-api03-ZHa9q2Lw7Rt4Yp1Mn8Bv";
const geminiKey = `AIza${"x".repeat(35)}`;

/** Someone at a terminal. `tty`: standard error is one, too. */
function sit(env: Readonly<Record<string, string>> = {}, tty = false) {
  const home = makeHome();
  let said = "";
  const context = makeContext(home, {
    env: { HOME: home.places.home ?? "", ...env },
    tty: { stdin: true, stdout: true, stderr: tty, keyboard: true },
    err: (text) => {
      said += text;
    },
  });
  return { home, context, base: composeBase(context), said: () => said };
}

interface Answers {
  /** What the person says, and what where nothing shows. */
  readonly lines?: readonly (string | null)[];
  readonly hidden?: readonly (string | null)[];
  readonly found?: readonly FoundServer[];
  readonly env?: Readonly<Record<string, string>>;
  readonly tty?: boolean;
  /** Why the provider refuses a key. */
  readonly refuses?: (key: string) => PaiError | null;
}

async function offer({ lines = [], hidden = [], found = servers, env, tty, refuses = () => null }: Answers) {
  const { home, context, base, said } = sit(env, tty);
  const [left, secrets] = [[...lines], [...hidden]];
  const questions: string[] = [];
  let [looked, demos] = [0, 0];
  const asker = {
    readLine: async () => left.shift() ?? null,
    async askHidden(question: string) {
      questions.push(question);
      return secrets.shift() ?? null;
    },
    async demo() {
      demos += 1;
    },
    async check(_provider: string, key: string) {
      const error = refuses(key);
      if (error !== null) throw error;
    },
  };
  const { settings } = await askForModel(context, base, asker, async () => {
    looked += 1;
    return found;
  });
  const keys = (provider: ProviderId) =>
    findKeys(providerTable[provider], { env: context.env, places: home.places }).map(({ key }) => key);
  const chosen = { model: settings.model, url: settings.baseUrl.local, said: said(), keys };
  return { ...chosen, looked, demos, left, secrets, questions };
}

test.each([
  ["2", "local:b"],
  ["y", "local:a"],
  ["ya", "local:a"],
])("%s takes a model of this machine and its address", async (answer, model) => {
  const offered = await offer({ lines: [answer] });
  expect([offered.model, offered.url, offered.left]).toEqual([model, "http://127.0.0.1:8000/v1", []]);
  expect(offered.said).toContain("run by root");
});

test("at a narrow terminal the servers that were found break between words", async () => {
  const { said } = await offer({ lines: ["n"], env: { COLUMNS: "40" }, tty: true });
  for (const line of said.split("\n")) expect(line.length).toBeLessThanOrEqual(40);
  expect(said.replace(/\n +/g, " ")).toContain("http://127.0.0.1:8000/v1 (usually vLLM), run by root: a, b");
});

test.each(["", "n", "no", "3", "0", "local", null])("%p leaves everything as it is", async (answer) => {
  const { model, url } = await offer({ lines: [answer] });
  expect([model, url]).toEqual([usual, null]);
});

test.each<[string, Readonly<Record<string, string>>]>([
  ["a key is set", { GEMINI_API_KEY: geminiKey }],
  ["an address is set", { PAI_BASE_URL: "http://127.0.0.1:1" }],
  ["the model is local", { PAI_MODEL: "local:x" }],
  ["the model is a recording", { PAI_MODEL: "replay:x.jsonl" }],
])("nobody is looked for when %s", async (_name, env) => {
  expect((await offer({ lines: ["y"], env })).looked).toBe(0);
});

test.each(["timeout", "interrupted"] as const)(
  "%s at the key ends the questions and is not told twice",
  async (code) => {
    const { context, base, said } = sit();
    const end = new PaiError(code, "it is over");
    const ends = () => Promise.reject(end);
    const asker = { readLine: async () => "k", askHidden: ends, demo: ends, check: ends };
    expect(await askForModel(context, base, asker, async () => servers).catch((thrown) => thrown)).toBe(end);
    expect(said()).not.toContain("it is over");
  },
);

test("a key is known by how it begins, tried, stored, and its provider's model is used", async () => {
  const { model, keys, said } = await offer({ found: [], hidden: [anthropicKey] });
  expect([model, keys("anthropic")]).toEqual(["anthropic:claude-sonnet-5-5", [anthropicKey]]);
  expect(said).toContain("saved the anthropic key sk-ant...n8Bv");
  expect(said).not.toContain(anthropicKey);
  const beside = await offer({ lines: ["k"], hidden: [geminiKey] });
  expect([beside.model, beside.keys("gemini")]).toEqual([usual, [geminiKey]]);
});

test("who has neither key nor server sees three ways on one screen, and d plays the demo", async () => {
  const { demos, said, keys } = await offer({ found: [], hidden: ["d", geminiKey] });
  expect([demos, keys("gemini")]).toEqual([1, [geminiKey]]);
  const screen = said.slice(said.indexOf("Three ways"));
  for (const words of ["aistudio.google.com", "ollama pull", "offline: d"]) expect(screen).toContain(words);
  expect(screen.split("\n").length).toBeLessThanOrEqual(24);
  expect(Math.max(...screen.split("\n").map(({ length }) => length))).toBeLessThan(60);
});

test("what is surely no key is explained or understood, and asked again", async () => {
  const words = ["?", "what?", "1", "gemini", "3", "demo", "2"];
  const { said, demos, keys, looked } = await offer({ found: [], hidden: [...words, geminiKey] });
  expect([demos, looked, keys("gemini")]).toEqual([2, 2, [geminiKey]]);
  for (const text of [
    "paste a key, or type 2",
    "too short for a key",
    "offline: d\npaste the key itself",
    "aistudio.google.com/apikey\n",
    "no model answers on this machine yet",
  ])
    expect(said).toContain(text);
  expect((await offer({ found: [], hidden: ["q", geminiKey] })).keys("gemini")).toEqual([]);
  const { model, said: again } = await offer({ lines: ["x", "7", "2"] });
  expect([model, again.split("answer with a number from 1 to 2").length]).toEqual(["local:b", 3]);
});

test("the stars of a key are named, an address is told to be no key, and a key is not shown as a provider", async () => {
  const { said, questions } = await offer({
    found: [],
    hidden: ["http://localhost:8080/v1", "localhost:8080", "abcdefghijklmnopqrst", geminiKey],
  });
  expect(questions[0]).toContain("a key (shown as stars)");
  expect(questions[3]).toContain("whose key is it?");
  expect(said.split("an address, not a key").length - 1).toBe(2);
  for (const text of ["baseUrl.local", "no name of a provider"]) expect(said).toContain(text);
  expect(said.toLowerCase()).not.toContain(geminiKey.toLowerCase());
});

test("what does not look like a key is used after a yes alone", async () => {
  // Hidden, as a key may be pasted again where only y or n is asked for.
  const keysAfter = async (said: string) =>
    (await offer({ found: [], hidden: ["what-is-this-key", "gemini", said] })).keys("gemini");
  expect(await keysAfter("n")).toEqual([]);
  expect(await keysAfter("y")).toEqual(["what-is-this-key"]);
});

test("a key without a shape is stored for the provider that is named", async () => {
  const { model, keys } = await offer({ found: [], hidden: ["abcdefghijklmnopqrst", "mistral"] });
  expect([model, keys("mistral")]).toEqual(["mistral:mistral-large-latest", ["abcdefghijklmnopqrst"]]);
});

test("a refused key is not stored and another is asked for, three times at most", async () => {
  const refuses = (key: string) =>
    key === geminiKey ? null : new PaiError("key_invalid", "gemini does not accept the key");
  const second = await offer({ found: [], hidden: [`${geminiKey}y`, geminiKey], refuses });
  expect([second.keys("gemini"), second.said.split("does not accept").length - 1]).toEqual([[geminiKey], 1]);
  const never = await offer({ found: [], hidden: Array<string>(4).fill(`${geminiKey}z`), refuses });
  expect([never.keys("gemini"), never.secrets.length]).toEqual([[], 1]);
});

test("a provider that cannot be reached is not a reason to lose the key", async () => {
  const refuses = () => new PaiError("network", "no way to gemini");
  const { keys, said } = await offer({ found: [], hidden: [geminiKey], refuses });
  expect(keys("gemini")).toEqual([geminiKey]);
  expect(said).toContain("the key could not be checked: no way to gemini");
});

test("the only provider with a key is used, with a notice; a model that was named is not changed", () => {
  const { context, base } = sit({ ANTHROPIC_API_KEY: anthropicKey });
  const picked = pickModel(context, base);
  expect(picked.base.settings.model).toBe("anthropic:claude-sonnet-5-5");
  expect(picked.message).toContain("as anthropic is the only provider with a key");
  const named = sit({ ANTHROPIC_API_KEY: anthropicKey, PAI_MODEL: "openai:gpt-5" });
  expect(pickModel(named.context, named.base)).toEqual({ base: named.base, message: null, problem: null });
});

test("with keys of two other providers the choice is the user's", () => {
  const { context, base } = sit({ ANTHROPIC_API_KEY: anthropicKey, OPENAI_API_KEY: "sk-proj-0123456789" });
  expect(pickModel(context, base).problem?.message).toContain("keys for openai and anthropic are set");
});

test("after a first success the chosen model is kept with its address when the person says so, and asked once", async () => {
  const { context, base, home } = sit();
  const asker = { readLine: async () => "1", askHidden: async () => null, demo: async () => {}, check: async () => {} };
  const chosen = await askForModel(context, base, asker, async () => servers);
  const file = join(home.places.configDir ?? "", "config.json");
  await offerToKeep(context, chosen, { ok: false }, async () => "y");
  await offerToKeep(context, chosen, { ok: true }, async () => "y");
  await offerToKeep(context, chosen, { ok: true }, () => Promise.reject(new Error("asked twice")));
  const baseUrl = { local: "http://127.0.0.1:8000/v1" };
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ baseUrl, model: "local:a" });
});
