/** Every flag pai knows, and the strict reading of a command line (R24, R25). */
import { PaiError } from "../core/error.ts";
import { suggest } from "../core/suggest.ts";
import type { FlagSpec, Flags } from "./command.ts";

const switchFlag = (name: string, about: string, short?: string): FlagSpec => ({
  name,
  kind: "switch",
  about,
  ...(short && { short }),
});
const valueFlag = (name: string, value: string, about: string, short?: string): FlagSpec => ({
  name,
  kind: "text",
  value,
  about,
  ...(short && { short }),
});

const choiceFlag = (name: string, value: string, about: string, choices: readonly string[]): FlagSpec => ({
  ...valueFlag(name, value, `${about}${choices.join(", ")}`),
  choices,
});

/** By name; commands list the names they take. */
export const flagTable = {
  model: valueFlag("model", "PROVIDER:NAME", "model to ask", "m"),
  temperature: valueFlag("temperature", "N", "0 to 2, default 0.3", "t"),
  mode: choiceFlag("mode", "MODE", "", ["single-shot", "eight-step", "tool-loop", "auto"]),
  cwd: valueFlag("cwd", "DIR", "work in this folder instead", "C"),
  yes: switchFlag("yes", "answer yes to questions; never widens what the plan, a budget or the policy allows", "y"),
  "dry-run": switchFlag("dry-run", "show what would change, write nothing; a task still asks the model", "n"),
  json: switchFlag("json", "one JSON document on standard output"),
  jsonl: switchFlag("jsonl", "one JSON event a line on standard output"),
  quiet: switchFlag("quiet", "only errors on standard error", "q"),
  verbose: switchFlag("verbose", "more on standard error", "v"),
  "no-color": switchFlag("no-color", "no colours"),
  plain: switchFlag("plain", "plain lines: no colours, boxes or spinner"),
  "no-input": switchFlag("no-input", "never ask, even at a terminal"),
  "max-calls": valueFlag("max-calls", "N", "hard cap on model calls"),
  "max-tokens": valueFlag("max-tokens", "N", "hard cap on tokens, input and output together"),
  "max-cost": valueFlag("max-cost", "USD", "hard cap on cost; needs a known price"),
  timeout: valueFlag("timeout", "TIME", "time limit of the whole run: 90, 90s, 5m"),
  only: { name: "only", kind: "list", value: "GLOB", about: "change nothing outside these paths (repeatable)" },
  check: { name: "check", kind: "list", value: "CMD", about: "command that must pass afterwards (repeatable)" },
  "allow-delete": switchFlag("allow-delete", "planned deletions may happen without a question"),
  "allow-run": switchFlag("allow-run", "planned commands and checks may run without a question"),
  ephemeral: switchFlag("ephemeral", "keep nothing beyond the run: no log, no journal, no undo"),
  keep: switchFlag("keep", "keep what a failed run changed, or the folder of the demo"),
  file: valueFlag("file", "FILE", "read the task from a file", "f"),
  stdin: switchFlag("stdin", "add standard input to the task as context"),
  output: valueFlag("output", "FILE", "write the result there", "o"),
  full: switchFlag("full", "make the edits too, so that apply needs no model"),
  "force-root": switchFlag("force-root", "work in a folder pai would refuse, such as the home folder"),
  "no-plan-cache": switchFlag("no-plan-cache", "never use the plan of an earlier run again"),
  prune: switchFlag("prune", "delete what is kept of old runs"),
  purge: switchFlag("purge", "remove keys, settings, journals and sessions too"),
  online: switchFlag("online", "ask the provider too"),
  offline: switchFlag("offline", "ask nothing over the network"),
  provider: choiceFlag("provider", "P", "whose key: ", ["gemini", "openai", "anthropic", "local"]),
  "insecure-http": switchFlag("insecure-http", "send a key over plain http"),
  debug: switchFlag("debug", "show where an error came from"),
  continue: switchFlag("continue", "continue the last session"),
  revoke: switchFlag("revoke", "take the trust back"),
  set: valueFlag("set", "KEY", "deprecated: pai config set"),
  show: switchFlag("show", "deprecated: pai config show"),
  remove: switchFlag("remove", "deprecated: pai config remove"),
  help: switchFlag("help", "show help", "h"),
  version: switchFlag("version", "show the version", "V"),
} satisfies Record<string, FlagSpec>;

export type FlagName = keyof typeof flagTable;

