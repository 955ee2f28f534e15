/** Rules of the command line that no other transcript shows: questions, names of flags, places, settings, keys (R15-R49). */
import { expect, setDefaultTimeout, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOutcome } from "../contract.ts";
import { canary, openPlace, type Place, patience, readTree } from "../harness.ts";
import { done, hello, planned, talked } from "../replies.ts";
import { inTerminal, openScreen } from "../screen.ts";

setDefaultTimeout(patience);

const configIn = ({ home }: Place) => join(home, ".config/pai-code/config.json");

function configure(place: Place, text: string): void {
  mkdirSync(join(place.home, ".config/pai-code"), { recursive: true, mode: 0o700 });
  writeFileSync(configIn(place), text, { mode: 0o600 });
}

test.concurrent("without a terminal nothing is asked: a missing yes ends with 10 and names -y (R15)", async () => {
  await using place = openPlace([hello[0] ?? {}, ...hello]);
  for (const args of [["run", "make hello.txt"], ["undo"]]) {
    if (args[0] === "undo") await place.pai(["run", "-y", "make hello.txt"]);
    const { code, stderr } = await place.pai(args, { stdin: "y\n" });
    expect([args, code]).toEqual([args, 10]);
    expect(stderr).toContain("-y");
  }
});

inTerminal("--no-input never asks, at a terminal either (R15)", async () => {
  await using place = openPlace(hello);
  using screen = openScreen(place, { columns: 80, rows: 24 });
  screen.enter('"$PAI" run --no-input "make hello.txt"; echo "ended with $?"');
  await screen.shows(/ended with 10/);
  expect(place.tree()).toEqual({});
});

inTerminal("CI changes nothing: a terminal is asked, and in colour (R20)", async () => {
  await using place = openPlace(hello);
  using screen = openScreen(place, { columns: 80, rows: 24 });
  await screen.shell("true");
  screen.record(join(place.spare, "bytes"));
  screen.enter('CI=true GITHUB_ACTIONS=true "$PAI" run "make hello.txt"; echo "ended with $?"');
  await screen.shows(/or say what to change/);
  screen.enter("y");
  await screen.shows(/ended with 0/);
  expect(readFileSync(join(place.spare, "bytes"), "utf8")).toContain("\x1b[32m");
});

test.concurrent("-y answers, and widens nothing: no deletion, no closed path, no target outside --only (R16, R17)", async () => {
  for (const [step, flags] of [
    [["RM", "a.txt"], []],
    [["WRITE", ".env"], []],
    [
      ["WRITE", "b.txt"],
      ["--only", "src/**"],
    ],
  ] as const) {
    await using place = openPlace([planned([step]), done("")], { "a.txt": "one\n" });
    const outcome = readOutcome(await place.pai(["run", "-y", "--json", ...flags, "do it"]));
    expect([step, outcome.code, place.gemini.requests.length]).toEqual([step, 12, 1]);
    expect(place.tree()).toEqual({ "a.txt": "one\n" });
  }
});

test.concurrent("the usual names of flags mean the usual things (R26)", async () => {
  await using place = openPlace();
  const { stdout } = await place.pai(["help", "run"]);
  for (const name of ["-q, --quiet", "-v, --verbose", "-n, --dry-run", "-f, --file", "-m, --model", "-C, --cwd"])
    expect(stdout).toContain(name);
  for (const name of ["--json", "--no-color", "--timeout"]) expect(stdout).toContain(name);
  expect((await place.pai(["help", "plan"])).stdout).toContain("-o, --output");
});

