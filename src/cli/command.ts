/** What a command is: a citty definition with typed arguments, and a lazily loaded function from context to exit code. */
import { type ArgsDef, type CommandDef, defineCommand, type PositionalArgDef } from "citty";
import { type FlagKey, type FlagSpec, type Flags, flagTable, specsOf } from "./flags.ts";
import type { Notices } from "./notices.ts";
import type { PipedInput } from "./piped-input.ts";

/** The process as a command may use it; nothing else touches environment, streams or exit. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The caller's current folder; `-C` is resolved against it into `root`. */
  readonly cwd: string;
  readonly flags: Flags;
  /** What is left after command name and flags. */
  readonly words: readonly string[];
  /** Results. Text is written whole, in order; a closed pipe ends the process quietly. */
  readonly out: (text: string) => void;
  /** Progress, questions, errors. */
  readonly err: (text: string) => void;
  /** Notices beside the result; collected for --json and --jsonl. */
  readonly notices: Notices;
  /** Resolves when readers, however slow, have taken all text. */
  readonly shown: () => Promise<unknown>;
  readonly tty: {
    readonly stdin: boolean;
    readonly stdout: boolean;
    readonly stderr: boolean;
    /** A person can answer: on standard input, or on their terminal where something else is piped in there. */
    readonly keyboard: boolean;
  };
  /** What is piped in beside a task, as far as it comes at once. */
  readonly readPiped: (signal: AbortSignal) => Promise<PipedInput>;
  /** Whole standard input, at most 8 MiB; throws the reason of `signal` when that aborts. */
  readonly readStdin: (signal: AbortSignal) => Promise<string>;
  /** Aborted by the first SIGINT, SIGTERM, SIGHUP or the time limit; the reason is a PaiError. */
  readonly signal: AbortSignal;
  /** Takes SIGINT for as long as a handler is set; null gives it back to `signal`. */
  readonly onInterrupt: (handler: (() => void) | null) => void;
  readonly now: () => Date;
}

/** The code of a command. Throws PaiError for what the user can mend; resolves to the exit code. */
export type Handler = (context: Context) => Promise<number>;

/** A word of the command line; its hint is shown in the usage line, in lower case for words to choose: "plan|json". */
export const word = (valueHint: string, required = true): PositionalArgDef & { readonly type: "positional" } => ({
  type: "positional",
  valueHint,
  required,
});

export interface CommandRow {
  readonly meta: { readonly name: string; readonly description: string };
  /** Words by any name, in their order, and rows of the flag table. A call of pai makes only those of its command. */
  readonly args: () => ArgsDef;
  readonly examples: readonly string[];
  /** Imports the code of the command: only when it runs. */
  readonly load: () => Promise<Handler>;
}

/** A row of the command table: citty's definition, which runs it, and its description for help. */
export interface Command extends Pick<CommandRow, "examples"> {
  readonly name: string;
  readonly about: string;
  /** Argument part of the usage line: "[TASK|-]". */
  readonly usage: string;
  /** Its words in their order, each as its hint names it: "TASK|-", "plan|json". */
  readonly words: readonly string[];
  readonly flags: readonly FlagSpec[];
  readonly takes: (key: FlagKey) => boolean;
  readonly run: Handler;
}

/** The arguments are read by us: none of them has a type for citty. */
type Definition = CommandDef<Record<never, never>>;

interface Word {
  readonly hint: string;
  readonly required: boolean;
}

const wordsOf = (args: ArgsDef): readonly Word[] =>
  Object.values(args).flatMap(({ type, valueHint = "", required }) =>
    type === "positional" ? { hint: valueHint, required: required !== false } : [],
  );

/**
 * Defines a command with citty. Reading is ours (read-flags.ts), since citty's own parser drops unknown flags and keeps the
 * last of several; what was read goes to its `run` as `data`.
 */
export function define({ meta, args: makeArgs, examples, load }: CommandRow): Command {
  let made: ArgsDef | null = null;
  const args = (): ArgsDef => {
    made ??= makeArgs();
    return made;
  };
  const definition: Definition = defineCommand({
    meta,
    args,
    run: async ({ data }: { readonly data?: Context }) => data && (await load())(data),
  });
  const takes = (key: FlagKey) => args()[key] === flagTable[key];
  return {
    examples,
    name: meta.name,
    about: meta.description,
    // Computed when one command, help or completions ask for it, and not for every command at every start.
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
    run: (context) =>
      definition.run?.({ rawArgs: [], args: { _: [...context.words] }, cmd: definition, data: context }),
  };
}
