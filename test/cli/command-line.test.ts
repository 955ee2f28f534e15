/** The command line: flags, words, columns of lists, and what belongs to its surface. */
import { expect, test } from "bun:test";
import { parseArgs as parseByCitty } from "citty";
import { columnsOf, columnsOfErrors } from "../../src/cli/answer-document.ts";
import { argsForCitty, checkLine, flagsOf, orderLine } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/command-table.ts";
import { renderHelpOf } from "../../src/cli/commands/help.ts";
import { type FlagSpec, flagGroups, flagKeys, flagTable, runFlag } from "../../src/cli/flags.ts";
import { habitOfCommand, habitOfFlag } from "../../src/cli/habits.ts";
import { variables } from "../../src/cli/manual.ts";
import { toPaiError } from "../../src/core/error.ts";
import { allSettings, settingTable } from "../../src/store/setting-table.ts";
import { refit } from "../../src/ui/layout.ts";

/** What a command that takes every flag would get. */
function read(...argv: readonly string[]) {
  const line = checkLine(argv);
  const [, ...rest] = orderLine("any", line.words, line);
  const args = parseByCitty(rest, argsForCitty(flagKeys));
  return { flags: flagsOf(args, line), words: args._ };
}

function refusal(...argv: readonly string[]) {
  try {
    return read(...argv);
  } catch (thrown) {
    const { code, message, hint } = toPaiError(thrown);
    return [code, message, hint];
  }
}

test("flags may be anywhere, with = or a space, short ones joined", () => {
  const want = { flags: { yes: true, dryRun: true, model: "a:b" }, words: ["do it"] };
  expect(read("-yn", "do it", "--model", "a:b")).toEqual(want);
  expect(read("-y", "--dry-run", "-ma:b", "do it")).toEqual(want);
  expect(read("do it", "-nym=a:b")).toEqual(want);
  expect(read("--model=a:b", "-n", "do it", "-y")).toEqual(want);
});

test("the last of several values wins, and a repeatable flag keeps all", () => {
  expect(read("-m", "a", "--model", "b").flags).toEqual({ model: "b" });
  expect(read("--check", "one", "--check=two", "--only", "a").flags).toEqual({ check: ["one", "two"], only: ["a"] });
});

test("-- ends the flags, and a lone - is a word", () => {
  expect(read("-y", "--", "--json", "-x", "--")).toEqual({ flags: { yes: true }, words: ["--json", "-x", "--"] });
  expect(read("run", "-").words).toEqual(["run", "-"]);
});

test("an unknown flag is refused with the nearest one", () => {
  expect(refusal("--modle", "x")).toEqual(["usage", "unknown flag --modle", "did you mean --model?"]);
  expect(refusal("--no-yes")).toEqual(["usage", "unknown flag --no-yes", "see: pai help"]);
  expect(refusal("-t", "0.5")).toEqual(["usage", "unknown flag -t", "see: pai help"]);
  expect(refusal("--allow-secret", "x")).toEqual(["usage", "unknown flag --allow-secret", "--allow PATH"]);
  expect(refusal("-yz")).toEqual(["usage", "unknown flag -z", "see: pai help"]);
  expect(refusal("--__proto__")).toEqual(["usage", "unknown flag --__proto__", "see: pai help"]);
});

test("a missing value is refused, also when another flag follows", () => {
  const message = "--model needs a value: --model PROVIDER:NAME";
  for (const argv of [["--model"], ["-m"], ["--model="], ["-m="], ["--model", ""], ["--model", "--yes"]])
    expect(refusal(...argv)).toEqual(["usage", message, null]);
});

test("a value may begin with a dash", () => {
  expect(read("--max-calls", "-1", "--check", "-x", "--check", "--unknown").flags).toEqual({
    maxCalls: "-1",
    check: ["-x", "--unknown"],
  });
});

test("a switch takes no value, and a choice is one of its words", () => {
  expect(refusal("--yes=3")).toEqual(["usage", "--yes takes no value", null]);
  expect(refusal("--mode", "tool-lop")).toEqual([
    "usage",
    "--mode must be one of single-shot, eight-step, tool-loop, auto",
    "did you mean --mode tool-loop?",
  ]);
  expect(read("--mode", " auto ").flags).toEqual({ mode: "auto" });
});

