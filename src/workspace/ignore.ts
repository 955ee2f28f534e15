/** Which names a scan leaves out: .gitignore and .paiignore of every folder, .git/info/exclude, node_modules. */
import ignore, { type Ignore } from "ignore";
import type { RelPath } from "../core/path.ts";
import { joinPath } from "./parse-path.ts";

/** The rules that hold in one folder: its own, then those of the folders above. */
export interface IgnoreRules {
  /** Whether a child of this folder is left out. */
  ignores(name: string, isFolder: boolean): boolean;
  /** The rules for a folder in this one, given what it holds (only names listed there are looked for). */
  inside(name: string, holds: readonly string[]): IgnoreRules;
}

const fileNames = [".gitignore", ".paiignore"];

/** Whether a file of this path may hold the rules of a folder. */
export const holdsIgnoreRules = (path: RelPath): boolean => fileNames.includes(path.slice(path.lastIndexOf("/") + 1));

/** Of all rules that a walk reads together: more are not looked at, and leave nothing out. */
const most = { bytes: 256 * 1024, rules: 5000 } as const;
/** Of one rule: matching takes a power of the path's length by these, so a rule with more counts as none. */
const maxWild = { folders: 3, stars: 3 } as const;

/** Gives the bytes of a file; null: there is none. Throws when it is larger than `limit`, and what the system refuses. */
export interface Reader {
  readBytes(path: RelPath, limit: number): { readonly bytes: Uint8Array } | null;
}

/** The rest of the limits. */
interface Budget {
  bytes: number;
  rules: number;
}

/**
 * The rules that hold in `folder`. Where the folder is itself ignored, it was named on purpose: then only its own
 * rules count. A rules file that is a link, special or too large counts as none.
 */
export function openIgnore(root: Reader, folder: RelPath): IgnoreRules {
  const top = "" as RelPath;
  const budget: Budget = { ...most };
  const exclude = readRules(root, ".git/info/exclude" as RelPath, budget);
  const base: Link[] = [{ folder: top, matcher: nodeModules }];
  if (exclude !== "") base.unshift({ folder: top, matcher: ignore({ ignorecase: false }).add(exclude) });
  let rules = rulesAt(root, top, addFiles(root, top, fileNames, base, budget), budget);
  let at = top;
  for (const name of folder === "" ? [] : folder.split("/")) {
    const named = rules.ignores(name, true);
    at = joinPath(at, name);
    rules = named
      ? rulesAt(root, at, addFiles(root, at, fileNames, [], budget), budget)
      : rules.inside(name, fileNames);
  }
  return rules;
}

/** One folder's matcher; nearest first in a chain. */
interface Link {
  readonly folder: RelPath;
  readonly matcher: Pick<Ignore, "test">;
}

const nodeModules: Link["matcher"] = {
  test: (path) => ({ ignored: path.endsWith("node_modules/") && /(^|\/)node_modules\/$/.test(path), unignored: false }),
};

function rulesAt(root: Reader, folder: RelPath, chain: readonly Link[], budget: Budget): IgnoreRules {
  return {
    ignores(name, isFolder) {
      const path = joinPath(folder, name);
      for (const link of chain) {
        const below = link.folder === "" ? path : path.slice(link.folder.length + 1);
        const { ignored, unignored } = link.matcher.test(isFolder ? `${below}/` : below);
        if (ignored || unignored) return ignored;
      }
      return false;
    },
    inside(name, holds) {
      const child = joinPath(folder, name);
      return rulesAt(root, child, addFiles(root, child, holds, chain, budget), budget);
    },
  };
}

function addFiles(
  root: Reader,
  folder: RelPath,
  holds: readonly string[],
  chain: readonly Link[],
  budget: Budget,
): readonly Link[] {
  const text = fileNames
    .filter((name) => holds.includes(name))
    .map((name) => readRules(root, joinPath(folder, name), budget))
    .join("\n");
  return text.trim() === "" ? chain : [{ folder, matcher: ignore({ ignorecase: false }).add(text) }, ...chain];
}

/** Whether a rule can be matched in time that grows slowly with the path. */
function isQuick(rule: string): boolean {
  const parts = rule.split("/");
  const stars = (part: string) => part.split("*").length - 1;
  return (
    parts.filter((part) => part === "**").length <= maxWild.folders &&
    parts.every((part) => part === "**" || stars(part) <= maxWild.stars)
  );
}

/** The rules of a file as far as the budget goes, without those that say nothing or would take too long. */
function readRules(root: Reader, path: RelPath, budget: Budget): string {
  if (budget.bytes <= 0 || budget.rules <= 0) return "";
  try {
    const text = Buffer.from(root.readBytes(path, budget.bytes)?.bytes ?? []).toString();
    budget.bytes -= text.length;
    const rules = text
      .split(/\r?\n/)
      .filter((line) => line.trim() !== "" && !line.startsWith("#"))
      .map((line) => line.replace(/(?:\*\*\/)+/g, "**/").replace(/\*{3,}/g, "**"))
      .filter(isQuick)
      .slice(0, budget.rules);
    budget.rules -= rules.length;
    return rules.join("\n");
  } catch {
    return "";
  }
}
