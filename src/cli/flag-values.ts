/** Flags whose values need more than a type: globs, names, patterns. All functions throw usage. */

import { resolve } from "node:path";
import { isJoined, type RunGrant } from "../core/command/run-patterns.ts";
import { PaiError } from "../core/error.ts";
import type { RunOptions } from "../flows/run.ts";
import { realPathOf } from "../system/lookups.ts";
import type { Flags } from "./flags.ts";

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

/** The grant as arguments for another pai. */
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
