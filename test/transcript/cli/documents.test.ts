/** The documents of commands that are no run, and what `-q` and a missing folder mean to them. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCommand } from "../contract.ts";
import { openPlace, patience } from "../harness.ts";
import { hello } from "../replies.ts";

setDefaultTimeout(patience);

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
  for (const args of [["history"], ["context", "fix it all"], ["log", "verify"], ["sessions"], ["config", "list"]]) {
    expect([args, (await place.pai(args)).stderr === ""]).toEqual([args, false]);
    expect([args, (await place.pai([...args, "-q"])).stderr]).toEqual([args, ""]);
  }
  expect((await place.pai(["demo", "--json", "-q"], { env: bare })).stderr).toBe("");
});

test.concurrent("plain in the settings is --plain", async () => {
  await using place = openPlace(hello);
  const env = { FORCE_COLOR: "1" };
  const show = async (...args: string[]) => {
    const { stdout, stderr, code } = await place.pai(args, { env });
    return [code, (stdout + stderr).includes("\x1b[")];
  };
  expect(await show("run", "-n", "--no-plan-cache", "make hello.txt")).toEqual([0, true]);
  expect(await show("config", "set", "plain", "true")).toEqual([0, false]);
  await using again = openPlace(hello);
  const options = { env: { ...env, XDG_CONFIG_HOME: join(place.home, ".config") } };
  const made = await again.pai(["run", "-y", "make hello.txt"], options);
  const undone = await again.pai(["undo", "-n"], options);
  expect([made.code, undone.code]).toEqual([0, 0]);
  expect(made.stdout + made.stderr + undone.stdout).not.toContain("\x1b[");
});

test.concurrent("sessions prune takes how many to keep, never a session's name", async () => {
  await using place = openPlace();
  const folder = join(place.spare, "state");
  const env = { PAI_STATE_DIR: folder };
  for (const words of [
    ["prune", "20261121-101010-0a0b0c0d"],
    ["prune", "all"],
    ["prune", "-", "1"],
    ["list", "x"],
  ]) {
    expect([words, (await place.pai(["sessions", ...words], { env })).code]).toEqual([words, 2]);
  }
  expect((await place.pai(["sessions", "prune", "0"], { env })).stdout).toBe("0 sessions deleted\n");
});

test.concurrent("a session has no document: --json and --jsonl are not its flags (R24)", async () => {
  await using place = openPlace();
  for (const command of ["auto", "resume"]) {
    expect((await place.pai(["help", command])).stdout).not.toContain("--json");
    for (const flag of ["--json", "--jsonl"]) {
      const { code, stdout } = await place.pai([command, flag]);
      expect([code, stdout]).toEqual([2, expect.stringContaining(`does not take ${flag}`)]);
    }
  }
});
