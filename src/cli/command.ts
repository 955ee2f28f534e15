/** A command: its arguments in citty's form, and a lazily loaded function from context to exit code. */
import type { ArgsDef, PositionalArgDef } from "citty";
import { type FlagKey, type FlagSpec, type Flags, flagTable, specsOf } from "./flags.ts";
import type { Notices } from "./notices.ts";
import type { PipedInput, PipeWait } from "./read-text.ts";

/** A command's access to the process; environment, streams and exit are used through this alone. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The caller's current folder; `-C` is resolved against it into `root`. */
  readonly cwd: string;
  readonly flags: Flags;
  /** Arguments after the command name, without flags. */
  readonly words: readonly string[];
  /** Writes results to standard output, in order; a closed pipe ends the process quietly. */
  readonly out: (text: string) => void;
  /** Writes progress, questions and errors to standard error. */
  readonly err: (text: string) => void;
  /** Notices outside the result; collected for --json and --jsonl. */
  readonly notices: Notices;
  /** Resolves when readers have taken all output. */
  readonly shown: () => Promise<unknown>;
  readonly tty: {
    readonly stdin: boolean;
    readonly stdout: boolean;
    readonly stderr: boolean;
    /** A person can answer, on standard input or on the terminal if something is piped into it. */
    readonly keyboard: boolean;
  };
  /** Reads what is piped in beside a task. */
  readonly readPiped: (signal: AbortSignal, wait: PipeWait) => Promise<PipedInput>;
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

/** A command's code. Throws PaiError for failures; resolves to the exit code. */
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

/** A positional argument with its name for the usage line; lower case for a list of choices: "plan|json". */
export const word = (valueHint: string, required = true): PositionalArgDef & { readonly type: "positional" } => ({
  type: "positional",
  valueHint,
  required,
});

/** Where the help lists a command: on the first page, below "more", or among those for programs. */
export type CommandGroup = "first" | "more" | "programs";

export interface CommandRow {
  /** Absent: on the first page of the help. */
  readonly group?: CommandGroup;
  readonly meta: { readonly name: string; readonly description: string };
  /**
   * Positional arguments in order, and rows of the flag table. A function, since only the called command needs its own.
   */
  readonly args: () => ArgsDef;
  readonly examples: readonly string[];
  /** Imports the code of the command: only when it runs. */
  readonly load: () => Promise<Handler>;
}

/** A row of the command table, with what help shows. */
export interface Command extends Pick<CommandRow, "examples" | "args"> {
  readonly name: string;
  readonly about: string;
  readonly group: CommandGroup;
  /** Arguments in the usage line: "[TASK|-]". */
  readonly usage: string;
  /** Hints of its words in order: "TASK|-", "plan|json". */
  readonly words: readonly string[];
  readonly flags: readonly FlagSpec[];
  readonly takes: (key: FlagKey) => boolean;
  readonly run: Handler;
}

interface Word {
  readonly hint: string;
  readonly required: boolean;
}

const wordsOf = (args: ArgsDef): readonly Word[] =>
  Object.values(args).flatMap(({ type, valueHint = "", required }) =>
    type === "positional" ? { hint: valueHint, required: required !== false } : [],
  );

export function define({ group = "first", meta, args: makeArgs, examples, load }: CommandRow): Command {
  let made: ArgsDef | null = null;
  const args = (): ArgsDef => {
    made ??= makeArgs();
    return made;
  };
  const takes = (key: FlagKey) => args()[key] === flagTable[key];
  return {
    examples,
    args,
    name: meta.name,
    about: meta.description,
    group,
    // Computed only when help, completions or this command needs it, since that takes time at every start.
    get usage() {
      return wordsOf(args())
        .map(({ hint, required }) => (required ? hint : `[${hint}]`))
        .join(" ");
    },
    get words() {
      return wordsOf(args()).map(({ hint }) => hint);
    },
    get flags() {
      return specsOf((Object.keys(flagTable) as FlagKey[]).filter(takes));
    },
    takes,
    run: async (context) => (await load())(context),
  };
}
