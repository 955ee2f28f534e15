/** What may stand where on a command line, as shells need to know it to complete one. */
import type { Command, FlagSpec } from "./command.ts";

/** What a completion script is made of: every command with what may follow it. */
export interface Grammar {
  readonly commands: readonly Expected[];
  /** Without a command: a task for `pai run`, or a session. */
  readonly bare: readonly FlagSpec[];
}

export interface Expected {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly FlagSpec[];
  /** What its first word may be; empty: nothing that can be listed. */
  readonly words: readonly string[];
  readonly takesFile: boolean;
}

/** The words to choose from in a usage line: lower case, parted by bars. */
function wordsOf(usage: string, names: readonly string[]): readonly string[] {
  const [first = ""] = usage.replace(/[[\]]/g, "").split(" ");
  if (first === "COMMAND") return names;
  return /^[a-z-]+(\|[a-z-]+)*$/.test(first) ? first.split("|") : [];
}

const unique = (flags: readonly FlagSpec[]) => [...new Map(flags.map((flag) => [flag.name, flag])).values()];

export function describeGrammar(commands: readonly Command[]): Grammar {
  const names = commands.map(({ name }) => name);
  const flagsOf = (name: string) => commands.find((command) => command.name === name)?.flags ?? [];
  return {
    commands: commands.map(({ name, about, flags, usage }) => ({
      name,
      about,
      flags,
      words: wordsOf(usage, names),
      takesFile: /^\[?(FILE|[A-Z]+\.json)/.test(usage),
    })),
    bare: unique([...flagsOf("run"), ...flagsOf("auto")]),
  };
}

/** What the value of a flag is completed to. */
export function expectedValue({
  kind,
  value,
  choices,
}: FlagSpec): "none" | "file" | "folder" | "free" | readonly string[] {
  if (kind === "switch") return "none";
  if (choices !== undefined) return choices;
  return value === "FILE" ? "file" : value === "DIR" ? "folder" : "free";
}
