/** Every flag once, as citty's argument definitions: reading, help, completions, man page and types come from it. */

/*
 * To add a flag:
 * 1. write a row in `flagTable`; the key is the name in camelCase (`dryRun` is `--dry-run`);
 * 2. name the key in `take(...)` of each command that has it (command-table.ts);
 * 3. read it as `context.flags.dryRun`: its row gives the type, and undefined means "not given".
 * A flag that is a setting too names its key under `flag` in store/setting-table.ts.
 */
import type { BooleanArgDef, EnumArgDef, StringArgDef } from "citty";
import { sandboxUses } from "../core/command/sandbox.ts";
import { efforts } from "../core/model.ts";
import { providerIds } from "../core/providers.ts";
import { severities } from "../core/review.ts";
import { kebabCase } from "../core/text.ts";

/**
 * A flag with a value needs `valueHint` (FILE and DIR are completed by the shell); `multiple` keeps every value. A switch
 * with a `valueHint` may have a value in the same argument (`--allow-run=PATTERN`), and never takes the next word.
 */
type FlagDef =
  | (BooleanArgDef & { readonly type: "boolean"; readonly description: string; readonly valueHint?: string })
  | (StringArgDef & {
      readonly type: "string";
      readonly description: string;
      readonly valueHint: string;
      readonly multiple?: true;
    })
  | (EnumArgDef & {
      readonly type: "enum";
      readonly description: string;
      readonly valueHint: string;
      readonly options: string[];
      /** Also accepts several choices separated by commas; a command that takes one value checks that. */
      readonly several?: true;
    });

/** The exact type of each row, checked against `FlagDef`. */
const rows = <const T extends Record<string, FlagDef>>(table: T): T => table;

