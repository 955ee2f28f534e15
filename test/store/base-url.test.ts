/** Where a provider is reached, and when a key may go there. */
import { expect, test } from "bun:test";
import { type ProviderId, providerTable } from "../../src/core/providers.ts";
import { findBaseUrl, requireConsent } from "../../src/store/base-url.ts";
import { makeHome } from "./temp-home.ts";

const unset = { url: null, origin: "default" };
const find = (provider: ProviderId, env: Record<string, string>, url: string | null = null) =>
  findBaseUrl(providerTable[provider], env, url === null ? unset : { url, origin: "config.json" });

const [google, openai] = ["GOOGLE_GEMINI_BASE_URL", "OPENAI_BASE_URL"] as const;
test.each([
  ["gemini", {}, "https://generativelanguage.googleapis.com", "default"],
  ["gemini", { [google]: "https://g.example/v1beta/" }, "https://g.example", google],
  ["gemini", { PAI_BASE_URL: "https://p.example", [google]: "https://g" }, "https://p.example", "PAI_BASE_URL"],
  ["openai", { OPENAI_BASE_URL: "https://o.example" }, "https://o.example/v1", "OPENAI_BASE_URL"],
  ["openai", { OPENAI_BASE_URL: "https://o.example/api/" }, "https://o.example/api", "OPENAI_BASE_URL"],
  ["anthropic", { ANTHROPIC_BASE_URL: "https://a.example/v1" }, "https://a.example", "ANTHROPIC_BASE_URL"],
  ["anthropic", { OPENAI_BASE_URL: "https://o.example" }, "https://api.anthropic.com", "default"],
  ["local", {}, "http://127.0.0.1:11434/v1", "default"],
  ["openai", { [openai]: "https://o.example/?api-version=1" }, "https://o.example/v1?api-version=1", openai],
  ["gemini", { PAI_BASE_URL: "https://g.example/a/v1beta?x=1&y=2" }, "https://g.example/a?x=1&y=2", "PAI_BASE_URL"],
] as const)("%s with %j is reached at %s (R47)", (provider, env, url, origin) => {
  expect(find(provider, env)).toMatchObject({ url, origin });
});

test.each([
  ["box", "http://box:11434/v1"],
  ["box:99", "http://box:99/v1"],
  [":99", "http://127.0.0.1:99/v1"],
  ["0.0.0.0", "http://127.0.0.1:11434/v1"],
  ["http://box", "http://box/v1"],
  ["https://box/ollama/v1", "https://box/ollama/v1"],
  ["::1", "http://[::1]:11434/v1"],
  ["[::1]:99", "http://[::1]:99/v1"],
  ["box:99999", "http://box:11434/v1"],
  ['"box"', "http://box:11434/v1"],
])("OLLAMA_HOST=%s is %s", (host, url) => {
  expect(find("local", { OLLAMA_HOST: host }).url).toBe(url);
});

test("what is not a http(s) URL is an error that names its origin and shows nothing of it", () => {
  for (const url of ["box", "ftp://x", "file:///etc/passwd", "https://user:secret@x", "https://x/#secret"]) {
    expect(() => find("gemini", { PAI_BASE_URL: url })).toThrow(/^the address in PAI_BASE_URL must(?!.*secret)/);
  }
});

test("an address of a file is bound to the first keys; another key or address asks once", async () => {
  const { places } = makeHome();
  const questions: string[] = [];
  const ask = async (question: string) => questions.push(question) > 0;
  const first = find("gemini", {}, "https://one.example");
  const other = find("gemini", {}, "https://two.example");
  const refusal = (url: string) => ({ code: "untrusted", hint: `to agree: pai config set baseUrl.gemini ${url}` });
  const untrusted = refusal("https://two.example");
  await requireConsent(first, ["k1", "k2"], { places, ask: null });
  await requireConsent(first, ["k2"], { places, ask: null });
  await expect(requireConsent(other, ["k1"], { places, ask: null })).rejects.toMatchObject(untrusted);
  await expect(requireConsent(other, ["k1"], { places, ask: async () => false })).rejects.toMatchObject(untrusted);
  const another = requireConsent(first, ["k3"], { places, ask: null });
  await expect(another).rejects.toMatchObject(refusal("https://one.example"));
  await requireConsent(other, ["k1"], { places, ask });
  await requireConsent(other, ["k1"], { places, ask });
  expect(questions).toHaveLength(1);
});

test("an address of the environment needs no consent, nor one without a key", async () => {
  const { places } = makeHome();
  await requireConsent(find("gemini", {}, "https://one.example"), ["k"], { places, ask: null });
  await requireConsent(find("gemini", { PAI_BASE_URL: "https://two.example" }), ["k"], { places, ask: null });
  await requireConsent(find("local", {}, "https://two.example"), [], { places, ask: null });
  // What needed no consent was not taken for one.
  const inFile = requireConsent(find("gemini", {}, "https://two.example"), ["k"], { places, ask: null });
  await expect(inFile).rejects.toMatchObject({ code: "untrusted" });
});
