/** The strict reading of a command line: node:util splits it, the flag table judges every part (R24, R25). */
import { parseArgs } from "node:util";
import { PaiError } from "../core/error.ts";
import { suggest } from "../core/suggest.ts";
import { kebabCase } from "../core/text.ts";
import type { Command } from "./command.ts";
import { type FlagKey, type FlagSpec, type Flags, flagTable, specOf } from "./flags.ts";
import { habitOfFlag } from "./habits.ts";

const keys = Object.keys(flagTable) as readonly FlagKey[];

/** The key of a flag as it is written; undefined: there is no such flag. */
function keyOf(name: string): FlagKey | undefined {
  const key = name.replace(/-[a-z]/g, (pair) => pair.slice(1).toUpperCase());
  return Object.hasOwn(flagTable, key) && kebabCase(key) === name ? (key as FlagKey) : undefined;
}

/** The name in `--name` or `--name=value`; null: not such an argument. */
const nameIn = (text: string): string | null => (text.startsWith("--") ? text.slice(2).replace(/=.*/s, "") : null);

/** What node:util needs to know: which of the flags on the line take a value, and the short forms. */
function optionsFor(argv: readonly string[]) {
  const named = new Set(argv.map((text) => keyOf(nameIn(text) ?? "")));
  return Object.fromEntries(
    keys.flatMap((key) => {
      const { type, alias }: { readonly type: string; readonly alias?: string } = flagTable[key];
      if (alias === undefined && !named.has(key)) return [];
      const kind = type === "boolean" ? ("boolean" as const) : ("string" as const);
      return [[kebabCase(key), alias === undefined ? { type: kind } : { type: kind, short: alias }]];
    }),
  );
}

function unknownFlag(text: string): PaiError {
  const near = suggest(text.replace(/^-+/, ""), keys.map(kebabCase));
  return new PaiError("usage", `unknown flag ${text}`, {
    hint: habitOfFlag(text) ?? (near === null ? "see: pai help" : `did you mean --${near}?`),
  });
}

/** The value, checked against the flag's choices. Throws usage for any other. */
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

type Value = true | string | readonly string[];

export interface CommandLine {
  readonly flags: Flags;
  readonly words: readonly string[];
}

/** Part of a command line that names a flag, as node:util hands it out. */
interface Given {
  readonly name: string;
  /** As it was written: "-m", "--model". */
  readonly rawName: string;
  readonly value: string | undefined;
  /** The value was in the same argument: `--model=x`, `-mx`. */
  readonly inlineValue: boolean | undefined;
}

/** The value of a flag that takes one; `-m=x` is `-m x`. Throws usage when it is missing, or is the next flag. */
function readValue(spec: FlagSpec, { rawName, value = "", inlineValue }: Given): string {
  const isShort = !rawName.startsWith("--");
  const text = inlineValue === true && isShort ? value.replace(/^=/, "") : value;
  const isFlag = inlineValue !== true && keyOf(nameIn(text) ?? "") !== undefined;
  if (text !== "" && !isFlag) return requireChoice(spec, text);
  throw new PaiError("usage", `--${spec.name} needs a value: --${spec.name}${spec.optional ? "=" : " "}${spec.value}`);
}

/** The value of one flag, after its earlier one. Throws usage for an unknown flag, and for a value it cannot have. */
function readFlag(key: FlagKey, given: Given, earlier: Value | undefined): Value {
  const spec = specOf(key);
  const others = Array.isArray(earlier) ? earlier : [];
  if (spec.kind === "switch") {
    if (given.inlineValue !== true || earlier === true) return true;
    if (spec.optional !== true) throw new PaiError("usage", `--${spec.name} takes no value`);
    return [...others, readValue(spec, given)];
  }
  const value = readValue(spec, given);
  return spec.kind === "list" ? [...others, value] : value;
}

/** Reads flags anywhere on the line; `--` ends them. Throws usage for unknown flags and missing values. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const { tokens } = parseArgs({
    args: [...argv],
    options: optionsFor(argv),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const flags: Record<string, Value> = {};
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const key = keyOf(token.name);
    if (key === undefined) throw unknownFlag(token.rawName);
    flags[key] = readFlag(key, token, flags[key]);
  }
  return { flags: flags as Flags, words };
}

/** Throws usage for a flag the command does not take. */
export function requireFlags(flags: Flags, { name, takes }: Pick<Command, "name" | "takes">): void {
  const strange = (Object.keys(flags) as FlagKey[]).find((key) => !takes(key));
  if (strange === undefined) return;
  throw new PaiError("usage", `pai ${name} does not take --${kebabCase(strange)}`, { hint: `see: pai help ${name}` });
}
