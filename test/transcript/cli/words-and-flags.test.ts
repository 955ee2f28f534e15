/** The command line itself: help, version, mistyped words, the order of flags, documents of commands, questions (R02, R15-R49). */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commands } from "../../../src/cli/command-table.ts";
import { expectPlain, readCommand } from "../contract.ts";
import { configure, openPlace } from "../harness.ts";
import { hello, talked } from "../replies.ts";
import { inTerminal, openScreen } from "../screen.ts";

const names = commands.map(({ name }) => name);

test.concurrent("help X, X --help and X -h say the same, without home, key or network (R21)", async () => {
  await using place = openPlace();
  const bare = { env: { HOME: null, GEMINI_API_KEY: null, PAI_BASE_URL: null, PATH: null } };
  for (const name of ["run", "config", "history"]) {
    const ways = [
      ["help", name],
      [name, "--help"],
      [name, "-h"],
    ].map((args) => place.pai(args, bare));
    const [one, two, three] = await Promise.all(ways);
    expect([one?.code, one?.stderr, two, three]).toEqual([0, "", one, one]);
  }
  expect(place.gemini.requests).toHaveLength(0);
});

test.concurrent("pai help names every command and every exit code (R08, R27)", async () => {
  await using place = openPlace();
  const { stdout, code } = await place.pai(["help"]);
  expect(code).toBe(0);
  for (const name of names) expect(stdout).toContain(name);
  expect(stdout).toMatch(/\nExamples:\n(?: {2}pai .+\n)+\nCommands:\n[\s\S]*\nMore:\n[\s\S]*\nFor programs:\n/);
  for (const rc of ["14", "124", "129", "130", "143"]) expect(stdout).toContain(rc);
  expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect((await place.pai(["--help"])).stdout).toBe(stdout);
  expect((await place.pai(["help", "rnu"])).stderr).toContain("pai help run");
});

test.concurrent("--version is one line, with --json a document (R22)", async () => {
  await using place = openPlace();
  for (const args of [["--version"], ["-V"]]) {
    const { stdout, stderr, code } = await place.pai(args);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^pai \d+\.\d+\.\d+\S*\n$/);
  }
  for (const args of [
    ["--version", "--json"],
    ["--json", "--version"],
  ]) {
    const { command, data } = readCommand(await place.pai(args));
    expect([command, data]).toEqual([
      "version",
      {
        version: expect.any(String),
        commit: expect.any(String),
        public_key: null,
        target: expect.stringContaining("linux"),
        runtime: expect.stringContaining("bun"),
      },
    ]);
  }
});

