/** From a command line to an exit code: picks the command, runs it, and reports every failure once. */

import { exitCodes, PaiError, toFailure, toPaiError } from "../core/error.ts";
import { suggest } from "../core/suggest.ts";
import type { Command, Context } from "./command.ts";
import { commands, findCommand } from "./command-table.ts";
import { renderVersion } from "./commands/version.ts";
import { renderEarlyFailure } from "./early-failure.ts";
import type { Flags } from "./flags.ts";
import { habitOfCommand } from "./habits.ts";
import { openNotices } from "./notices.ts";
import { openLog } from "./open-log.ts";
import { readCommandLine, requireFlags } from "./read-flags.ts";

/** A single word like this is a mistyped command, not a task that costs money; `-` alone means standard input. */
const looksLikeCommand = /^(?!-$)[A-Za-z0-9_-]+$/;

interface Choice {
  readonly command: Command;
  readonly words: readonly string[];
}

function demand(name: string): Command {
  const command = findCommand(name);
  if (command === undefined) throw new PaiError("internal", `no command ${name}`);
  return command;
}

/** A hint with the command that was probably meant by the first word; null: no similar name. */
function meantBy([first = "", ...rest]: readonly string[]): string | null {
  const habit = habitOfCommand(first);
  if (habit !== null) return habit;
  const near = suggest(
    first,
    commands.map(({ name }) => name),
  );
  return near === null ? null : `did you mean: pai ${[near, ...rest].join(" ")}?`;
}

function choose(words: readonly string[], flags: Flags): Choice {
  const [first, ...rest] = words;
  if (flags.help === true) return { command: demand("help"), words: first === undefined ? [] : [first] };
  const hasTask = flags.file !== undefined;
  if (first === undefined) return { command: demand(hasTask ? "run" : "auto"), words };
  const command = findCommand(first);
  if (command !== undefined) return { command, words: rest };
  // A custom command, or a typo of one, which costs nothing either.
  if (/^\/[a-z0-9][\w-]*(\s|$)/i.test(first)) return { command: demand("run"), words };
  if (rest.length > 0) {
    throw new PaiError("usage", `unknown command: ${first}; a task of several words must be quoted`, {
      hint: meantBy(words) ?? `pai "${words.join(" ")}"`,
    });
  }
  if (looksLikeCommand.test(first)) {
    throw new PaiError("usage", `unknown command: ${first}`, {
      hint: meantBy(words) ?? `for a task of one word: pai run ${first}`,
    });
  }
  return { command: demand("run"), words };
}

/** The command name for an error of a command line that could not be parsed. */
function guessCommand(given: readonly string[]): string {
  const first = given.find((text) => !text.startsWith("-"));
  if (first === undefined) return "pai";
  return findCommand(first)?.name ?? (looksLikeCommand.test(first) ? "pai" : "run");
}

/**
 * Reports the error: as text on standard error, with --json as a document on standard output, with --jsonl as both.
 * Returns the exit code.
 */
async function showFailure(
  thrown: unknown,
  command: string | null,
  argv: readonly string[],
  context: Pick<Context, "out" | "err" | "env" | "now" | "tty" | "notices">,
): Promise<number> {
  const error = toPaiError(thrown);
  const code = exitCodes[error.code];
  const end = argv.indexOf("--");
  const given = end < 0 ? argv : argv.slice(0, end);
  const form = given.includes("--json") ? "json" : given.includes("--jsonl") ? "jsonl" : null;
  if (form !== null) {
    const failed = {
      command: command ?? guessCommand(given),
      error: toFailure(error),
      notices: context.notices.take(),
    };
    context.out(renderEarlyFailure(failed, form, context.now()));
  }
  const log = openLog({ ...context, flags: given.includes("--debug") ? { debug: true } : {} });
  if (form !== "json") log.fail(error);
  log.trace("stack", `${error.stack ?? ""}\n${error.cause instanceof Error ? error.cause.stack : ""}`);
  return code;
}

/** Throws usage for arguments of a command that takes none, and for --json with --jsonl. */
function requireSense({ command, words }: Choice, flags: Flags): void {
  if (words.length > 0 && command.usage === "")
    throw new PaiError("usage", `pai ${command.name} takes no words: ${words.join(" ")}`, {
      hint: `see: pai help ${command.name}`,
    });
  if (flags.json === true && flags.jsonl === true) throw new PaiError("usage", "--json and --jsonl exclude each other");
}

/** The current folder. Throws io_failed if it was deleted. */
function readCwd(read: () => string): string {
  try {
    return read();
  } catch (cause) {
    throw new PaiError("io_failed", "the current folder no longer exists", { cause, hint: "cd to one that does" });
  }
}

export interface Process extends Omit<Context, "flags" | "words" | "cwd" | "notices"> {
  /** Throws if the folder was deleted. */
  readonly cwd: () => string;
}

/** Runs the command line. Never rejects; resolves to the exit code. */
export async function main(argv: readonly string[], called: Process): Promise<number> {
  const process = { ...called, notices: openNotices(called.now) };
  let name: string | null = null;
  try {
    const { flags, words } = readCommandLine(argv);
    if (flags.version === true) {
      process.out(renderVersion(flags.json === true));
      return 0;
    }
    const choice = choose(words, flags);
    name = choice.command.name;
    if (name !== "help") requireFlags(flags, choice.command);
    requireSense(choice, flags);
    return await choice.command.run({ ...process, cwd: readCwd(process.cwd), flags, words: choice.words });
  } catch (thrown) {
    return showFailure(thrown, name, argv, process);
  }
}
