/** Rules of the command line that no other transcript shows: questions, names of flags, places, settings, keys (R15-R49). */
import { expect, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canary, openPlace, type Place, readTree } from "../harness.ts";
import { hello, talked } from "../replies.ts";
import { inTerminal, openScreen } from "../screen.ts";

const configIn = ({ home }: Place) => join(home, ".config/pai-code/config.json");

function configure(place: Place, text: string): void {
  mkdirSync(join(place.home, ".config/pai-code"), { recursive: true, mode: 0o700 });
  writeFileSync(configIn(place), text, { mode: 0o600 });
}

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

test.concurrent("only pai config writes settings: comments and links stay, nothing is written at start (R44)", async () => {
  await using place = openPlace([talked("Hello.")]);
  await place.pai(["run", "--ephemeral", "say hello"]);
  expect(readTree(place.home)).toEqual({});
  configure(place, "");
  const target = join(place.home, "dotfiles.json");
  writeFileSync(target, '{\n  // mine\n  "other": 1\n}\n', { mode: 0o600 });
  await place.shell(`rm '${configIn(place)}'`);
  symlinkSync(target, configIn(place));
  expect((await place.pai(["config", "set", "limits.calls", "9"])).code).toBe(0);
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
