/** A command and its arguments in citty's form; and the check in front of citty, which refuses what citty passes over. */

import { parseArgs } from "node:util";
import type { ArgsDef } from "citty";
import { PaiError } from "../core/error.ts";
import type { Notice } from "../core/question.ts";
import { didYouMean } from "../core/suggest.ts";
import { type FlagKey, type FlagSpec, type Flags, flagKeys, flagTable } from "./flags.ts";
import { habitOfFlag } from "./habits.ts";
import type { PipeWait } from "./read-text.ts";

/** A command's access to the process; environment, streams and exit are used through this alone. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The caller's current folder; `-C` is resolved against it into `root`. */
  readonly cwd: string;
  readonly flags: Flags;
  readonly words: readonly string[];
  /** Writes results to standard output, in order; a closed pipe ends the process quietly. */
  readonly out: (text: string) => void;
  /** Writes progress, questions and errors to standard error. */
  readonly err: (text: string) => void;
  /** Notices outside the result; collected for --json and --jsonl. */
  readonly notices: ReturnType<typeof openNotices>;
  /** Resolves when readers have taken all output. */
  readonly shown: () => Promise<unknown>;
  readonly tty: {
    readonly stdin: boolean;
    readonly stdout: boolean;
    readonly stderr: boolean;
    /** A person can answer, on standard input or on the terminal if something is piped into it. */
    readonly keyboard: boolean;
  };
  readonly readPiped: (signal: AbortSignal, wait: PipeWait) => Promise<string>;
  /** Whole standard input, at most 8 MiB; throws the reason of `signal` when that aborts. */
  readonly readStdin: (signal: AbortSignal) => Promise<string>;
  /** Aborted by the first SIGINT, SIGTERM, SIGHUP or the time limit; the reason is a PaiError. */
  readonly signal: AbortSignal;
  /** Sends SIGINT to the handler until null returns it to `signal`. */
  readonly onInterrupt: (handler: (() => void) | null) => void;
  readonly now: () => Date;
  /** Takes what closes a workspace that the command has opened; absent: it stays open until the process ends. */
  readonly onOpened?: (close: () => void) => void;
}

export function openNotices() {
  const held: Notice[] = [];
  let tell = (notice: Notice): void => {
    held.push(notice);
  };
  return {
    add: (notice: Notice) => tell(notice),
    take: (): readonly Notice[] => held.splice(0),
    follow(listener: (notice: Notice) => void) {
      tell = listener;
      for (const notice of held.splice(0)) listener(notice);
    },
  };
}

export type Handler = (context: Context) => Promise<number>;

/** Calls a command in a process that goes on, and closes the workspaces that it has opened. */
export async function closeAfter<T>(context: Context, use: (context: Context) => Promise<T>): Promise<T> {
  const closing: (() => void)[] = [];
  try {
    return await use({ ...context, onOpened: (close) => closing.push(close) });
  } finally {
    for (const close of closing) close();
  }
}

export type CommandGroup = "first" | "more" | "programs";

export interface CommandRow {
  readonly name: string;
  readonly about: string;
  /** Absent: on the first page of the help. */
  readonly group?: CommandGroup;
  /** The words in the usage line, one that may be missing in brackets: "[TASK|-]"; lower case for choices. Absent: none. */
  readonly usage?: string;
  readonly flags: readonly FlagKey[];
  readonly examples: readonly string[];
  readonly load: () => Promise<Handler>;
}

export interface Command extends Omit<Required<CommandRow>, "flags" | "load"> {
  readonly flags: readonly FlagSpec[];
  readonly takes: (key: FlagKey) => boolean;
  readonly run: Handler;
}

export function makeCommand({ group = "first", usage = "", flags, load, ...row }: CommandRow): Command {
  const takes = (key: FlagKey) => flags.includes(key);
  return {
    ...row,
    group,
    usage,
    flags: flagKeys.filter(takes).map((key) => flagTable[key]),
    takes,
    run: async (context) => (await load())(context),
  };
}

/*
 * citty parses and dispatches. Of its own it takes unknown flags and missing values, keeps the last of several values,
 * loses flags before the command, and reads `--no-input` as the opposite of `--input`.
 */

