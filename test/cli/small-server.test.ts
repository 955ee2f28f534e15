/** A small model on a server of the user's own: it ignores tools, holds 4,096 tokens, wraps its plan in prose. */
import { beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../src/cli/commands/task.ts";
import { newFolder } from "../grounds.ts";
import { ollamaSays } from "../models/chat/chat-wire.ts";
import { useServer } from "../models/loopback.ts";
import { openProcess } from "./fake-context.ts";

const run = { run: runCommand };
const plan = {
  intent: "task",
  reply: "I write it",
  steps: [{ action: "write_file", target: "a.txt" }],
};
const replies = [
  `Sure! Here is the plan:\n\`\`\`json\n${JSON.stringify(plan, null, 2)}\n\`\`\`\nShall I go on?`,
  "```\nWrite::a.txt::EOT\nhello\nEND::EOT\nFINISH::done\n```",
];

const server = useServer();
let folder = "";
beforeEach(() => {
  folder = newFolder("disk", "small");
  server.about = {
    "/api/version": { version: "0.20.1" },
    "/api/show": { model_info: { "qwen3.context_length": 4096 } },
  };
  server.answer = (n) => {
    const { body } = server.seen[n] ?? { body: {} };
    const tooLong = JSON.stringify(body).length / 4 > 4096;
    if (tooLong) return Response.json({ error: "the request exceeds the available context size" }, { status: 400 });
    return new Response(ollamaSays(replies[n] ?? "?"), { headers: { "content-type": "application/x-ndjson" } });
  };
});

const play = async (task: string) => {
  const typed = {
    words: [task],
    flags: { yes: true, model: "local:qwen3:8b", cwd: folder },
    env: { OLLAMA_HOST: server.origin },
  };
  const said = await openProcess().run(run, { ...typed, stdin: "" });
  const made = existsSync(join(folder, "a.txt")) ? readFileSync(join(folder, "a.txt"), "utf8") : null;
  return { ...said, made };
};

test("a task is done in two calls that fit, even in a large project", async () => {
  for (let n = 0; n < 60; n += 1) writeFileSync(join(folder, `module${n}.py`), "x = 1\n".repeat(50));
  writeFileSync(join(folder, "AGENTS.md"), "Be brief.\n".repeat(2000));
  const { code, made, err } = await play("make a.txt with hello");
  expect([code, made, server.seen.length], err).toEqual([0, "hello\n", 2]);
  expect(server.seen.map(({ path }) => path)).toEqual(["/api/chat", "/api/chat"]);
  for (const { body } of server.seen) expect(body).toMatchObject({ options: { num_ctx: 4096 }, truncate: false });
});

test("what cannot fit is a plain error, and nothing is sent", async () => {
  const { code, err, made } = await play(`make a.txt with ${"hello ".repeat(4000)}`);
  expect([code, made, server.seen.length]).toEqual([7, null, 0]);
  expect(err).toContain("local:qwen3:8b may hold 4096");
});
