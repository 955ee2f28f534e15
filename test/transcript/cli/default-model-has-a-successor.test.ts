/** A model that its server no longer knows: what to type is named, and a session takes the successor after a yes. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, openPlace, type Place } from "../harness.ts";
import { talked } from "../replies.ts";
import { openRaw } from "../screen.ts";

const closed = (name: string, next: string): Answer => ({
  status: 404,
  body: JSON.stringify({
    error: {
      code: 404,
      message: `This model models/${name} is no longer available to new users. Please update your code to use models/${next} for the latest features and improvements.`,
      status: "NOT_FOUND",
    },
  }),
});
const listOf = (...names: string[]): Answer => ({
  body: JSON.stringify({
    models: names.map((name) => ({ name: `models/${name}`, supportedGenerationMethods: ["generateContent"] })),
  }),
});
const list = listOf("gemini-2.5-flash-lite", "gemini-3.5-flash", "gemini-4-flash-lite", "gemini-3.1-flash-lite");
const paths = ({ gemini }: Place) =>
  gemini.requests.map(({ url }) => new URL(url).pathname.replace(/^.*models/, "models"));
const config = ({ home }: Place) => join(home, ".config/pai-code/config.json");

test.concurrent("a default that is closed ends with 3 and the line to type, from the list that was asked for", async () => {
  await using place = openPlace([closed("gemini-3.5-flash-lite", "gemini-4-flash-lite"), list]);
  const { code, stderr } = await place.pai(["run", "-y", "make it"]);
  expect([code, paths(place)]).toEqual([3, ["models/gemini-3.5-flash-lite:streamGenerateContent", "models"]]);
  expect(stderr).toContain("use its successor: pai config set model gemini:gemini-4-flash-lite");
  expect(existsSync(config(place))).toBe(false);
});

test.concurrent("what else helps, such as billing, stays in the advice", async () => {
  const message = "Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: gemini-3.8-flash";
  const free: Answer = {
    status: 429,
    body: JSON.stringify({ error: { code: 429, message, status: "RESOURCE_EXHAUSTED" } }),
  };
  await using place = openPlace([free]);
  const { code, stderr } = await place.pai(["run", "-y", "-m", "gemini-3.8-flash", "make it"]);
  expect(code).toBe(3);
  expect(stderr.replace(/\s+/g, " ")).toMatch(/did you mean gemini:.*, or turn on billing for the key's project/);
});

const gone = closed("gemini-3.5-flash-lite", "gemini-4-flash-lite");

test.concurrent("a session takes the successor after a yes, goes on with the task, and keeps it", async () => {
  await using place = openPlace([gone, list, talked("Hello from the next one.")]);
  const terminal = openRaw(place);
  await terminal.sees("pai> ");
  terminal.type("say hello\r");
  await terminal.sees(/use gemini:gemini-4-flash-lite instead of gemini:gemini-3\.5-flash-lite, from now on\?/);
  terminal.type("y\r");
  await terminal.sees("Hello from the next one.");
  terminal.type("/quit\r");
  expect(await terminal.exited).toBe(0);
  expect(JSON.parse(readFileSync(config(place), "utf8")).model).toBe("gemini:gemini-4-flash-lite");
  expect(paths(place).at(-1)).toBe("models/gemini-4-flash-lite:streamGenerateContent");
});

test.concurrent("a no in a session keeps everything as it is", async () => {
  await using place = openPlace([gone, list]);
  const terminal = openRaw(place);
  await terminal.sees("pai> ");
  terminal.type("say hello\r");
  await terminal.sees("from now on?");
  terminal.type("n\r");
  await Bun.sleep(200);
  terminal.type("/quit\r");
  expect(await terminal.exited).toBe(0);
  expect([existsSync(config(place)), place.gemini.requests.length]).toEqual([false, 2]);
});