test("--allow-run takes a pattern behind = only, keeps all of them, and alone it means every command", () => {
  expect(read("--allow-run", "pytest").flags).toEqual({ allowRun: true });
  expect(read("--allow-run", "pytest").words).toEqual(["pytest"]);
  expect(read("--allow-run=npm test", "--allow-run=make *").flags).toEqual({ allowRun: ["npm test", "make *"] });
  expect(read("--allow-run=a", "--allow-run").flags).toEqual({ allowRun: true });
  expect(read("--allow-run", "--allow-run=a").flags).toEqual({ allowRun: true });
  expect(refusal("--allow-run=")).toEqual(["usage", "--allow-run needs a value: --allow-run=PATTERN", null]);
  expect(() => runFlag(read("--allow-run=a; b").flags)).toThrow("matches no pattern");
});

test("every setting names a flag that exists", () => {
  const named = Object.values(settingTable).flatMap((setting) => ("flag" in setting && setting.flag) || []);
  expect(named.filter((key) => !Object.hasOwn(flagTable, key))).toEqual([]);
});

test("flags of other agents are answered with what they are called here", () => {
  expect(refusal("--yolo")).toEqual(["usage", "unknown flag --yolo", "pai run -y --allow-run --allow-delete"]);
  expect(refusal("-p", "fix it")).toMatchObject(["usage", "unknown flag -p", expect.stringContaining('pai "TASK"')]);
});

test("no habit is the name of a command or flag that exists, and none names a flag that does not", () => {
  const flags = Object.values<FlagSpec>(flagTable).flatMap(({ name, short }) => [`--${name}`, `-${short}`]);
  expect(commands.filter(({ name }) => habitOfCommand(name) !== null)).toEqual([]);
  expect(flags.filter((flag) => habitOfFlag(flag) !== null)).toEqual([]);
});

test("COLUMNS says it, else the terminal; one that says 0 does not know and counts as 80 (R49)", () => {
  const own = Object.getOwnPropertyDescriptor(process.stderr, "columns");
  const widthOn = (columns: number | undefined, env = {}) => {
    Object.defineProperty(process.stderr, "columns", { value: columns, configurable: true });
    return columnsOf(env);
  };
  const widths = [widthOn(100, { COLUMNS: "40" }), widthOn(100, { COLUMNS: "x" }), widthOn(0), widthOn(undefined)];
  if (own === undefined) Reflect.deleteProperty(process.stderr, "columns");
  else Object.defineProperty(process.stderr, "columns", own);
  expect(widths).toEqual([40, 100, 80, 80]);
});

test("what goes to no terminal has no width to be wrapped to (R12)", () => {
  const tty = { stdin: true, stdout: true, stderr: false, keyboard: true };
  expect(columnsOfErrors({ tty, env: { COLUMNS: "40" } })).toBeNull();
});

const run = commands.find(({ name }) => name === "run");

test("run takes at most 50 flags, each in a group, and its help fits two screens of 80 x 40", () => {
  if (run === undefined) throw new Error("no command run");
  const grouped = Object.values(flagGroups).flatMap((keys) => keys.map((key): FlagSpec => flagTable[key]));
  expect([run.flags.length <= 50, run.flags.filter((flag) => !grouped.includes(flag))]).toEqual([true, []]);
  expect(renderHelpOf(run).trimEnd().split("\n").length).toBeLessThanOrEqual(80);
});

test("the help of a command names each of its flags and fits into 80 columns", () => {
  for (const command of commands) {
    const help = renderHelpOf(command);
    expect([command.name, help.split("\n").filter((line) => line.length > 80)]).toEqual([command.name, []]);
    const missing = command.flags.filter(({ name }) => !help.includes(`--${name}`));
    expect([command.name, missing]).toEqual([command.name, []]);
    expect(help).toMatch(
      new RegExp(`^pai ${command.name}: .+\n\nUsage:\n {2}pai ${command.name}\\b[\\s\\S]*\nExamples:\n`),
    );
  }
});

test("on a narrow terminal help breaks between words", () => {
  for (const command of commands) {
    const help = refit(renderHelpOf(command, 60), 60);
    expect(help.split("\n").filter((line) => line.length > 60)).toEqual([]);
    expect(help.split(/\s+/)).toEqual(renderHelpOf(command).split(/\s+/));
  }
});

test("there are at most 32 settings, the address of a provider counted once, and 30 variables", () => {
  const names = new Set(allSettings.map(({ name }) => name.replace(/^baseUrl\..*/, "baseUrl.PROVIDER")));
  const variable = variables.flatMap(([listed]) => listed.split(", "));
  expect([names.size <= 32, variable.length <= 30]).toEqual([true, true]);
});
