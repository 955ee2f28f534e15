/** `pai doctor`: exit 0 or 1, origins of everything, and never a key. */
import { expect, test } from "bun:test";
import { chmodSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { doctorCommand } from "../../src/cli/commands/doctor.ts";
import { stateFolderOf } from "../../src/workspace/journal/journal.ts";
import { useServer } from "../models/loopback.ts";
import { put } from "../store/temp-home.ts";
import { openProcess, type Process, type Typed } from "./fake-context.ts";

const server = useServer();
const key = `AIza${"dOcToR1234".repeat(3)}tail`;
const offline = { offline: true, json: true };

const examine = async (process: Process, typed: Typed) => {
  const { code, out } = await process.run({ run: doctorCommand }, typed);
  return { code, out, findings: JSON.parse(out).data.findings as { name: string; level: string; text: string }[] };
};

test("without a key pai cannot work: exit 1 and what to do (R69)", async () => {
  const { code, findings } = await examine(openProcess(), { flags: offline });
  const none = { name: "key", level: "error", text: "no key for gemini", hint: "store one with: pai key set" };
  expect([code, findings.filter(({ level }) => level === "error")]).toEqual([1, [none]]);
});

test("with a key: exit 0, its origin and never its value, nothing written", async () => {
  const process = openProcess();
  const env = { GEMINI_API_KEY: key, PAI_MAX_CALLS: "7", HTTPS_PROXY: "http://me:swordfish@proxy:3128", PATH: "" };
  const { code, out, findings } = await examine(process, { flags: offline, env });
  const textOf = (name: string) => findings.find((finding) => finding.name === name)?.text;
  const told = [textOf("key"), textOf("proxy")];
  expect([code, ...told]).toEqual([0, "gemini: env (GEMINI_API_KEY)", "HTTPS_PROXY=http://proxy:3128"]);
  expect(textOf("settings")).toContain("limits.calls = 7 (PAI_MAX_CALLS)");
  for (const name of ["pai", "libc", "model", "disk", "git"]) expect([name, textOf(name)]).not.toContain(undefined);
  for (const secret of [key.slice(4, -4), "swordfish"]) expect(out).not.toContain(secret);
});

test("text for people ends in a verdict; broken settings are named", async () => {
  const process = openProcess();
  const good = await process.run({ run: doctorCommand }, { flags: { offline: true }, env: { GEMINI_API_KEY: key } });
  expect(good.out).toEndWith("\npai can work here\n");
  put(process.home.config("config.json"), "{\n oops");
  const bad = await process.run({ run: doctorCommand }, { flags: { offline: true } });
  expect([bad.code, bad.out.replace(/\s+/g, "")]).toEqual([1, expect.stringContaining("config.json,line2:")]);
});

test("a file of keys that is damaged, or that others may read, is told even where a variable holds the key", async () => {
  const process = openProcess();
  const file = process.home.config("credentials.json");
  const typed = { flags: offline, env: { GEMINI_API_KEY: key } };
  const told = async () => (await examine(process, typed)).findings.filter(({ name }) => name === "credentials");
  expect(await told()).toEqual([]);
  put(file, '{"version":3,"providers":{}}');
  expect(await told()).toEqual([]);
  chmodSync(file, 0o644);
  const hint = `chmod 600 ${file}`;
  expect(await told()).toMatchObject([{ level: "warning", text: `others may read ${file}`, hint }]);
  put(file, '{"version":3,');
  const text = `${file} is damaged, or of another version of pai`;
  expect([(await examine(process, typed)).code, await told()]).toMatchObject([0, [{ level: "warning", text }]]);
});

test("a file of keys that is damaged is told once, and a memory that is damaged keeps pai from working", async () => {
  const process = openProcess();
  put(process.home.config("credentials.json"), '{"version":3,');
  const { findings } = await examine(process, { flags: offline });
  expect(findings.filter(({ text }) => text.endsWith("of another version of pai"))).toHaveLength(1);
  const other = openProcess();
  const typed = { flags: offline, env: { GEMINI_API_KEY: key } };
  expect((await examine(other, typed)).code).toBe(0);
  const state = stateFolderOf(realpathSync(other.home.root), other.home.places.stateDir ?? "");
  put(join(state, "memory.json"), '{"facts": [');
  const told = await examine(other, typed);
  const faults = told.findings.filter(({ level }) => level === "error");
  expect([told.code, faults.map(({ name }) => name)]).toEqual([1, ["memory"]]);
});

test("asks the endpoint without a key; where nobody answers pai cannot work (R69)", async () => {
  server.answer = () => new Response("", { status: 404 });
  const address = server.origin;
  const typed = { flags: { json: true }, env: { GEMINI_API_KEY: key, PAI_BASE_URL: address } };
  const { code, findings } = await examine(openProcess(), typed);
  expect(code).toBe(0);
  expect(server.seen.map(({ headers }) => headers.get("x-goog-api-key"))).toEqual([null]);
  const told = findings.find(({ name }) => name === "endpoint")?.text;
  expect(told).toBe(`${address} answers with 404 (PAI_BASE_URL)`);
  const away = { GEMINI_API_KEY: key, PAI_BASE_URL: "http://127.0.0.1:9" };
  expect((await examine(openProcess(), { flags: { json: true }, env: away })).code).toBe(1);
});

test("says which protections are in force (R69)", async () => {
  const { findings } = await examine(openProcess(), { flags: offline, env: { GEMINI_API_KEY: key } });
  const levels = Object.fromEntries(findings.map(({ name, level }) => [name, level]));
  expect(levels).toMatchObject({ writing: "ok", sandbox: "ok" });
});

test.each([
  ["near", 0, "ok"],
  ["far off", 3_600_000, "warning"],
] as const)("a clock %s the server's is a finding of its own (R69)", async (_, skew, level) => {
  server.answer = () => new Response("", { headers: { date: new Date(Date.now() - skew).toUTCString() } });
  const env = { GEMINI_API_KEY: key, PAI_BASE_URL: server.origin };
  const { findings } = await examine(openProcess(), { flags: { json: true }, env });
  expect(findings.find(({ name }) => name === "clock")?.level).toBe(level);
});
