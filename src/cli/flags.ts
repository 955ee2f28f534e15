/** Every flag once: reading, help, completions, man page and types come from it; and the flags whose values need more than a type. */

import { resolve } from "node:path";
import { isJoined, type RunGrant } from "../core/command/run-patterns.ts";
import { sandboxUses } from "../core/command/sandbox.ts";
import { PaiError } from "../core/error.ts";
import { efforts } from "../core/model.ts";
import { providerIds } from "../core/providers.ts";
import { severities } from "../core/review.ts";
import { kebabCase } from "../core/text.ts";
import type { RunOptions } from "../flows/run.ts";
import { realPathOf } from "../system/lookups.ts";

interface Row {
  readonly short?: string;
  readonly kind: "switch" | "text" | "list";
  readonly value?: string;
  /** Of a switch: a value may follow in the same argument, after `=`. */
  readonly optional?: true;
  readonly choices?: readonly string[];
  /** Accepts several of the choices, separated by commas; a command that takes one value checks that. */
  readonly several?: true;
  readonly about: string;
}

/** A flag for help, completions and the man page; `name` without dashes: "dry-run". */
export interface FlagSpec extends Row {
  readonly name: string;
}

const shortOf = (short?: string) => (short === undefined ? {} : { short });
const toggle = (about: string, short?: string) => ({ kind: "switch" as const, about, ...shortOf(short) });
const toggleWith = (value: string, about: string) => ({ ...toggle(about), value, optional: true as const });
const text = (value: string, about: string, short?: string) => ({
  kind: "text" as const,
  value,
  about,
  ...shortOf(short),
});
const list = (value: string, about: string) => ({ kind: "list" as const, value, about });
const choice = <const T extends readonly string[]>(value: string, choices: T, about: string, several?: "several") => ({
  kind: "text" as const,
  value,
  about: `${about}: ${choices.join(", ")}`,
  choices,
  ...(several === undefined ? {} : { several: true as const }),
});

