/** `pai help`: examples first, then commands or flags, then exit codes. */
import { PaiError } from "../../core/error.ts";
import { didYouMean } from "../../core/suggest.ts";
import { hang, wrap } from "../../ui/layout.ts";
import { columnsOfResults, showResult } from "../answer-document.ts";
import type { Command, CommandGroup, Handler } from "../command.ts";
import { type FlagSpec, flagGroups, flagTable } from "../flags.ts";
import { exitMeanings } from "../manual.ts";

const usual = 80;

function renderExits(): string {
  const usual = exitMeanings.filter(([code]) => code.length < 3).map(([code, meaning]) => `${code} ${meaning}`);
  const third = Math.ceil(usual.length / 3);
  const rows = usual.slice(0, third).map((first, at) => {
    const [second = "", last = ""] = [usual[at + third], usual[at + 2 * third]];
    return `  ${first.padEnd(17)}${second.padEnd(19)}${last}`;
  });
  return `Exit codes:\n${rows.join("\n")}\n  124 timeout      129, 130, 143 ended by a signal\n`;
}

function renderFlag({ name, short, kind, value, optional, about }: FlagSpec, columns: number): string {
  const argument = value === undefined ? "" : optional ? `[=${value}]` : ` ${value}${kind === "list" ? "..." : ""}`;
  const left = `${short === undefined ? "    " : `-${short}, `}--${name}${argument}`;
  return hang(`  ${left.padEnd(28)} `, about, columns)
    .map((line) => `${line}\n`)
    .join("");
}

const indent = (lines: readonly string[]) => lines.map((line) => `  ${line}\n`).join("");

export function renderOverview(commands: readonly Command[], columns = usual): string {
  const rowsOf = (group: CommandGroup) =>
    commands
      .filter((command) => command.group === group && command.name !== "help")
      .flatMap(({ name, about }) => hang(`${name.padEnd(10)} `, about, columns - 2));
  const what =
    "pai: a coding agent that shows its plan, keeps to a promised number of model calls, changes nothing that it did not list, and can take it back.";
  return `${wrap(what, columns).join("\n")}

Usage:
${indent(['pai "TASK"                one task, then exit', "pai                       interactive session", "pai COMMAND [FLAGS]", "pai help COMMAND          flags and examples, of a task: pai help run"])}
Examples:
${indent(["pai demo", "pai key set < key.txt", 'pai run -y "add input validation to bmi.py"', 'pai run -y --check "pytest -q" "fix the failing test"', "pai undo"])}
Commands:
${indent(rowsOf("first"))}
More:
${indent(rowsOf("more"))}
For programs:
${indent(rowsOf("programs"))}
${renderExits()}`;
}

const maxUngrouped = 20;

function renderFlags(flags: readonly FlagSpec[], columns: number): string {
  const render = (flag: FlagSpec) => renderFlag(flag, columns);
  if (flags.length <= maxUngrouped) return `Flags:\n${flags.map(render).join("")}`;
  const groups = Object.entries(flagGroups).map(([title, keys]) => {
    const specs: readonly FlagSpec[] = keys.map((key) => flagTable[key]);
    return [title, flags.filter((flag) => specs.includes(flag))] as const;
  });
  const grouped = new Set(groups.flatMap(([, own]) => own));
  const others = flags.filter((flag) => !grouped.has(flag));
  return [["Of this command", others] as const, ...groups]
    .filter(([, own]) => own.length > 0)
    .map(([title, own]) => `${title}:\n${own.map(render).join("")}`)
    .join("");
}

export function renderHelpOf({ name, usage, about, flags, examples }: Command, columns = usual): string {
  return `pai ${name}: ${about}

Usage:
${hang(`  pai ${name} `, `${usage}${usage === "" ? "" : " "}[FLAGS]`, columns).join("\n")}

Examples:
${indent(examples)}
${renderFlags(flags, columns)}${flags.some(({ kind }) => kind === "list") ? "...: several times, each with one value. " : ""}Exit codes: pai help
`;
}

const describe = ({ takes: _takes, run: _run, ...shown }: Command) => shown;

export const helpCommand =
  (commands: readonly Command[]): Handler =>
  async (context) => {
    const [name] = context.words;
    const command = commands.find((each) => each.name === name);
    if (name !== undefined && command === undefined && context.flags.help !== true) {
      const names = commands.map((each) => each.name);
      throw new PaiError("usage", `unknown command: ${name}`, {
        hint: didYouMean(name, names, (near) => `pai help ${near}`) ?? "see: pai help",
      });
    }
    const columns = Math.min(columnsOfResults(context) ?? usual, usual);
    return command === undefined
      ? showResult(context, "help", { commands: commands.map(describe) }, renderOverview(commands, columns))
      : showResult(context, "help", describe(command), renderHelpOf(command, columns));
  };