const byName = new Map<string, FlagSpec>(Object.values(flagTable).map((spec) => [spec.name, spec]));
const byShort = new Map<string, FlagSpec>(
  Object.values<FlagSpec>(flagTable).flatMap((spec) => (spec.short ? [[spec.short, spec]] : [])),
);

export interface CommandLine {
  readonly flags: Flags;
  readonly words: readonly string[];
}

function unknownFlag(text: string): PaiError {
  const near = suggest(text.replace(/^-+/, ""), [...byName.keys()]);
  return new PaiError("usage", `unknown flag ${text}`, {
    hint: near === null ? "see: pai help" : `did you mean --${near}?`,
  });
}

/** Throws usage for a value that is none of the flag's choices. */
function requireChoice({ name, choices }: FlagSpec, value: string): void {
  if (choices === undefined || choices.includes(value.trim())) return;
  const near = suggest(value.trim(), choices);
  throw new PaiError("usage", `--${name} must be one of ${choices.join(", ")}`, {
    hint: near === null ? undefined : `did you mean --${name} ${near}?`,
  });
}

interface Given {
  readonly spec: FlagSpec;
  /** Written in the same argument; null: not there. */
  readonly value: string | null;
}

function readLong(text: string): Given {
  const at = text.indexOf("=");
  const name = text.slice(2, at < 0 ? undefined : at);
  const spec = byName.get(name);
  if (spec === undefined) throw unknownFlag(`--${name}`);
  if (spec.kind === "switch" && at >= 0) throw new PaiError("usage", `--${name} takes no value`);
  return { spec, value: at < 0 ? null : text.slice(at + 1) };
}

/** `-yv` is `-y -v`; what follows a short flag with a value is the value. */
function readShort(text: string): readonly Given[] {
  const found: Given[] = [];
  for (let at = 1; at < text.length; at += 1) {
    const spec = byShort.get(text[at] ?? "");
    if (spec === undefined) throw unknownFlag(`-${text[at]}`);
    const value = spec.kind === "switch" ? "" : text.slice(at + 1).replace(/^=/, "");
    found.push({ spec, value: value === "" ? null : value });
    if (value !== "") break;
  }
  return found;
}

/** One argument as flags; none: it is a word. */
function readArgument(text: string): readonly Given[] {
  if (!text.startsWith("-") || text === "-") return [];
  return text.startsWith("--") ? [readLong(text)] : readShort(text);
}

/** Reads flags anywhere on the line; `--` ends them. Throws usage for unknown flags and missing values. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const flags: Record<string, boolean | string | readonly string[]> = {};
  const words: string[] = [];
  const rest = [...argv];
  const set = ({ spec, value }: Given) => {
    if (spec.kind === "switch") flags[spec.name] = true;
    else {
      const given = value ?? rest.shift() ?? "";
      if (given === "") throw new PaiError("usage", `--${spec.name} needs a value: --${spec.name} ${spec.value}`);
      requireChoice(spec, given);
      const earlier = flags[spec.name];
      flags[spec.name] = spec.kind === "list" ? [...(Array.isArray(earlier) ? earlier : []), given] : given;
    }
  };
  for (let text = rest.shift(); text !== undefined; text = rest.shift()) {
    if (text === "--") return { flags, words: [...words, ...rest] };
    const given = readArgument(text);
    if (given.length === 0) words.push(text);
    for (const each of given) set(each);
  }
  return { flags, words };
}

/** Throws usage for a flag the command does not take. */
export function requireFlags(flags: Flags, command: string, taken: readonly FlagSpec[]): void {
  const names = new Set(taken.map(({ name }) => name));
  const strange = Object.keys(flags).find((name) => !names.has(name));
  if (strange !== undefined)
    throw new PaiError("usage", `pai ${command} does not take --${strange}`, { hint: `see: pai help ${command}` });
}

/** The value of a flag that takes one; null: not given. */
export function textFlag(flags: Flags, name: FlagName): string | null {
  const given = flags[name];
  return typeof given === "string" ? given : null;
}

/** All values of a flag that can be repeated; none: not given. */
export function listFlag(flags: Flags, name: FlagName): readonly string[] {
  const given = flags[name];
  return typeof given === "object" ? given : [];
}

/** The globs of --only, as paths of the project are spelled: `./src/` is all that `src` holds. */
export const onlyFlag = (flags: Flags): readonly string[] =>
  listFlag(flags, "only").map((glob) => glob.replace(/^(\.\/)+/, "").replace(/\/$/, "/**"));

/** In this order, which is that of the help. */
export const flagsNamed = (...names: readonly FlagName[]): readonly FlagSpec[] => names.map((name) => flagTable[name]);
