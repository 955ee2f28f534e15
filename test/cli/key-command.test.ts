/** A key that a program of the user prints: run when needed, kept for its time, masked, and every failure named. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../src/cli/commands/task.ts";
import { openKeyCommand } from "../../src/cli/compose/key-command.ts";
import { newFolder } from "../grounds.ts";
import { says } from "../models/chat/chat-wire.ts";
import { quiet, sse, useServer } from "../models/loopback.ts";
import { put } from "../store/temp-home.ts";
import { openProcess } from "./fake-context.ts";

const folder = newFolder("disk", "key");

/** A program in a folder of PATH. */
function program(name: string, body: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return name;
}
const path = `${folder}:/usr/bin:/bin`;
const times = (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8").length : 0);

let clock = 0;
const held: string[] = [];
const open = (words: readonly string[], timeoutMs = 20_000) =>
  openKeyCommand(
    "gw",
    { words, cacheMs: 60_000, timeoutMs },
    {
      env: { PATH: path, SAID: "from the environment" },
      home: folder,
      root: "/project",
      now: () => new Date(clock),
      hold: (key) => held.push(key),
    },
  );
const failureOf = (words: readonly string[], timeoutMs?: number) =>
  open(words, timeoutMs)(quiet, null).then(
    () => null,
    (thrown) => thrown,
  );

test("the command runs once for its time, again after it, and again for a key that was refused", async () => {
  program("counting", `printf x >> ${folder}/count; echo "token-$(wc -c < ${folder}/count | tr -d ' ')-abcdefgh"`);
  const renew = open(["counting"]);
  const both = await Promise.all([renew(quiet, null), renew(quiet, null)]);
  expect(both.map(({ key }) => key)).toEqual(["token-1-abcdefgh", "token-1-abcdefgh"]);
  clock = 59_000;
  const first = await renew(quiet, null);
  expect([first.key, times("count")]).toEqual(["token-1-abcdefgh", 1]);
  clock = 61_000;
  const second = await renew(quiet, null);
  expect([second.key, times("count")]).toEqual(["token-2-abcdefgh", 2]);
  expect((await renew(quiet, first)).key).toBe("token-2-abcdefgh");
  expect((await renew(quiet, second)).key).toBe("token-3-abcdefgh");
  expect(held).toEqual(["token-1-abcdefgh", "token-2-abcdefgh", "token-3-abcdefgh"]);
});

test("it runs in the home folder with the user's variables, without the project's programs and without input", async () => {
  program("where", 'cat; printf "%s|%s\\n" "$(pwd -P)" "$SAID" | tr " " _');
  const { key } = await open(["where"])(quiet, null);
  expect(key).toEndWith("|from_the_environment");
  const inside = openKeyCommand(
    "gw",
    { words: ["where"], cacheMs: 1, timeoutMs: 1000 },
    { env: { PATH: folder }, home: folder, root: folder, now: () => new Date(0), hold: () => {} },
  );
  const error = await inside(quiet, null).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "config_invalid", message: expect.stringContaining("no such program in PATH") });
});

const failures: readonly (readonly [string, string, string])[] = [
  ["two lines", "echo one; echo two", "printed 2 lines, and a key is one"],
  ["nothing", "exit 0", "printed nothing"],
  ["a text with blanks", "echo please log in", "printed what is no key: it contains characters"],
  [
    "a failure",
    "echo token-0123456789; echo 'not logged in: run gcloud auth login' >&2; exit 7",
    "ended with 7: not logged in: run gcloud auth login",
  ],
];
test.each(failures)("%s is config_invalid with the name of the setting", async (name, body, words) => {
  const error = await failureOf([program(name.replaceAll(" ", "-"), body)]);
  expect(error).toMatchObject({ code: "config_invalid" });
  expect(error.message).toStartWith(`providers.gw.key.command (${name.replaceAll(" ", "-")}) ${words}`);
  expect(error.message).not.toContain("token-0123456789");
});

