/** What a command is: a name, its flags, its help, and a function from context to exit code. */

export interface FlagSpec {
  /** Without dashes: "model". */
  readonly name: string;
  readonly short?: string;
  readonly kind: "switch" | "text" | "list";
  /** Shown in help for flags with a value: "PROVIDER:NAME". FILE and DIR are completed by the shell. */
  readonly value?: string;
  /** All it may be; absent: anything. */
  readonly choices?: readonly string[];
  readonly about: string;
}

/** Parsed flags by name: true for switches, the text, or all values of a list flag. */
export type Flags = Readonly<Record<string, boolean | string | readonly string[] | undefined>>;

/** The process as a command may use it; nothing else touches environment, streams or exit. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder the caller stands in; `-C` is resolved against it into `root`. */
  readonly cwd: string;
  readonly flags: Flags;
  /** What is left after command name and flags. */
  readonly words: readonly string[];
  /** Results. Text is written whole, in order; a closed pipe ends the process quietly. */
  readonly out: (text: string) => void;
  /** Progress, questions, errors. */
  readonly err: (text: string) => void;
  /** Resolves when readers, however slow, have taken all text. */
  readonly shown: () => Promise<unknown>;
  readonly tty: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Whole standard input, at most 8 MiB; throws the reason of `signal` when that aborts. */
  readonly readStdin: (signal: AbortSignal) => Promise<string>;
  /** Aborted by the first SIGINT, SIGTERM, SIGHUP or the time limit; the reason is a PaiError. */
  readonly signal: AbortSignal;
  /** Takes SIGINT for as long as a handler is set; null gives it back to `signal`. */
  readonly onInterrupt: (handler: (() => void) | null) => void;
  readonly now: () => Date;
}

export interface Command {
  readonly name: string;
  readonly about: string;
  /** Argument part of the usage line: "[TASK|-]"; words to choose from are in lower case: "plan|json|jsonl". */
  readonly usage: string;
  readonly flags: readonly FlagSpec[];
  readonly examples: readonly string[];
  /** Loads the code of the command only when it runs. Throws PaiError for what the user can mend. */
  readonly run: (context: Context) => Promise<number>;
}
