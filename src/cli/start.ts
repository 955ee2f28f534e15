/** One call of pai, from its command line to its exit code: runs the command on the streams of this process, reports every failure once, stops at signals. */

import { defineCommand, runCommand } from "citty";
import { exitCodes, type Failure, orNull, PaiError, toFailure, toPaiError } from "../core/error.ts";
import { failedOutcome } from "../core/outcome.ts";
import { maskAll } from "../core/secrets/key-shapes.ts";
import { didYouMean } from "../core/suggest.ts";
import { renderCommandDocument } from "../ui/command-document.ts";
import { hasKeyboard, isPipedIn, isTerminal } from "../ui/tty.ts";
import { openWriters, type Writer } from "../ui/writer.ts";
import { openLog } from "./answer-document.ts";
import {
  argsForCitty,
  type Command,
  type CommandLine,
  type Context,
  checkLine,
  flagsOf,
  openNotices,
  orderLine,
  requireFlags,
} from "./command.ts";
import { commands, findCommand, session } from "./command-table.ts";
import { renderVersion, version } from "./commands/version.ts";
import { flagKeys } from "./flags.ts";
import { habitOfCommand } from "./habits.ts";
import { endInBackground, watchSignals } from "./interrupt.ts";
import { readPiped, readStdin } from "./read-text.ts";

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
  const names = commands.map(({ name }) => name);
  return habitOfCommand(first) ?? didYouMean(first, names, (near) => `pai ${[near, ...rest].join(" ")}`);
}

function choose({ words, single }: CommandLine): Choice {
  const [first, ...rest] = words;
  if (single.has("help")) return { command: demand("help"), words: first === undefined ? [] : [first] };
  const hasTask = single.has("file");
  if (first === undefined) return { command: hasTask ? demand("run") : session, words };
  const command = findCommand(first);
  if (command !== undefined) return { command, words: rest };
  // A custom command, or a typo of one, which costs nothing either.
  if (/^\/[a-z0-9][\w-]*(\s|$)/i.test(first)) return { command: demand("run"), words };
  const isOne = rest.length === 0;
  if (isOne && !looksLikeCommand.test(first)) return { command: demand("run"), words };
  const why = isOne ? "" : "; a task of several words must be quoted";
  const way = isOne ? `for a task of one word: pai run ${first}` : `pai "${words.join(" ")}"`;
  throw new PaiError("usage", `unknown command: ${first}${why}`, { hint: meantBy(words) ?? way });
}

function guessCommand(given: readonly string[]): string {
  const first = given.find((text) => !text.startsWith("-"));
  if (first === undefined) return "pai";
  return findCommand(first)?.name ?? (looksLikeCommand.test(first) ? "pai" : "run");
}

type EarlyContext = Pick<Context, "out" | "err" | "env" | "now" | "tty" | "notices">;

/** Reports the error: as text, with --json as a document, with --jsonl as both. Returns the exit code. */
async function showFailure(thrown: unknown, command: string | null, argv: readonly string[], context: EarlyContext) {
  const error = toPaiError(thrown);
  const code = exitCodes[error.code];
  const end = argv.indexOf("--");
  const given = end < 0 ? argv : argv.slice(0, end);
  const form = given.includes("--json") ? "json" : given.includes("--jsonl") ? "jsonl" : null;
  if (form !== null) {
    const failure = maskAll(toFailure(error));
    context.out(await renderEarlyFailure(command ?? guessCommand(given), failure, form, context));
  }
  if (form !== "json") openLog(context).fail(error);
  if (error.code === "internal" && given.some((word) => /^(?:-v|--verbose)$/.test(word)))
    context.err(`${error.stack ?? ""}\n${error.cause instanceof Error ? error.cause.stack : ""}\n`);
  return code;
}

/** Throws usage for arguments of a command that takes none, and for --json with --jsonl. */
function requireSense({ command, words }: Choice, { single }: CommandLine): void {
  if (words.length > 0 && command.usage === "")
    throw new PaiError("usage", `pai ${command.name} takes no words: ${words.join(" ")}`, {
      hint: `see: pai help ${command.name}`,
    });
  if (single.has("json") && single.has("jsonl")) throw new PaiError("usage", "--json and --jsonl exclude each other");
}

function readCwd(read: () => string): string {
  const cwd = orNull(read);
  if (cwd !== null) return cwd;
  throw new PaiError("io_failed", "the current folder no longer exists", { hint: "cd to one that does" });
}

interface Process extends Omit<Context, "flags" | "words" | "cwd" | "notices"> {
  readonly cwd: () => string;
}

