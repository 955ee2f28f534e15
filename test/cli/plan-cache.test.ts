/** The plan cache: a plan belongs to the server that made it. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../src/cli/commands/task.ts";
import { newFolder } from "../grounds.ts";
import { says } from "../models/chat/chat-wire.ts";
import { type Server, serve, sse } from "../models/loopback.ts";
import { openProcess } from "./fake-context.ts";

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

// F23: server A's plan was carried out with server B.
test("a plan is used again at the same address, and made anew at another", async () => {
  const { run } = openProcess();
  const folder = newFolder("disk", "cache");
  writeFileSync(join(folder, "a.txt"), "one\n");
  const play = async ({ origin }: Server) => {
    rmSync(join(folder, "b.txt"), { force: true });
    const flags = { yes: true, model: "openrouter:a/b", cwd: folder };
    const env = { PAI_BASE_URL: `${origin}/v1`, OPENROUTER_API_KEY: "sk-or-0123456789abcdef0123" };
    const { code, err } = await run({ run: runCommand }, { words: ["make b.txt"], flags, env, stdin: "" });
    expect(code, err).toBe(0);
  };
  await play(one);
  await play(one);
  expect(one.seen.length).toBe(3);
  await play(other);
  expect([one.seen.length, other.seen.length]).toEqual([3, 2]);
});

test("a plan that is refused for want of a flag is kept: with the flag only the work is asked for", async () => {
  const { run } = openProcess();
  const folder = newFolder("disk", "cache");
  writeFileSync(join(folder, "a.txt"), "one\n");
  one.answer = (n) => sse([says((n === 0 ? plan : script).replace("b.txt", "crontab"))]);
  const play = async (allow: readonly string[]) => {
    const flags = { yes: true, model: "openrouter:a/b", cwd: folder, allow };
    const env = { PAI_BASE_URL: `${one.origin}/v1`, OPENROUTER_API_KEY: "sk-or-0123456789abcdef0123" };
    const { code } = await run({ run: runCommand }, { words: ["make crontab"], flags, env, stdin: "" });
    return [code, one.seen.length];
  };
  expect(await play([])).toEqual([12, 1]);
  expect(await play(["crontab"])).toEqual([0, 2]);
});
