/** Strictly reads a command line like node:util's parseArgs, which would take half a millisecond to load. */
import { PaiError } from "../core/error.ts";
import { suggest } from "../core/suggest.ts";
import { kebabCase } from "../core/text.ts";
import type { Command } from "./command.ts";
import { type FlagKey, type FlagSpec, type Flags, flagTable, specOf } from "./flags.ts";
import { habitOfFlag } from "./habits.ts";

const keys = Object.keys(flagTable) as readonly FlagKey[];

/** The key of a flag by its name; undefined: unknown flag. */
function keyOf(name: string): FlagKey | undefined {
  const key = name.replace(/-[a-z]/g, (pair) => pair.slice(1).toUpperCase());
  return Object.hasOwn(flagTable, key) && kebabCase(key) === name ? (key as FlagKey) : undefined;
}

/** The name in `--name` or `--name=value`; null: the text is not a long flag. */
const nameIn = (text: string): string | null => (text.startsWith("--") ? text.slice(2).replace(/=.*/s, "") : null);

/** A flag as given in an argument. */
interface Given {
  /** undefined: unknown flag. */
  readonly key: FlagKey | undefined;
  /** As written: "-m", "--model". */
  readonly rawName: string;
  /** Value in the same argument: `--model=x`, `-mx`; undefined: none. */
  readonly inline: string | undefined;
  /** Further short flags in the same argument: `-n` of `-yn`. */
  readonly others: string | null;
}

/** Whether the flag needs a value; an unknown flag does not. */
const takesValue = (key: FlagKey | undefined): boolean => key !== undefined && flagTable[key].type !== "boolean";

function splitLong(text: string): Given {
  const equals = text.indexOf("=", 3);
  const rawName = equals < 0 ? text : text.slice(0, equals);
  return {
    key: keyOf(rawName.slice(2)),
    rawName,
    inline: equals < 0 ? undefined : text.slice(equals + 1),
    others: null,
  };
}

/** Splits off the first short flag, with the rest as its value if it takes one. */
function splitShort(text: string): Given {
  const rawName = text.slice(0, 2);
  const key = keys.find((each) => {
    const row: { readonly type: string; readonly alias?: string } = flagTable[each];
    return row.alias === rawName.slice(1);
  });
  const behind = text.slice(2);
  if (behind === "") return { key, rawName, inline: undefined, others: null };
  return takesValue(key)
    ? { key, rawName, inline: behind, others: null }
    : { key, rawName, inline: undefined, others: `-${behind}` };
}

function unknownFlag(text: string): PaiError {
  const near = suggest(text.replace(/^-+/, ""), keys.map(kebabCase));
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

type Value = true | string | readonly string[];

export interface CommandLine {
  readonly flags: Flags;
  readonly words: readonly string[];
}

/** The value of a flag; `-m=x` means `-m x`. Throws usage if it is missing, or if the next argument is a flag. */
function readValue(spec: FlagSpec, { rawName, inline }: Given, next: string | undefined): string {
  const isShort = !rawName.startsWith("--");
  const text = (isShort ? inline?.replace(/^=/, "") : inline) ?? next ?? "";
  const isFlag = inline === undefined && keyOf(nameIn(text) ?? "") !== undefined;
  if (text !== "" && !isFlag) return requireChoice(spec, text);
  throw new PaiError("usage", `--${spec.name} needs a value: --${spec.name}${spec.optional ? "=" : " "}${spec.value}`);
}

/** The new value of a flag, given its earlier one. Throws usage for an invalid value. */
function readFlag(key: FlagKey, given: Given, next: string | undefined, earlier: Value | undefined): Value {
  const isSwitch = !takesValue(key);
  if (isSwitch && (given.inline === undefined || earlier === true)) return true;
  const spec = specOf(key);
  const others = Array.isArray(earlier) ? earlier : [];
  if (isSwitch) {
    if (spec.optional !== true) throw new PaiError("usage", `--${spec.name} takes no value`);
    return [...others, readValue(spec, given, undefined)];
  }
  const value = readValue(spec, given, next);
  return spec.kind === "list" ? [...others, value] : value;
}

/** Reads the first flag of an argument into `flags`. Takes its value from `left`, and puts further flags back there. */
function readNamed(text: string, left: string[], flags: Record<string, Value>): void {
  const given = text.startsWith("--") ? splitLong(text) : splitShort(text);
  const { key, rawName, inline, others } = given;
  if (key === undefined) throw unknownFlag(rawName);
  const next = inline === undefined && takesValue(key) ? left.shift() : undefined;
  flags[key] = readFlag(key, given, next, flags[key]);
  if (others !== null) left.unshift(others);
}

/** Reads flags anywhere on the line, up to `--`. Throws usage for unknown flags and missing values. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const flags: Record<string, Value> = {};
  const words: string[] = [];
  const left = [...argv];
  for (let text = left.shift(); text !== undefined; text = left.shift()) {
    if (text === "--") words.push(...left.splice(0));
    else if (text === "-" || !text.startsWith("-")) words.push(text);
    else readNamed(text, left, flags);
  }
  return { flags: flags as Flags, words };
}

/** Throws usage for a flag that the command does not take. */
export function requireFlags(flags: Flags, { name, takes }: Pick<Command, "name" | "takes">): void {
  const strange = (Object.keys(flags) as FlagKey[]).find((key) => !takes(key));
  if (strange === undefined) return;
  throw new PaiError("usage", `pai ${name} does not take --${kebabCase(strange)}`, { hint: `see: pai help ${name}` });
}