export const flagTable = rows({
  model: {
    type: "string",
    alias: "m",
    valueHint: "PROVIDER:NAME",
    description: "model; a,b: b where a fails; plan=a,work=b: one for each",
  },
  effort: {
    type: "enum",
    valueHint: "LEVEL",
    options: [...efforts],
    description: "thinking",
  },
  mode: {
    type: "enum",
    valueHint: "MODE",
    options: ["single-shot", "eight-step", "tool-loop", "auto"],
    several: true,
    description: "way",
  },
  cwd: { type: "string", alias: "C", valueHint: "DIR", description: "work in this folder instead" },
  yes: {
    type: "boolean",
    alias: "y",
    description: "answer yes; never widens budget or policy",
  },
  dryRun: {
    type: "boolean",
    alias: "n",
    description: "write nothing; a task still asks the model",
  },
  json: { type: "boolean", description: "one JSON document on standard output" },
  jsonl: { type: "boolean", description: "one JSON event a line on standard output" },
  quiet: { type: "boolean", alias: "q", description: "only errors on standard error" },
  verbose: { type: "boolean", alias: "v", description: "more on standard error" },
  plain: { type: "boolean", description: "plain lines: no colours, boxes or spinner (also --no-color)" },
  noInput: { type: "boolean", description: "never ask, even at a terminal" },
  maxCalls: { type: "string", valueHint: "N", description: "hard cap on model calls" },
  maxTokens: { type: "string", valueHint: "N", description: "hard cap on tokens, input and output" },
  maxCost: { type: "string", valueHint: "USD", description: "hard cap on cost; needs a known price" },
  timeout: { type: "string", valueHint: "TIME", description: "time limit of the run: 90, 90s, 5m" },
  commandTimeout: {
    type: "string",
    valueHint: "TIME",
    description: "of a command of the model: 30 s, at most 1 h",
  },
  only: {
    type: "string",
    multiple: true,
    valueHint: "GLOB",
    description: "change nothing outside these paths",
  },
  check: {
    type: "string",
    multiple: true,
    valueHint: "CMD",
    description: "must pass afterwards; also runs before the work",
  },
  format: {
    type: "string",
    multiple: true,
    valueHint: "CMD",
    description: "formats what changed before the checks; {}: each file",
  },
  allowDelete: { type: "boolean", description: "planned deletions need no question" },
  merge: { type: "boolean", description: "merge with what changed meanwhile on other lines" },
  // biome-ignore lint/suspicious/noThenProperty: the name is a contract, and its value no function
  then: {
    type: "string",
    multiple: true,
    valueHint: "CMD",
    description: "your command once the change is proved; if it fails, the change is taken back",
  },
  thenUnverified: { type: "boolean", description: "run --then after any successful change" },
  thenAgain: { type: "boolean", description: "run --then again after a change was taken back" },
  noBaseline: { type: "boolean", description: "do not run the checks before the work" },
  noWorse: { type: "boolean", description: "accept a check that fails just as before" },
  allowRun: {
    type: "boolean",
    valueHint: "PATTERN",
    description: "planned commands and checks need no question; =PATTERN: those that it matches",
  },
  commit: {
    type: "boolean",
    valueHint: "MESSAGE",
    description: "commit exactly what a verified run changed",
  },
  strict: { type: "boolean", description: "grant nothing beyond the plan" },
  planFirst: { type: "boolean", description: "a small task gets a plan first, too" },
  allow: {
    type: "string",
    multiple: true,
    valueHint: "PATH",
    description: "changed unasked: file, folder or glob; closed files by their exact path",
  },
  env: {
    type: "string",
    multiple: true,
    valueHint: "NAME",
    description: "commands and checks get this variable too",
  },
  sandbox: {
    type: "enum",
    valueHint: "LEVEL",
    options: ["auto", "full", "writes", "off"],
    description: "weakest for commands",
  },
  checkSandbox: {
    type: "enum",
    valueHint: "LEVEL",
    options: [...sandboxUses],
    description: "weakest for your checks",
  },
  allowNet: { type: "boolean", description: "commands may use the network" },
  allowWrite: {
    type: "string",
    multiple: true,
    valueHint: "PATH",
    description: "commands may write this path too; .git for git",
  },
  allowRead: {
    type: "string",
    multiple: true,
    valueHint: "PATH",
    description: "commands may read this hidden path",
  },
  ephemeral: { type: "boolean", description: "keep nothing of the run: no log, no undo" },
  review: { type: "boolean", description: "show each change and ask before applying it" },
  keep: { type: "boolean", description: "keep what a failed run changed, or the demo's folder" },
  file: { type: "string", alias: "f", valueHint: "FILE", description: "read the task from a file" },
  stdin: { type: "boolean", description: "add standard input to the task" },
  show: {
    type: "string",
    multiple: true,
    valueHint: "PATH",
    description: "may be read though outside; host: processes, too",
  },
  also: {
    type: "string",
    multiple: true,
    valueHint: "DIR",
    description: "a folder beside the project may be changed, too",
  },
  noStdin: { type: "boolean", description: "do not read what is piped in" },
  outputSchema: {
    type: "string",
    valueHint: "FILE",
    description: "the answer is JSON of this JSON Schema",
  },
  output: { type: "string", alias: "o", valueHint: "FILE", description: "write the result to this file" },
  saveChange: {
    type: "string",
    valueHint: "FILE",
    description: "save a verified change, for pai apply elsewhere",
  },
  base: { type: "string", valueHint: "REF", description: "what is compared with: a commit or branch, default HEAD" },
  failOn: {
    type: "enum",
    valueHint: "SEVERITY",
    options: [...severities],
    description: "exit 9 for a finding as grave as this",
  },
  full: { type: "boolean", description: "make the edits too, so that apply needs no model" },
  forceRoot: { type: "boolean", description: "work in the home folder and the like" },
  all: { type: "boolean", description: "the runs of all folders" },
  team: { type: "boolean", description: "the runs of the whole team, from store.url" },
  by: {
    type: "enum",
    valueHint: "WHAT",
    options: ["day", "model", "mode", "folder", "user"],
    description: "what the runs are grouped by; user only with --team",
  },
  since: { type: "string", valueHint: "TIME", description: "12h, 7d, 4w, a date or all; default 30d" },
  csv: { type: "boolean", description: "comma-separated values on standard output" },
  out: { type: "string", valueHint: "FILE", description: "write the page to this file, with everything in it" },
  port: { type: "string", valueHint: "N", description: "port to listen on; default: a free one" },
  repeat: { type: "string", valueHint: "N", description: "how often each candidate tries each task, default 1" },
  jobs: { type: "string", valueHint: "N", description: "how many runs work at the same time, default 2" },
  shard: { type: "string", valueHint: "I/N", description: "do only the I-th of N shares" },
  queue: {
    type: "string",
    valueHint: "NAME",
    description: "a queue of the team's store: fill it, empty it, report on it",
  },
  results: { type: "string", valueHint: "FILE", description: "where results are kept, default eval-results.jsonl" },
  to: { type: "string", valueHint: "DIR", description: "folder to write to" },
  language: { type: "string", valueHint: "NAME", description: "only the exercises of this language" },
  list: { type: "boolean", description: "list the sessions of this folder" },
  verify: { type: "boolean", description: "check that no line of a receipt was changed or lost" },
  prune: { type: "boolean", description: "delete what is kept of old runs, or all sessions but the newest 20" },
  purge: { type: "boolean", description: "remove keys, settings, journals and sessions too" },
  online: { type: "boolean", description: "ask the provider too" },
  offline: { type: "boolean", description: "ask nothing over the network" },
  provider: {
    type: "string",
    valueHint: "PROVIDER",
    description: `provider of the key: ${providerIds.join(", ")}, or one of your own`,
  },
  continue: {
    type: "boolean",
    valueHint: "ID",
    description: "go on with the last session, or the one named",
  },
  revoke: { type: "boolean", description: "revoke the trust" },
  help: { type: "boolean", alias: "h", description: "show help" },
  version: { type: "boolean", alias: "V", description: "show the version" },
});

