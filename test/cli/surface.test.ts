/** What a person has to learn stays small: flags, settings and variables are counted. */
import { expect, test } from "bun:test";
import { commands } from "../../src/cli/command-table.ts";
import { renderHelpOf } from "../../src/cli/commands/help.ts";
import { flagGroups, specsOf } from "../../src/cli/flags.ts";
import { variables } from "../../src/cli/manual.ts";
import { allSettings } from "../../src/store/setting-table.ts";
import { refit } from "../../src/ui/layout.ts";

const run = commands.find(({ name }) => name === "run");

test("run takes at most 50 flags, each in a group, and its help fits two screens of 80 x 40", () => {
  if (run === undefined) throw new Error("no command run");
  const grouped = specsOf(Object.values(flagGroups).flat());
  expect([run.flags.length <= 50, run.flags.filter((flag) => !grouped.includes(flag))]).toEqual([true, []]);
  const lines = renderHelpOf(run).trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(80);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
});

test("the help of a command names each of its flags", () => {
  for (const command of commands) {
    const help = renderHelpOf(command);
    const missing = command.flags.filter(({ name }) => !help.includes(`--${name}`));
    expect([command.name, missing]).toEqual([command.name, []]);
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
