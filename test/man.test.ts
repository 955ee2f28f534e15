/** The man page has what help has, and roff accepts it without a warning. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { renderMan } from "../scripts/man.ts";
import { commands } from "../src/cli/command-table.ts";
import { flagTable } from "../src/cli/flags.ts";
import { exitMeanings, variables } from "../src/cli/manual.ts";
import { exitCodes } from "../src/core/error.ts";
import { modes, settingTable } from "../src/store/setting-table.ts";
import { needs } from "./needs.ts";

const page = renderMan("1.2.3", "2026-01-31");
const shown = page.replaceAll("\\-", "-");

test("pai.1 names every command, flag, exit code and variable (R38, R08)", () => {
  for (const { name } of commands) expect(shown).toContain(`.SS pai ${name}\n`);
  const taken = new Set(commands.flatMap(({ flags }) => flags.map(({ name }) => name)));
  for (const name of taken) expect(shown).toContain(`--${name}`);
  for (const [name] of [...exitMeanings, ...variables]) expect(shown).toContain(`.TP\n\\fB${name}\\fR`.slice(0, 60));
});

test("the tables of help and man hold every exit code and every setting's variable (R08, R47)", () => {
  expect(exitMeanings.map(([code]) => Number(code))).toEqual(
    [...new Set([0, ...Object.values(exitCodes)])].sort((a, b) => a - b),
  );
  const told = variables
    .map(([name]) => name)
    .join(", ")
    .split(", ");
  const read = Object.values(settingTable).flatMap((setting) => ("env" in setting ? [setting.env] : []));
  expect(read.filter((name) => name !== undefined && !told.includes(name))).toEqual([]);
});

test("the table of exit codes in docs/cli.md is the one of help (R08)", () => {
  const page = readFileSync(join(import.meta.dir, "../docs/cli.md"), "utf8");
  for (const [code, meaning] of exitMeanings)
    expect(page).toMatch(code.length < 3 ? `| ${code} | ${meaning} |` : new RegExp(`(?:^|, )${code} [a-z]`, "m"));
});

test("--mode offers the modes there are", () => {
  expect(flagTable.mode.choices).toEqual(modes);
});

needs("mandoc").test("mandoc has nothing to say about pai.1 (R38)", () => {
  const { stdout, status } = spawnSync("mandoc", ["-Tlint"], { input: page, encoding: "utf8" });
  expect([stdout, status]).toEqual(["", 0]);
});