test("a program that is missing is named", async () => {
  expect((await failureOf(["no-such-program"])).message).toBe(
    "providers.gw.key.command (no-such-program) cannot be started: there is no such program in PATH",
  );
});

test("a command that hangs ends with all it started when its time is over", async () => {
  program("hanging", `(sleep 60; touch ${folder}/late) & echo $! > ${folder}/pid; sleep 60`);
  const error = await failureOf(["hanging"], 300);
  expect(error).toMatchObject({
    code: "config_invalid",
    message: "providers.gw.key.command (hanging) was not done after 0.3 s",
    hint: "if it needs longer: providers.gw.key.timeout",
  });
  const left = Number(readFileSync(join(folder, "pid"), "utf8"));
  await Bun.sleep(50);
  const status = existsSync(`/proc/${left}/status`) ? readFileSync(`/proc/${left}/status`, "utf8") : "";
  expect(status === "" || /State:\s+Z/.test(status)).toBe(true);
});

test("an interrupt ends the command", async () => {
  program("waiting", "sleep 60");
  const stop = new AbortController();
  const asked = open(["waiting"])(stop.signal, null).catch((thrown) => thrown);
  await Bun.sleep(30);
  stop.abort(new Error("stopped by the user"));
  expect((await asked).message).toBe("stopped by the user");
});

const server = useServer();

function withCommand(command: readonly string[], { PATH = path, cwd }: { PATH?: string; cwd?: string } = {}) {
  const process = openProcess();
  const row = { wire: "chat", url: server.origin, key: { command, cache: "1h" } };
  put(process.home.config("config.json"), JSON.stringify({ providers: { gw: row } }));
  const ask = () =>
    process.run(
      { run: runCommand },
      { words: ["hi"], env: { PATH }, flags: { json: true, model: "gw:m", cwd }, stdin: "" },
    );
  return { ask };
}

test("a run uses the key, renews one that the server refuses once, and shows neither", async () => {
  program("rotating", `printf x >> ${folder}/turns; echo "secret-$(wc -c < ${folder}/turns | tr -d ' ')-qwertzuiop"`);
  const said = JSON.stringify({ intent: "conversation", reply: "I saw secret-2-qwertzuiop in a file" });
  server.answer = (n) => (n === 0 ? new Response("expired", { status: 401 }) : sse([says(said)]));
  const { code, out, err } = await withCommand(["rotating"]).ask();
  expect(code).toBe(0);
  expect(server.seen.map(({ headers }) => headers.get("authorization"))).toEqual([
    "Bearer secret-1-qwertzuiop",
    "Bearer secret-2-qwertzuiop",
  ]);
  expect(out).toContain("I saw");
  expect(out + err).not.toContain("qwertzuiop");
});

test("a program of the project is not run, whether the project or its PATH is named by a link or not", async () => {
  const link = `${newFolder("disk", "links")}/link`;
  symlinkSync(folder, link);
  program("ours", "echo always-the-same-key");
  server.answer = () => sse([says(JSON.stringify({ intent: "conversation", reply: "hello" }))]);
  for (const [cwd, PATH] of [
    [folder, folder],
    [link, link],
    [link, folder],
  ] as const) {
    const { code, err } = await withCommand(["ours"], { PATH, cwd }).ask();
    expect([code, err]).toEqual(["config_invalid", expect.stringContaining("no such program in PATH")]);
  }
});

test("a key that is refused twice ends the run with 4; the same key is not sent twice", async () => {
  program("fixed", "echo always-the-same-key");
  server.answer = () => new Response("no", { status: 401 });
  const { code, err } = await withCommand(["fixed"]).ask();
  expect([code, server.seen.length]).toEqual([4, 1]);
  expect(err).toContain('gw refused the key "command"');
});

test("a command that fails ends a run with 3 before anything is sent", async () => {
  const { code, err } = await withCommand([program("broken", "exit 3")]).ask();
  expect([code, server.seen.length]).toEqual(["config_invalid", 0]);
  expect(err).toContain("providers.gw.key.command (broken) ended with 3");
});