/** Has citty read the line and run its command. Resolves to the exit code, which citty does not pass on. */
async function dispatch({ command, words }: Choice, line: CommandLine, process: Omit<Context, "flags" | "words">) {
  let code = 0;
  const define = (each: Command) =>
    defineCommand({
      meta: { name: each.name, description: each.about },
      args: argsForCitty(flagKeys.filter(each.takes)),
      run: async ({ args }) => {
        code = await each.run({ ...process, flags: flagsOf(args, line), words: args._ });
      },
    });
  const subCommands = Object.fromEntries([...commands, session].map((each) => [each.name, () => define(each)]));
  const pai = defineCommand({ meta: { name: "pai" }, subCommands });
  await runCommand(pai, { rawArgs: orderLine(command.name, words, line) });
  return code;
}

/** Says of a missing key that it may be with the user who called sudo. */
function nameOwner(thrown: unknown, { env }: Pick<Process, "env">): unknown {
  const user = env["SUDO_USER"] ?? "";
  if (!(thrown instanceof PaiError) || thrown.code !== "no_key" || ["", "root"].includes(user)) return thrown;
  const way = `sudo leaves the keys of ${user} behind: pass on the variable of the key with sudo --preserve-env=NAME pai …`;
  const hint = [way, thrown.hint].filter((part) => part !== null).join("; ");
  return new PaiError(thrown.code, thrown.message, { hint, cause: thrown });
}

/** Runs the command line. Never rejects; resolves to the exit code. */
async function main(argv: readonly string[], called: Process): Promise<number> {
  const process = { ...called, notices: openNotices() };
  let name: string | null = null;
  try {
    const line = checkLine(argv);
    if (line.single.has("version")) {
      process.out(renderVersion(line.single.has("json")));
      return 0;
    }
    const choice = choose(line);
    name = choice.command.name;
    if (name !== "help") requireFlags(line, choice.command);
    requireSense(choice, line);
    return await dispatch(choice, line, { ...process, cwd: readCwd(process.cwd) });
  } catch (thrown) {
    return showFailure(nameOwner(thrown, called), name, argv, process);
  }
}

const runs = new Set(["run", "plan", "apply"]);

/** One document for --json; run.started, notices and run.finished for --jsonl. */
async function renderEarlyFailure(command: string, error: Failure, form: "json" | "jsonl", context: EarlyContext) {
  const { createJsonl, renderDocument } = await import("../ui/json.ts");
  const notices = context.notices.take();
  if (form === "json" && !runs.has(command))
    return renderCommandDocument({ command, code: exitCodes[error.code], data: null, notices, error });
  const outcome = failedOutcome(command, error);
  if (form === "json") return renderDocument(outcome, notices);
  const lines: string[] = [];
  const sink = createJsonl((line) => lines.push(line));
  const stamp = { run: "", at: context.now().toISOString() };
  const { mode } = outcome;
  sink({ type: "run.started", v: 1, pai: version, task: "", mode, model: "", root: "", seq: 1, ...stamp });
  for (const notice of notices) sink({ type: "notice", ...notice, seq: 2, ...stamp });
  sink({ type: "run.finished", outcome, seq: 2, ...stamp });
  return lines.join("");
}

/** Milliseconds that an interrupted run waits, in the end, for a terminal that takes no text. */
const finalOutputMs = 1000;

/** Reports an uncaught exception and exits with 1; exit handlers restore the terminal and end children. */
function watchMistakes(err: Writer): void {
  const end = (thrown: unknown) => {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    err.write(`pai: internal error: ${error.message}\n`);
    process.exit(1);
  };
  process.on("uncaughtException", end).on("unhandledRejection", end);
}

/** Runs pai and sets the exit code; the process then ends by itself, so that no output is lost. */
export async function start(argv: readonly string[]): Promise<void> {
  const writers = openWriters();
  const [stdout, stderr] = writers;
  watchMistakes(stderr);
  const code = await main(argv, {
    env: process.env,
    cwd: process.cwd,
    out: stdout.write,
    err: stderr.write,
    shown: () => Promise.all(writers.map(({ flush }) => flush())),
    tty: { stdin: isTerminal(0), stdout: isTerminal(1), stderr: isTerminal(2), keyboard: hasKeyboard() },
    readPiped: async (signal, wait) => (isPipedIn(0) ? readPiped(signal, wait) : ""),
    readStdin: async (signal) => readStdin(signal),
    ...watchSignals(writers),
    now: () => new Date(),
  });
  const isStopped = code > 128;
  const limitMs = isStopped ? finalOutputMs : Number.POSITIVE_INFINITY;
  await stdout.flush(limitMs);
  if (stdout.failure !== null) stderr.write(`pai: ${stdout.failure.message}\n`);
  await stderr.flush(limitMs);
  // A full disk behind output is a failure, a closed pipe is none.
  const isLost = writers.some(({ failure }) => failure !== null);
  process.exitCode = isLost && code === 0 ? exitCodes.disk_full : code;
  if (isStopped) endInBackground(code);
}