const rows = {
  model: text("PROVIDER:NAME", "model; a,b: b where a fails; plan=a,work=b: one for each", "m"),
  effort: choice("LEVEL", efforts, "thinking"),
  mode: choice("MODE", ["single-shot", "eight-step", "tool-loop", "auto"], "way", "several"),
  cwd: text("DIR", "work in this folder instead", "C"),
  yes: toggle("answer yes; never widens budget or policy", "y"),
  dryRun: toggle("write nothing; a task still asks the model", "n"),
  json: toggle("one JSON document on standard output"),
  jsonl: toggle("one JSON event a line on standard output"),
  quiet: toggle("only errors on standard error", "q"),
  verbose: toggle("more on standard error", "v"),
  plain: toggle("plain lines: no colours, boxes or spinner (also --no-color)"),
  noInput: toggle("never ask, even at a terminal"),
  maxCalls: text("N", "hard cap on model calls"),
  maxTokens: text("N", "hard cap on tokens, input and output"),
  maxCost: text("USD", "hard cap on cost; needs a known price"),
  timeout: text("TIME", "time limit of the run: 90, 90s, 5m"),
  commandTimeout: text("TIME", "of a command of the model: 30 s, at most 1 h"),
  only: list("GLOB", "change nothing outside these paths"),
  check: list("CMD", "must pass afterwards; also runs before the work"),
  format: list("CMD", "formats what changed before the checks; {}: each file"),
  allowDelete: toggle("planned deletions need no question"),
  merge: toggle("merge with what changed meanwhile on other lines"),
  // biome-ignore lint/suspicious/noThenProperty: the name is a contract, and its value no function
  then: list("CMD", "your command once the change is proved; if it fails, the change is taken back"),
  thenUnverified: toggle("run --then after any successful change"),
  thenAgain: toggle("run --then again after a change was taken back"),
  noBaseline: toggle("do not run the checks before the work"),
  noWorse: toggle("accept a check that fails just as before"),
  allowRun: toggleWith("PATTERN", "planned commands and checks need no question; =PATTERN: those that it matches"),
  commit: toggleWith("MESSAGE", "commit the files that a verified run changed"),
  strict: toggle("grant nothing beyond the plan"),
  planFirst: toggle("a small task gets a plan first, too"),
  allow: list("PATH", "changed unasked: file, folder or glob; closed files by their exact path"),
  env: list("NAME", "commands and checks get this variable too"),
  sandbox: choice("LEVEL", ["auto", "full", "writes", "off"], "weakest for commands"),
  checkSandbox: choice("LEVEL", sandboxUses, "weakest for your checks"),
  allowNet: toggle("commands may use the network"),
  allowWrite: list("PATH", "commands may write this path too; .git for git"),
  allowRead: list("PATH", "commands may read this hidden path"),
  ephemeral: toggle("keep nothing of the run: no log, no undo"),
  review: toggle("show each change and ask before applying it"),
  keep: toggle("keep what a failed run changed, or the demo's folder"),
  file: text("FILE", "read the task from a file", "f"),
  stdin: toggle("add standard input to the task"),
  show: list("PATH", "may be read though outside; host: processes, too"),
  also: list("DIR", "a folder beside the project may be changed, too"),
  noStdin: toggle("do not read what is piped in"),
  outputSchema: text("FILE", "the answer is JSON of this JSON Schema"),
  output: text("FILE", "write the result to this file", "o"),
  saveChange: text("FILE", "save a verified change, for pai apply elsewhere"),
  base: text("REF", "what is compared with: a commit or branch, default HEAD"),
  failOn: choice("SEVERITY", severities, "exit 9 for a finding as grave as this"),
  full: toggle("make the edits too, so that apply needs no model"),
  forceRoot: toggle("work in the home folder and the like"),
  all: toggle("the runs of all folders"),
  team: toggle("the runs of the whole team, from store.url"),
  by: choice("WHAT", ["day", "model", "mode", "folder", "user"], "what the runs are grouped by; user only with --team"),
  since: text("TIME", "12h, 7d, 4w, a date or all; default 30d"),
  csv: toggle("comma-separated values on standard output"),
  out: text("FILE", "write the page to this file, with everything in it"),
  port: text("N", "port to listen on; default: a free one"),
  repeat: text("N", "how often each candidate tries each task, default 1"),
  jobs: text("N", "how many runs work at the same time, default 2"),
  shard: text("I/N", "do only the I-th of N shares"),
  queue: text("NAME", "a queue of the team's store: fill it, empty it, report on it"),
  results: text("FILE", "where results are kept, default eval-results.jsonl"),
  to: text("DIR", "folder to write to"),
  language: text("NAME", "only the exercises of this language"),
  list: toggle("list the sessions of this folder"),
  verify: toggle("check that no line of a receipt was changed or lost"),
  prune: toggle("delete what is kept of old runs, or all sessions but the newest 20"),
  purge: toggle("remove keys, settings, journals and sessions too"),
  online: toggle("ask the provider too"),
  offline: toggle("ask nothing over the network"),
  provider: text("PROVIDER", `provider of the key: ${providerIds.join(", ")}, or one of your own`),
  continue: toggleWith("ID", "go on with the last session, or the one named"),
  revoke: toggle("revoke the trust"),
  help: toggle("show help", "h"),
  version: toggle("show the version", "V"),
} satisfies Record<string, Row>;

type Rows = typeof rows;
export type FlagKey = keyof Rows;

/** Always the same object for a flag, so that the flags of two commands can be compared. Help shows them in this order. */
export const flagTable = Object.fromEntries(
  Object.entries(rows).map(([key, row]) => [key, { name: kebabCase(key), ...row }]),
) as unknown as { readonly [K in FlagKey]: FlagSpec & Rows[K] };

export const flagKeys = Object.keys(rows) as readonly FlagKey[];

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