test.concurrent("settings and state are in the XDG folders, and nowhere else; relative ones are ignored (R39)", async () => {
  await using place = openPlace([...hello, talked("Hello.")]);
  const env = { XDG_CONFIG_HOME: join(place.spare, "c"), XDG_STATE_HOME: join(place.spare, "s") };
  await place.pai(["config", "put", "limits.calls", "9"], { env });
  expect((await place.pai(["run", "-y", "make hello.txt"], { env })).code).toBe(0);
  expect(readdirSync(place.home)).toEqual([]);
  expect([readdirSync(env.XDG_CONFIG_HOME), readdirSync(env.XDG_STATE_HOME)]).toEqual([["pai-code"], ["pai-code"]]);
  const relative = { XDG_CONFIG_HOME: "here", XDG_STATE_HOME: "there" };
  await place.pai(["run", "say hello"], { env: relative });
  expect(readdirSync(place.root).sort()).toEqual([".pai_history", "hello.txt"]);
});

test.concurrent("an unknown setting warns once, a wrong type names file and line (R43)", async () => {
  await using place = openPlace([talked("Hello.")]);
  configure(place, '{\n  "modle": "x"\n}\n');
  const warned = await place.pai(["run", "say hello"]);
  expect([warned.code, warned.stderr.split("modle").length - 1]).toEqual([0, 1]);
  configure(place, '{\n  "temperature": "warm"\n}\n');
  const { code, stderr } = await place.pai(["run", "say hello"]);
  expect([code, stderr]).toEqual([3, expect.stringContaining("config.json, line 2")]);
});

test.concurrent("only pai config writes settings: comments and links stay, nothing is written at start (R44)", async () => {
  await using place = openPlace([talked("Hello.")]);
  await place.pai(["run", "--ephemeral", "say hello"]);
  expect(readTree(place.home)).toEqual({});
  configure(place, "");
  const target = join(place.home, "dotfiles.json");
  writeFileSync(target, '{\n  // mine\n  "other": 1\n}\n', { mode: 0o600 });
  await place.shell(`rm '${configIn(place)}'`);
  symlinkSync(target, configIn(place));
  expect((await place.pai(["config", "put", "limits.calls", "9"])).code).toBe(0);
  expect(lstatSync(configIn(place)).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, "utf8")).toMatch(/^{\n {2}\/\/ mine\n {2}"other": 1[\s\S]*"calls": 9/);
});

test.concurrent("each provider's own variables are read, and PAI_BASE_URL wins (R47)", async () => {
  const unused = "http://127.0.0.1:9";
  for (const env of [
    { GEMINI_API_KEY: null, GOOGLE_API_KEY: canary },
    { GOOGLE_API_KEY: "AIzaSyTheOtherKeyThatIsNotUsed-0123456" },
    { GOOGLE_GEMINI_BASE_URL: unused },
  ]) {
    await using place = openPlace([talked("Hello.")]);
    expect((await place.pai(["run", "say hello"], { env })).code).toBe(0);
    expect(place.gemini.requests[0]?.key).toBe(canary);
  }
  await using place = openPlace([talked("Hello.")]);
  const own = { PAI_BASE_URL: null, GOOGLE_GEMINI_BASE_URL: place.gemini.origin };
  expect((await place.pai(["run", "say hello"], { env: own })).code).toBe(0);
  for (const [model, variable] of [
    ["openai:gpt-5", "OPENAI_BASE_URL"],
    ["anthropic:claude-sonnet-4-5", "ANTHROPIC_BASE_URL"],
    ["local:tiny", "OLLAMA_HOST"],
  ] as const) {
    const env = {
      PAI_BASE_URL: null,
      OPENAI_API_KEY: "sk-0123456789abcdefghij",
      ANTHROPIC_API_KEY: "sk-ant-0123456789",
    };
    const { stdout } = await place.pai(["doctor", "--json", "-m", model], { env: { ...env, [variable]: unused } });
    expect([model, stdout.includes("127.0.0.1:9")]).toEqual([model, true]);
  }
});

test.concurrent("TMPDIR is where temporary folders are made (R49)", async () => {
  await using place = openPlace();
  expect((await place.pai(["demo", "--keep"], { env: { TMPDIR: place.spare } })).code).toBe(0);
  expect(readdirSync(place.spare).filter((name) => name.startsWith("pai-demo-"))).toHaveLength(1);
});
