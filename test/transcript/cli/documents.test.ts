/** The documents of commands that are no run, and what `-q` and a missing folder mean to them. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCommand } from "../contract.ts";
import { openPlace } from "../harness.ts";

const bare = { GEMINI_API_KEY: null, PAI_BASE_URL: null };

test.concurrent("help and schema answer with a document under --json (R02)", async () => {
  await using place = openPlace();
  const all = readCommand(await place.pai(["help", "--json"]));
  expect(all.data).toMatchObject({ commands: expect.arrayContaining([expect.objectContaining({ name: "run" })]) });
  for (const args of [
    ["help", "undo", "--json"],
    ["undo", "--help", "--json"],
  ]) {
    const { command, data } = readCommand(await place.pai(args));
    expect([command, data]).toMatchObject(["help", { name: "undo", usage: "[RUN]" }]);
  }
  const plain = JSON.parse((await place.pai(["schema", "plan"])).stdout);
  expect(readCommand(await place.pai(["schema", "plan", "--json"])).data).toEqual(plain);
});

test.concurrent("a folder that is not there is refused by name, whatever the command", async () => {
  await using place = openPlace();
  for (const args of [["doctor", "--offline"], ["trust"], ["config", "list"], ["history"], ["run", "make it so"]]) {
    const { code, stderr } = await place.pai([...args, "-C", "none"]);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining("pai: -C none: no such folder")]);
  }
});

test.concurrent("config get and models take -C: a project's settings are among what is in force", async () => {
  await using place = openPlace([], { "sub/pai.json": '{"limits": {"calls": 7}}' });
  const { data } = readCommand(await place.pai(["config", "get", "limits.calls", "-C", "sub", "--json"]));
  expect(data).toEqual({ name: "limits.calls", value: 7, origin: "pai.json" });
  expect((await place.pai(["models", "-C", "sub"])).code).toBe(0);
});

test.concurrent("-q leaves standard error to errors, in every command", async () => {
  await using place = openPlace([], { "pai.json": '{"model": "gemini:other"}' });
  mkdirSync(join(place.home, ".config/pai-code"), { recursive: true, mode: 0o700 });
  writeFileSync(join(place.home, ".config/pai-code/config.json"), '{"nonsense": 1}', { mode: 0o600 });
  for (const args of [
    ["history"],
    ["context", "fix it all"],
    ["history", "--verify"],
    ["resume", "--list"],
    ["config", "list"],
  ]) {
    expect([args, (await place.pai(args)).stderr === ""]).toEqual([args, false]);
    expect([args, (await place.pai([...args, "-q"])).stderr]).toEqual([args, ""]);
  }
  expect((await place.pai(["demo", "--json", "-q"], { env: bare })).stderr).toBe("");
});

test.concurrent("a session has no document, a list of sessions has one (R24)", async () => {
  await using place = openPlace();
  for (const args of [["--json"], ["--jsonl"], ["resume", "--json"], ["resume", "--jsonl"]])
    expect([args, (await place.pai(args)).code]).toEqual([args, 2]);
  const listed = JSON.parse((await place.pai(["resume", "--list", "--prune", "--json"])).stdout);
  expect(listed).toMatchObject({ command: "resume", data: { sessions: [], deleted: 0 } });
  expect((await place.pai(["resume", "--list", "20261121"])).code).toBe(2);
});