type ValueOf<R> = R extends { readonly kind: "switch" }
  ? R extends { readonly optional: true }
    ? boolean | readonly string[]
    : boolean
  : R extends { readonly kind: "list" }
    ? readonly string[]
    : R extends { readonly choices: readonly (infer Choice)[] }
      ? Choice
      : string;

/** The flags of a command line by key; undefined: not given. */
export type Flags = { readonly [K in FlagKey]?: ValueOf<Rows[K]> | undefined };

/** Globs of a flag, spelled like paths of the project: `./src/` means everything in `src`. Throws usage for `!glob`. */
function globsOf(name: string, globs: readonly string[] = []): readonly string[] {
  return globs.map((glob) => {
    if (glob.startsWith("!"))
      throw new PaiError("usage", `--${name} names what is allowed: a glob cannot begin with "!"`);
    return glob.replace(/^(\.\/)+/, "").replace(/\/$/, "/**");
  });
}

export const onlyFlag = ({ only }: Flags): readonly string[] => globsOf("only", only);

export const alsoFlag = ({ cwd, flags }: { readonly cwd: string; readonly flags: Flags }): readonly string[] =>
  (flags.also ?? []).map((path) => resolve(cwd, path));

/** What may be changed unasked: relative to the root, or absolute in what --also names. Throws usage for others. */
export function allowFlag(context: { readonly cwd: string; readonly flags: Flags }, root: string): readonly string[] {
  const { allow = [] } = context.flags;
  const roots = [root, realPathOf(root) ?? root];
  const others = alsoFlag(context).map((path) => realPathOf(path) ?? path);
  const relative = allow.map((path) => {
    const above = roots.find((each) => path.startsWith(`${each}/`));
    if (!path.startsWith("/")) return path;
    if (above !== undefined) return path.slice(above.length + 1);
    if (others.some((each) => path.startsWith(`${each}/`))) return path;
    throw new PaiError("usage", `--allow ${path}: is not in ${root}`, { hint: "name a path of the project" });
  });
  return globsOf("allow", relative);
}

export function shownFlag({ cwd, flags }: { readonly cwd: string; readonly flags: Flags }) {
  const given = flags.show ?? [];
  const paths = given.filter((each) => each !== "host").map((path) => resolve(cwd, path));
  return { paths, host: given.includes("host") };
}

/** Names of variables. Throws usage for anything else, such as NAME=VALUE. */
export function envFlag({ env = [] }: Flags): readonly string[] {
  const wrong = env.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (wrong === undefined) return env;
  throw new PaiError("usage", `--env takes the name of a variable, not ${JSON.stringify(wrong)}`, {
    hint: `set it in your environment, then: --env ${wrong.split("=")[0] || "NAME"}`,
  });
}

/** The commands that --allow-run permits: all, or those of its patterns. Throws usage for one that cannot match. */
export function runFlag({ allowRun = false }: Flags): RunGrant {
  const hopeless = typeof allowRun === "boolean" ? undefined : allowRun.find(isJoined);
  if (hopeless === undefined) return allowRun;
  throw new PaiError("usage", `--allow-run=${hopeless}: a command with one of ;&|<>$() or \` matches no pattern`, {
    hint: "--allow-run alone permits every command of the plan",
  });
}

export const spellRunFlag = (grant: RunGrant): readonly string[] =>
  typeof grant === "boolean" ? (grant ? ["--allow-run"] : []) : grant.map((pattern) => `--allow-run=${pattern}`);

/** What to commit; null: nothing. Throws usage for an empty message, and beside --also. */
export function commitFlag({ commit, also }: Flags): NonNullable<RunOptions["commit"]> | null {
  if (commit === undefined) return null;
  if (also !== undefined) {
    throw new PaiError("usage", "--commit and --also: a commit holds one project's files", {
      hint: "leave --commit out, and commit in each folder with git once the change is proved",
    });
  }
  const message = typeof commit === "object" ? (commit.at(-1) ?? null) : null;
  if (message?.trim() === "") throw new PaiError("usage", "--commit= needs a message");
  return { message };
}