type FlagTable = typeof flagTable;
export type FlagKey = keyof FlagTable;

/** Flags of a task by what they are about, as the help of a command with many flags shows them. */
export const flagGroups: Readonly<Record<string, readonly FlagKey[]>> = {
  Asking: [
    "model",
    "effort",
    "mode",
    "planFirst",
    "file",
    "stdin",
    "noStdin",
    "show",
    "continue",
    "yes",
    "noInput",
    "review",
  ],
  Budget: ["maxCalls", "maxTokens", "maxCost", "timeout", "commandTimeout"],
  "What may change": ["cwd", "also", "only", "allow", "allowDelete", "strict", "merge", "forceRoot", "dryRun", "keep"],
  Checks: ["format", "check", "noBaseline", "noWorse", "then", "thenUnverified", "thenAgain", "commit"],
  Commands: ["allowRun", "sandbox", "checkSandbox", "allowNet", "allowRead", "allowWrite", "env"],
  Output: ["json", "jsonl", "outputSchema", "output", "saveChange", "quiet", "verbose", "plain", "ephemeral"],
};

type ValueOf<D> = D extends { readonly type: "boolean" }
  ? D extends { readonly valueHint: string }
    ? boolean | readonly string[]
    : boolean
  : D extends { readonly multiple: true }
    ? readonly string[]
    : D extends { readonly options: readonly (infer Choice)[] }
      ? Choice
      : string;

/** The flags of a command line by key; undefined: not given. */
export type Flags = { readonly [K in FlagKey]?: ValueOf<FlagTable[K]> | undefined };

/** Rows of the table by key, for the `args` of a command. Help shows them in the order of the table. */
export function take<K extends FlagKey>(...keys: readonly K[]): { readonly [P in K]: FlagTable[P] } {
  return Object.fromEntries(keys.map((key) => [key, flagTable[key]])) as { readonly [P in K]: FlagTable[P] };
}

/** A flag for help, completions and the man page. */
export interface FlagSpec {
  /** Without dashes: "dry-run". */
  readonly name: string;
  readonly short?: string;
  readonly kind: "switch" | "text" | "list";
  /** Name of the value: "PROVIDER:NAME". */
  readonly value?: string;
  /** The value may be left out, or given after `=` only. */
  readonly optional?: true;
  /** All possible values; absent: any. */
  readonly choices?: readonly string[];
  /** Accepts several of the choices, separated by commas. */
  readonly several?: true;
  readonly about: string;
}

function describe(key: string, row: FlagDef): FlagSpec {
  const short = row.alias === undefined ? {} : { short: String(row.alias) };
  const name = kebabCase(key);
  if (row.type === "boolean") {
    const value = row.valueHint === undefined ? {} : { value: row.valueHint, optional: true as const };
    return { name, kind: "switch", about: row.description, ...value, ...short };
  }
  const value = row.valueHint;
  if (row.type === "enum")
    return {
      name,
      kind: "text",
      value,
      about: `${row.description}: ${row.options.join(", ")}`,
      choices: row.options,
      ...(row.several && { several: row.several }),
      ...short,
    };
  return { name, kind: row.multiple === true ? "list" : "text", value, about: row.description, ...short };
}

const specs = new Map<FlagKey, FlagSpec>();

/** Always the same object for a flag, so that the flags of two commands can be compared. */
export function specOf(key: FlagKey): FlagSpec {
  const spec = specs.get(key) ?? describe(key, flagTable[key]);
  specs.set(key, spec);
  return spec;
}

export const specsOf = (keys: readonly FlagKey[]): readonly FlagSpec[] => keys.map(specOf);