test.concurrent("without a terminal pai alone is a usage error, never a wait (R23)", async () => {
  await using place = openPlace();
  for (const args of [[], ["--continue"], ["-y"]]) {
    const { stdout, stderr, code } = await place.pai(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("needs a terminal");
    expect(stderr).toContain('usage without one: pai "TASK"');
  }
});

test.concurrent("a mistyped word or flag is met with a suggestion and costs no call (R24, R25)", async () => {
  await using place = openPlace([talked("no"), talked("no")]);
  for (const [args, hint, code = 2] of [
    [["histroy"], "pai history"],
    [["undoo"], "pai undo"],
    [["fix"], "pai run fix"],
    [["run", "--jsonn", "make it"], "--json"],
    [["run", "--max-call=3", "make it"], "--max-calls"],
    [["make", "hello.txt"], '"make hello.txt"'],
    [["unod", "2026"], "pai undo 2026"],
    [["config", "lst"], "list"],
    [["sessions"], "pai resume --list"],
    [["auto"], "pai"],
    [["schema", "jsnol"], "pai schema json"],
    [["completion", "bsh"], "bash, zsh, fish"],
    [["completion", "bsh"], "pai completion bash?"],
    [["run", "--mode", "tool-lop", "make it"], "--mode tool-loop"],
    [["key", "list", "--provider=opnai"], "did you mean openai?"],
    [["run", "-m", "gemni:gemini-2.5-pro", "make it"], "did you mean gemini:gemini-2.5-pro?", 3],
  ] as const) {
    const result = await place.pai(args);
    expectPlain(result);
    expect([args, result.code, result.stdout]).toEqual([args, code, ""]);
    expect(result.stderr).toContain(hint);
  }
  expect(place.gemini.requests).toHaveLength(0);
});

test.concurrent("a task needs no run when it is more than a bare word (R25)", async () => {
  for (const task of ["say hello", "hello?", "見て"]) {
    await using place = openPlace([talked("Hello.")]);
    expect(await place.pai([task])).toMatchObject({ code: 0, stdout: "Hello.\n" });
  }
});

test.concurrent("words nobody reads, two forms of one output, a document of a session are usage errors (R24)", async () => {
  await using place = openPlace([talked("no")]);
  for (const args of [
    ["history", "all"],
    ["models", "gemini"],
    ["demo", "twice"],
    ["doctor", "me"],
    ["trust", "me"],
    ["undo", "a", "b"],
    ["run", "--json", "--jsonl", "say hello"],
    ["stats", "--csv", "--json"],
    ["run", "-m", "replay:none.jsonl", "say hello"],
    ["run", "-y", "--only", "!src/**", "say hello"],
    ["run", "-y", "--env", "A=1", "say hello"],
    ...[["--json"], ["--jsonl"], ["resume", "--json"], ["resume", "--jsonl"], ["resume", "--list", "20261121"]],
  ]) {
    const { code, stderr, stdout } = await place.pai(args);
    expect([args, code, stderr === "" && stdout === ""]).toEqual([args, 2, false]);
  }
  expect(place.gemini.requests).toHaveLength(0);
});

test.concurrent("the demo plays offline, as text and as one document", async () => {
  await using place = openPlace();
  const { code, stdout } = await place.pai(["demo"], { env: { GEMINI_API_KEY: null, HOME: null } });
  expect(code).toBe(0);
  for (const part of ["BMI calculator", "Severely Obese", "pai undo -y", "took back"]) expect(stdout).toContain(part);
  const document = readCommand(await place.pai(["demo", "--json"]));
  const { runs } = document.data as { readonly runs: readonly { readonly ok: boolean }[] };
  expect(runs.map(({ ok }) => ok)).toEqual([true, true, true, true]);
  expect([place.tree(), place.gemini.requests.length]).toEqual([{}, 0]);
});

test.concurrent("the runtime's own switches do nothing but what they say", async () => {
  await using place = openPlace();
  const env = { NODE_OPTIONS: "--require ./evil.js", NODE_ENV: "test" };
  expect(await place.pai(["--version"], { env })).toMatchObject({ code: 0, stderr: "" });
});

test.concurrent("a task file that is a folder or is not there says so, whatever its name", async () => {
  await using place = openPlace();
  for (const [file, why] of [
    [".", "is a folder"],
    ["sub", "is a folder"],
    ["gone.md", "does not exist"],
  ] as const) {
    mkdirSync(join(place.root, "sub"), { recursive: true });
    const { code, stderr } = await place.pai(["run", "-f", file]);
    expect([file, code]).toEqual([file, 2]);
    expect(stderr.replace(/\s+/g, " ")).toMatch(new RegExp(`the task file cannot be read: .*${why}`));
  }
});

const bare = { GEMINI_API_KEY: null, PAI_BASE_URL: null };

test.concurrent("help, schema and a list of sessions answer with a document under --json (R02)", async () => {
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
  const listed = readCommand(await place.pai(["resume", "--list", "--prune", "--json"]));
  expect(listed).toMatchObject({ command: "resume", data: { sessions: [], deleted: 0 } });
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
  configure(place, { nonsense: 1 });
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

inTerminal("CI changes nothing: a terminal is asked, and in colour (R20)", async () => {
  await using place = openPlace(hello);
  using screen = openScreen(place, { columns: 80, rows: 24 });
  await screen.shell("true");
  screen.record(join(place.spare, "bytes"));
  const line = 'CI=true GITHUB_ACTIONS=true "$PAI" run "make hello.txt"; echo "ended with $?"';
  await screen.say(line, /or say what to change/);
  await screen.say("y", /ended with 0/);
  expect(readFileSync(join(place.spare, "bytes"), "utf8")).toContain("\x1b[32m");
});

test.concurrent("TMPDIR is where temporary folders are made (R49)", async () => {
  await using place = openPlace();
  expect((await place.pai(["demo", "--keep"], { env: { TMPDIR: place.spare } })).code).toBe(0);
  expect(readdirSync(place.spare).filter((name) => name.startsWith("pai-demo-"))).toHaveLength(1);
});