export interface CommandLine {
  readonly words: readonly string[];
  /** Flags with at most one value: the last one of each, true for a switch. */
  readonly single: ReadonlyMap<FlagKey, string | true>;
  /** The values of repeatable flags and of switches with values. */
  readonly lists: ReadonlyMap<FlagKey, readonly string[]>;
}

const options = Object.fromEntries(
  Object.values<FlagSpec>(flagTable).map(({ name, kind, short }) => {
    const type = kind === "switch" ? ("boolean" as const) : ("string" as const);
    return [name, short === undefined ? { type } : { type, short }];
  }),
);

function keyOf(name: string): FlagKey | undefined {
  // The name that other programs have for it.
  if (name === "no-color") return "plain";
  return flagKeys.find((key) => flagTable[key].name === name);
}

function unknownFlag(text: string): PaiError {
  const near = text.startsWith("--") ? didYouMean(text.slice(2), Object.keys(options), (name) => `--${name}`) : null;
  return new PaiError("usage", `unknown flag ${text}`, { hint: habitOfFlag(text) ?? near ?? "see: pai help" });
}

function requireChoice({ name, choices, several }: FlagSpec, value: string): string {
  if (choices === undefined) return value;
  const chosen = value.trim();
  const parts = several === true ? chosen.split(",") : [chosen];
  if (parts.every((part) => choices.includes(part))) return chosen;
  throw new PaiError("usage", `--${name} must be one of ${choices.join(", ")}`, {
    hint: didYouMean(chosen, choices, (near) => `--${name} ${near}`),
  });
}

interface Given {
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

/** The value of a flag; `-m=x` means `-m x`. Throws usage if it is missing, or if the next argument is a flag. */
function readValue(spec: FlagSpec, { rawName, value = "", inlineValue }: Given): string {
  const text = inlineValue === true && !rawName.startsWith("--") ? value.replace(/^=/, "") : value;
  const isFlag = inlineValue !== true && keyOf(text.replace(/^--|=.*$/gs, "")) !== undefined && text.startsWith("--");
  if (text !== "" && !isFlag) return requireChoice(spec, text);
  throw new PaiError("usage", `--${spec.name} needs a value: --${spec.name}${spec.optional ? "=" : " "}${spec.value}`);
}

/** Reads flags anywhere on the line, up to `--`. Throws usage for unknown flags and missing or needless values. */
export function checkLine(argv: readonly string[]): CommandLine {
  const words: string[] = [];
  const single = new Map<FlagKey, string | true>();
  const lists = new Map<FlagKey, readonly string[]>();
  const take = (key: FlagKey, given: Given): void => {
    const spec: FlagSpec = flagTable[key];
    if (spec.kind === "switch" && given.value === undefined) single.set(key, true);
    else if (spec.kind === "switch" && spec.optional !== true)
      throw new PaiError("usage", `--${spec.name} takes no value`);
    else if (spec.kind === "text") single.set(key, readValue(spec, given));
    else lists.set(key, [...(lists.get(key) ?? []), readValue(spec, given)]);
  };
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const key = keyOf(token.name);
    if (key === undefined) throw unknownFlag(token.rawName);
    take(key, token);
  }
  return { words, single, lists };
}

export function requireFlags({ single, lists }: CommandLine, { name, takes }: Pick<Command, "name" | "takes">): void {
  const strange = [...single.keys(), ...lists.keys()].find((key) => !takes(key));
  if (strange === undefined) return;
  throw new PaiError("usage", `pai ${name} does not take --${flagTable[strange].name}`, {
    hint: `see: pai help ${name}`,
  });
}

/** The line as citty reads it: flags by their keys, since it takes `--no-input` for the opposite of `--input`. */
export function orderLine(command: string, words: readonly string[], { single }: CommandLine): string[] {
  const flags = [...single].map(([key, value]) => (value === true ? `--${key}` : `--${key}=${value}`));
  return [command, ...flags, "--", ...words];
}

export const argsForCitty = (keys: readonly FlagKey[]): ArgsDef =>
  Object.fromEntries(keys.map((key) => [key, { type: flagTable[key].kind === "switch" ? "boolean" : "string" }]));

export function flagsOf(args: Readonly<Record<string, unknown>>, { single, lists }: CommandLine): Flags {
  const read = [...single.keys()].map((key) => [key, args[key]] as const);
  // A switch alone means more than with its values.
  return Object.fromEntries([...lists, ...read]) as Flags;
}
