/** What a command line may consist of, for the completion scripts of shells. */
import { knownModels } from "../../models/catalogue.ts";
import type { Command } from "../command.ts";
import type { FlagSpec } from "../flags.ts";
import type { IdKind } from "./id-kinds.ts";

/** All that a completion script offers. */
export interface Grammar {
  readonly commands: readonly Expected[];
  /** Flags of a line without a command: a task, or a session. */
  readonly bare: readonly FlagSpec[];
}

export interface Expected {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly FlagSpec[];
  /** The choices for its first argument; empty: they cannot be listed. */
  readonly words: readonly string[];
  readonly takesFile: boolean;
  /** What kind of ids may follow its words; null: none. */
  readonly ids: IdKind | null;
}

/** The choices that the hint of a word names: `plan|json`, or all commands for COMMAND; else none. */
function choicesOf(hint: string, names: readonly string[]): readonly string[] {
  if (hint === "COMMAND") return names;
  return /^[a-z-]+(\|[a-z-]+)*$/.test(hint) ? hint.split("|") : [];
}

function idsOf({ name, words }: Command): IdKind | null {
  if (words.includes("RUN")) return name === "undo" ? "undoable" : "runs";
  return name === "resume" || name === "sessions" ? "sessions" : null;
}

const unique = (flags: readonly FlagSpec[]) => [...new Map(flags.map((flag) => [flag.name, flag])).values()];

export function describeGrammar(commands: readonly Command[]): Grammar {
  const names = commands.map(({ name }) => name);
  const flagsOf = (name: string) => commands.find((command) => command.name === name)?.flags ?? [];
  return {
    commands: commands.map((command) => {
      const { name, about, flags } = command;
      const [first = ""] = command.words;
      const takesFile = /^(FILE|[A-Z]+\.json)$/.test(first);
      return { name, about, flags, words: choicesOf(first, names), takesFile, ids: idsOf(command) };
    }),
    bare: unique([...flagsOf("run"), ...flagsOf("auto")]),
  };
}

/** Those that pai knows, so that a shell need not start it to complete them. */
const models = (): readonly string[] => knownModels().map(({ provider, name: model }) => `${provider}:${model}`);

/** What the value of a flag is completed to. */
export function expectedValue({
  kind,
  value,
  choices,
}: FlagSpec): "none" | "file" | "folder" | "free" | readonly string[] {
  if (kind === "switch") return "none";
  if (choices !== undefined) return choices;
  if (value === "PROVIDER:NAME") return models();
  return value === "FILE" ? "file" : value === "DIR" ? "folder" : "free";
}
