/** A local server is offered where no key is set, and never used without a yes. */
import { expect, test } from "bun:test";
import type { Context } from "../../src/cli/command.ts";
import { composeBase } from "../../src/cli/compose/base.ts";
import { offerLocal } from "../../src/cli/session/offer-local.ts";
import type { FoundServer } from "../../src/models/local/discover.ts";
import { makeHome } from "../store/temp-home.ts";

const servers: readonly FoundServer[] = [
  { url: "http://127.0.0.1:8000/v1", usual: "vLLM", owner: { uid: 0, process: null }, models: ["a", "b"] },
];

async function offer(answer: string | null, env: Readonly<Record<string, string>> = {}) {
  const home = makeHome();
  let [said, looked] = ["", 0];
  const questions: string[] = [];
  const context = {
    env: { HOME: home.places.home ?? "", ...env },
    cwd: home.root,
    flags: {},
    err: (text: string) => {
      said += text;
    },
    signal: new AbortController().signal,
  } as unknown as Context;
  const readLine = async (question: string) => {
    questions.push(question);
    return answer;
  };
  const find = async () => {
    looked += 1;
    return servers;
  };
  const { settings, origins } = await offerLocal(context, composeBase(context), readLine, find);
  return { model: settings.model, url: settings.baseUrl.local, origins, said, looked, questions: questions.length };
}

const taken: readonly (readonly [string, string])[] = [
  ["2", "local:b"],
  ["y", "local:a"],
  ["ya", "local:a"],
];
test.each(taken)("%s takes a model and its address for this session", async (answer, model) => {
  const offered = await offer(answer);
  expect([offered.model, offered.url, offered.questions]).toEqual([model, "http://127.0.0.1:8000/v1", 1]);
  expect(offered.said).toContain("run by user 0");
});

const refused: readonly (string | null)[] = ["", "n", "no", "3", "0", "local", null];
test.each(refused)("%p leaves everything as it is", async (answer) => {
  const { model, url } = await offer(answer);
  expect([model, url]).toEqual(["gemini:gemini-2.5-flash-lite", null]);
});

const silent: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ["a key is set", { GEMINI_API_KEY: `AIza${"x".repeat(35)}` }],
  ["an address is set", { PAI_BASE_URL: "http://127.0.0.1:1" }],
  ["the model is local", { PAI_MODEL: "local:x" }],
  ["the model is a recording", { PAI_MODEL: "replay:x.jsonl" }],
];
test.each(silent)("nobody is looked for when %s", async (_name, env) => {
  const { looked, questions } = await offer("y", env);
  expect([looked, questions]).toEqual([0, 0]);
});
