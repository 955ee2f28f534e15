/** The man page, generated from the tables of `pai help`; the build writes it beside the binary. */
import type { Command } from "../src/cli/command.ts";
import { commands } from "../src/cli/command-table.ts";
import type { FlagSpec } from "../src/cli/flags.ts";
import { exitMeanings, files, variables } from "../src/cli/manual.ts";
import { wrap } from "../src/ui/layout.ts";

/** Escapes a text for roff, in lines of at most 78 characters. */
function plain(text: string): string {
  const safe = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("~", "\\(ti").replaceAll("^", "\\(ha");
  return wrap(safe, 78)
    .map((line) => line.replace(/^[.']/, "\\&$&"))
    .join("\n");
}

const bold = (text: string) => `\\fB${plain(text)}\\fR`;
const section = (title: string, ...parts: readonly string[]) => `.SH ${title}\n${parts.join("")}`;
const item = (name: string, about: string) => `.TP\n${bold(name)}\n${plain(about)}\n`;
const code = (lines: readonly string[]) => `.nf\n${lines.map((line) => `    ${plain(line)}\n`).join("")}.fi\n`;

function renderFlag({ name, short, value, optional, about }: FlagSpec): string {
  const both = short === undefined ? bold(`--${name}`) : `${bold(`-${short}`)}, ${bold(`--${name}`)}`;
  const argument = value === undefined ? "" : optional ? `[=\\fI${plain(value)}\\fR]` : ` \\fI${plain(value)}\\fR`;
  return `.TP\n${both}${argument}\n${plain(about)}\n`;
}

/** Flags that nearly every command takes are in `shared` and described once. */
function renderCommand({ name, usage, about, flags, examples }: Command, shared: ReadonlySet<FlagSpec>): string {
  const own = flags.filter((flag) => !shared.has(flag));
  const usageText = usage === "" ? "" : ` \\fI${plain(usage)}\\fR`;
  return [
    `.SS pai ${plain(name)}\n`,
    `${bold(`pai ${name}`)}${usageText} [flags]\n.br\n`,
    `${plain(`${about[0]?.toUpperCase() ?? ""}${about.slice(1)}.`)}\n`,
    ...own.map(renderFlag),
    `.PP\n${code(examples)}`,
  ].join("");
}

/** `date` as 2026-11-21. */
export function renderMan(version: string, date: string): string {
  const shared = new Set(commands[0]?.flags.filter((flag) => commands.every(({ flags }) => flags.includes(flag))));
  return [
    `.\\" Made by scripts/man.ts\n.TH PAI 1 ${date} "pai ${version}" "User Commands"\n`,
    section("NAME", "pai \\- coding agent that shows its plan and can take it back\n"),
    section("SYNOPSIS", `${bold("pai")} [flags] \\fItask\\fR\n.br\n${bold("pai")} \\fIcommand\\fR [flags]\n`),
    section(
      "DESCRIPTION",
      `${plain("pai shows its plan, keeps to a promised number of model calls, changes exactly what it listed or nothing, proves what it did, and can take it back. Without arguments it opens an interactive session.")}\n`,
    ),
    section("COMMANDS", ...commands.map((command) => renderCommand(command, shared))),
    section("FLAGS OF EVERY COMMAND", ...[...shared].map(renderFlag)),
    section("EXIT STATUS", ...exitMeanings.map(([status, meaning]) => item(status, meaning))),
    section("ENVIRONMENT", ...variables.map(([name, about]) => item(name, about))),
    section("FILES", ...files.map(([name, about]) => item(name, about))),
    section("EXAMPLES", code(["pai demo", 'pai run -y --check "pytest -q" "fix the failing test"', "pai undo"])),
  ].join("");
}
