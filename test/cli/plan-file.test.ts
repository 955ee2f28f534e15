/** Plans that are kept: as files, and for the next run at the same server. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../src/cli/commands/task.ts";
import { readPlanFile } from "../../src/cli/plan-file.ts";
import { PaiError } from "../../src/core/error.ts";
import { newFolder } from "../grounds.ts";
import { says } from "../models/chat/chat-wire.ts";
import { type Server, serve, sse } from "../models/loopback.ts";
import { openProcess } from "./fake-context.ts";

const saved = {
  ...{ version: 1, kind: "pai-plan", pai: "0.1.0", created: "2026-11-23T00:00:00.000Z", task: "say hello" },
  ...{ mode: "single-shot", model: "replay:x", only: [], checks: [], plan: { intent: "conversation" } },
  ...{ base: [], looks: [], changes: null, made: null, hash: "0".repeat(64) },
};

function refusalOf(text: string): Pick<PaiError, "code" | "message" | "hint"> {
  try {
    readPlanFile(text, "x.json");
  } catch (thrown) {
    if (thrown instanceof PaiError) return thrown;
    throw thrown;
  }
  throw new Error("it was read");
}

test("a foreign file is refused in one sentence that says what it is not, and how a plan is made", () => {
  const json = ['{"name":"x","version":"1.0"}', "[1,2]", "null", '"text"', '{"kind":"pai-note","task":"say hello"}'];
  const not = /^x\.json is no plan that pai can read: it [a-zA-Z ]+$/;
  for (const text of [...json, "hello there", "\u0000\u007fELF", "", " \n"]) {
    const { code, message, hint } = refusalOf(text);
    expect([text, code, message]).toEqual([text, "usage", expect.stringMatching(not)]);
    expect(hint).toBe('make one with: pai plan -o FILE "what to do"');
  }
});

test("a plan of pai with a damaged field is told which", () => {
  for (const [field, value] of Object.entries({ mode: 5, task: undefined, base: {} })) {
    const { code, message } = refusalOf(JSON.stringify({ ...saved, [field]: value }));
    expect([field, code]).toEqual([field, "usage"]);
    expect(message).toStartWith(`x.json is no plan that pai can read: ${field}: `);
  }
});

test("a plan of another version is told that, and one that was edited, too", () => {
  const message = "x.json is no plan that pai can read: it has version 2, and this pai reads version 1";
  const refused = refusalOf(JSON.stringify({ ...saved, version: 2, base: undefined }));
  expect(refused).toMatchObject({ code: "usage", message });
  expect(refusalOf(JSON.stringify(saved)).code).toBe("plan_stale");
});

const plan = JSON.stringify({ intent: "task", reply: "I write it", steps: [{ action: "WRITE", target: "b.txt" }] });
const script = "WRITE::b.txt::EOT\nhello\nEND::EOT\nFINISH::done\n";
const answer = (server: Server) => (n: number) => {
  const asked = JSON.stringify(server.seen[n]?.body);
  return sse([says(asked.includes("Carry") ? script : plan)]);
};
const [one, other] = [serve(), serve()];
afterAll(() => Promise.all([one.stop(), other.stop()]));
beforeEach(() => {
  for (const server of [one, other]) {
    server.seen.length = 0;
    server.answer = answer(server);
  }
});

/** A folder of its own, in which a task is done with a server. */
function openPlay(task: string) {
  const { run } = openProcess();
  const folder = newFolder("disk", "cache");
  writeFileSync(join(folder, "a.txt"), "one\n");
  return async ({ origin }: Server, allow: readonly string[] = []) => {
    rmSync(join(folder, "b.txt"), { force: true });
    const flags = { yes: true, model: "openrouter:a/b", cwd: folder, allow };
    const env = { PAI_BASE_URL: `${origin}/v1`, OPENROUTER_API_KEY: "sk-or-0123456789abcdef0123" };
    return (await run({ run: runCommand }, { words: [task], flags, env, stdin: "" })).code;
  };
}

// F23: server A's plan was carried out with server B.
test("a plan is used again at the same address, and made anew at another", async () => {
  const play = openPlay("make b.txt");
  expect([await play(one), await play(one), one.seen.length]).toEqual([0, 0, 3]);
  expect([await play(other), one.seen.length, other.seen.length]).toEqual([0, 3, 2]);
});

test("a plan that is refused for want of a flag is kept: with the flag only the work is asked for", async () => {
  one.answer = (n) => sse([says((n === 0 ? plan : script).replace("b.txt", "crontab"))]);
  const play = openPlay("make crontab");
  expect([await play(one), one.seen.length]).toEqual([12, 1]);
  expect([await play(one, ["crontab"]), one.seen.length]).toEqual([0, 2]);
});
