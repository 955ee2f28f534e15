/** What is given as a key: stored for its owner, asked about where its shape is unknown, refused where it is no key. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { defineConfigCommand } from "../../src/cli/commands/config.ts";
import { openProcess, type Process, type Typed } from "./fake-context.ts";

const config = { run: defineConfigCommand(() => ({ askHidden: async () => null, readLine: null })) };
/** The command of a person at a terminal, who enters this key and gives these answers. */
function seated(key: string, ...answers: (string | null)[]) {
  const asked: string[] = [];
  const readLine = async (question: string) => {
    asked.push(question);
    return answers.shift() ?? null;
  };
  return { asked, run: defineConfigCommand(() => ({ askHidden: async () => key, readLine })) };
}
const say = (process: Process, line: string, typed: Typed = {}) =>
  process.run(config, { words: line.split(" "), ...typed });
const stored = ({ home }: Process) => JSON.parse(readFileSync(home.config("credentials.json"), "utf8")).providers;

const gateway = "0123456789abcdef0123456789abcdef";

test("at a terminal a key of an unknown shape is stored for whom the person names", async () => {
  const process = openProcess();
  const person = seated(gateway, "mistral");
  expect(await process.run(person, { words: ["set"] })).toMatchObject({
    code: 0,
    out: "Stored the mistral key primary: 012345...cdef\n",
  });
  expect(person.asked).toEqual(["whose key is it? gemini, openai, anthropic, openrouter, mistral: "]);
  for (const answer of ["", "nobody", null])
    expect((await process.run(seated(gateway, answer), { words: ["set"] })).code).toBe("usage");
  expect(stored(process)).toEqual({ mistral: { default: "primary", keys: { primary: gateway } } });
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

test("keys of today and of a gateway are stored without a question or a warning", async () => {
  const process = openProcess();
  const today = seated(`AQ.${"Ab8RN6-_".repeat(6)}`);
  expect((await process.run(today, { words: ["set"] })).err).toBe("check it: pai config validate --online\n");
  const own = seated(gateway);
  const env = { OPENAI_BASE_URL: "https://gateway.example/v1" };
  const { code, err } = await process.run(own, { words: ["set"], flags: { provider: "openai" }, env });
  expect([code, today.asked, own.asked]).toEqual([0, [], []]);
  expect(err).not.toContain("does not look");
  // Keys of Bedrock are base64.
  expect((await say(process, "add aws", { stdin: "ABSKQmVkcm9ja0FQSUtleQ==" })).code).toBe(0);
});

test.each([
  ["set model gemini:x", "usage", "pai config put model VALUE"],
  ["set limits.calls", "usage", "pai config put limits.calls VALUE"],
  ["set limits.calls=3", "usage", "pai config put limits.calls VALUE"],
  ["set PAI_MODEL=x", "usage", "pai config put model VALUE"],
  ["add work mode auto", "usage", "pai config put mode VALUE"],
  ["set export GEMINI_API_KEY=AIzaSecret", "usage", "pai config set --provider gemini"],
  ["set OPENAI_API_KEY=sk-Secret", "usage", "pai config set --provider openai"],
  ["set api_key=Secret", "key_invalid", "pai config put NAME VALUE"],
  ["set AIzaSecret and more", "key_invalid", "pai config put NAME VALUE"],
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
