/** The check in front of citty: refuses what citty passes over, collects what it cannot hold, and orders the rest. */

/*
 * citty parses and dispatches. Of its own it takes unknown flags and missing values, keeps the last of several values,
 * loses flags before the command, and reads `--no-input` as the opposite of `--input`.
 */
import { parseArgs } from "node:util";
import type { ArgDef, ArgsDef } from "citty";
import { PaiError } from "../core/error.ts";
import { suggest } from "../core/suggest.ts";
import { kebabCase } from "../core/text.ts";
import type { Command } from "./command.ts";
import { type FlagKey, type FlagSpec, type Flags, flagTable, specOf } from "./flags.ts";
import { habitOfFlag } from "./habits.ts";

export interface CommandLine {
  readonly words: readonly string[];
  /** Flags with at most one value: the last one of each, true for a switch. */
  readonly single: ReadonlyMap<FlagKey, string | true>;
  /** The values of repeatable flags and of switches with values. */
  readonly lists: ReadonlyMap<FlagKey, readonly string[]>;
}

const keys = Object.keys(flagTable) as readonly FlagKey[];

/** Flags by name, as node:util wants them. */
const options = Object.fromEntries(
  keys.map((key) => {
    const row: { readonly type: string; readonly alias?: string } = flagTable[key];
    const type = row.type === "boolean" ? ("boolean" as const) : ("string" as const);
    return [kebabCase(key), row.alias === undefined ? { type } : { type, short: row.alias }];
  }),
);

/** The key of a flag by its name; undefined: unknown flag. */
function keyOf(name: string): FlagKey | undefined {
  return Object.hasOwn(options, name) ? keys.find((key) => kebabCase(key) === name) : undefined;
}

function unknownFlag(text: string): PaiError {
  const near = suggest(text.replace(/^-+/, ""), Object.keys(options));
  return new PaiError("usage", `unknown flag ${text}`, {
    hint: habitOfFlag(text) ?? (near === null ? "see: pai help" : `did you mean --${near}?`),
  });
}

/** The value, if it is one of the flag's choices. Throws usage otherwise. */
function requireChoice({ name, choices, several }: FlagSpec, value: string): string {
  if (choices === undefined) return value;
  const chosen = value.trim();
  const parts = several === true ? chosen.split(",") : [chosen];
  if (parts.every((part) => choices.includes(part))) return chosen;
  const near = suggest(chosen, choices);
  throw new PaiError("usage", `--${name} must be one of ${choices.join(", ")}`, {
    hint: near === null ? undefined : `did you mean --${name} ${near}?`,
  });
}

/** A flag as node:util found it. */
interface Given {
  /** As written: "-m", "--model". */
  readonly rawName: string;
  readonly value?: string | undefined;
  /** The value is in the same argument. */
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
    const spec = specOf(key);
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

/** Throws usage for a flag that the command does not take. */
export function requireFlags({ single, lists }: CommandLine, { name, takes }: Pick<Command, "name" | "takes">): void {
  const strange = [...single.keys(), ...lists.keys()].find((key) => !takes(key));
  if (strange === undefined) return;
  throw new PaiError("usage", `pai ${name} does not take --${kebabCase(strange)}`, { hint: `see: pai help ${name}` });
}

/**
 * The line as citty reads it: the command first, flags by their keys, since citty takes `--no-input` for the opposite of
 * `--input`, and the words last.
 */
export function orderLine(command: string, words: readonly string[], { single }: CommandLine): string[] {
  const flags = [...single].map(([key, value]) => (value === true ? `--${key}` : `--${key}=${value}`));
  return [command, ...flags, "--", ...words];
}

/** What a command takes, for citty: each command judges its own words, and choices were judged by the check. */
export const argsForCitty = (args: ArgsDef): ArgsDef =>
  Object.fromEntries(
    Object.entries(args).map(([name, row]): [string, ArgDef] => {
      if (row.type === "positional") return [name, { ...row, required: false }];
      return [name, row.type === "enum" ? { ...row, type: "string" } : row];
    }),
  );

/** The flags of a line, with the values that citty read. */
export function flagsOf(args: Readonly<Record<string, unknown>>, { single, lists }: CommandLine): Flags {
  const read = [...single.keys()].map((key) => [key, args[key]] as const);
  // A switch alone means more than with its values.
  return Object.fromEntries([...lists, ...read]) as Flags;
}
