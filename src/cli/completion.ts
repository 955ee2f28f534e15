/** `pai completion`: scripts for shells, made from the table of commands. */
import { showResult } from "./answer-document.ts";
import { chooseWord } from "./choose-word.ts";
import type { Command, Context, FlagSpec } from "./command.ts";

/** What a script is made of: every command with what may follow it. */
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

const renderers = {
  bash: async () => (await import("./completion-bash.ts")).renderBash,
  zsh: async () => (await import("./completion-zsh.ts")).renderZsh,
  fish: async () => (await import("./completion-fish.ts")).renderFish,
} as const;
export const shells = ["bash", "zsh", "fish"] as const;

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
export function valueOf({ kind, value, choices }: FlagSpec): "none" | "file" | "folder" | "free" | readonly string[] {
  if (kind === "switch") return "none";
  if (choices !== undefined) return choices;
  return value === "FILE" ? "file" : value === "DIR" ? "folder" : "free";
}

export async function completionCommand(context: Context, commands: readonly Command[]): Promise<number> {
  const shell = chooseWord("completion", context.words, shells);
  const render = await renderers[shell]();
  const script = render(describeGrammar(commands));
  return showResult(context, "completion", { shell, script }, script);
}
