/** The possible command lines, for the completion scripts of shells. */
import { providerIds } from "../../core/providers.ts";
import { knownModels } from "../../models/catalogue.ts";
import type { Command } from "../command.ts";
import type { FlagSpec } from "../flags.ts";

/** Everything that a completion script offers. */
export interface Grammar {
  readonly commands: readonly Expected[];
  /** Flags without a command, for a task or a session. */
  readonly bare: readonly FlagSpec[];
}

export interface Expected {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly FlagSpec[];
  /** Choices for the first argument; empty: they cannot be listed. */
  readonly words: readonly string[];
  readonly takesFile: boolean;
}

/** Choices in the hint of a word: `plan|json`, or all commands for COMMAND; otherwise none. */
function choicesOf(hint: string, names: readonly string[]): readonly string[] {
  if (hint === "COMMAND") return names;
  return /^[a-z-]+(\|[a-z-]+)*$/.test(hint) ? hint.split("|") : [];
}

const unique = (flags: readonly FlagSpec[]) => [...new Map(flags.map((flag) => [flag.name, flag])).values()];

export function describeGrammar(commands: readonly Command[], session: Command): Grammar {
  const names = commands.map(({ name }) => name);
  const flagsOf = (name: string) => commands.find((command) => command.name === name)?.flags ?? [];
  return {
    commands: commands.map((command) => {
      const { name, about, flags } = command;
      const [first = ""] = command.words;
      const takesFile = /^(FILE|[A-Z]+\.json)$/.test(first);
      return { name, about, flags, words: choicesOf(first, names), takesFile };
    }),
    bare: unique([...flagsOf("run"), ...session.flags]),
  };
}

/** Known models, so that a shell can complete them without starting pai. */
const models = (): readonly string[] => knownModels().map(({ provider, name: model }) => `${provider}:${model}`);

/** What completes the value of a flag. */
export function expectedValue({
  kind,
  value,
  choices,
}: FlagSpec): "none" | "file" | "folder" | "free" | readonly string[] {
  if (kind === "switch") return "none";
  if (choices !== undefined) return choices;
  if (value === "PROVIDER:NAME") return models();
  if (value === "PROVIDER") return providerIds;
  return value === "FILE" ? "file" : value === "DIR" ? "folder" : "free";
}
