/** What a scan leaves out: by .gitignore, .paiignore, .git/info/exclude, and what tools make. */

import ignore from "ignore";
import { isToolName } from "../core/closed-names.ts";
import { orNull } from "../core/error.ts";
import { joinPath, nameOf, type RelPath } from "../core/path.ts";

export interface IgnoreRules {
  ignores(name: string, isFolder: boolean): boolean;
  /** `holds`: the names in the child folder, so that rule files are only read where they exist. */
  inside(name: string, holds: readonly string[]): IgnoreRules;
}

export const ignoreFiles: readonly string[] = [".gitignore", ".paiignore"];

export const holdsIgnoreRules = (path: RelPath): boolean => ignoreFiles.includes(nameOf(path));

/** For all ignore files of a walk; rules beyond them are not read. `wild`: what rules with several `**` cost together. */
const limits = { bytes: 256 * 1024, rules: 5000, wild: 1000 } as const;

/** null: there is no file. Throws when it exceeds `limit`, and what the system refuses. */
export interface IgnoreReader {
  readBytes(path: RelPath, limit: number): { readonly bytes: Uint8Array } | null;
}

interface Budget {
  bytes: number;
  rules: number;
  wild: number;
}

/** From `top` on. A folder that is ignored itself was named on purpose: only its own rules count. */
export function openIgnore(root: IgnoreReader, folder: RelPath, top = "" as RelPath): IgnoreRules {
  const budget: Budget = { ...limits };
  const exclude = readRules(root, joinPath(top, ".git/info/exclude"), budget);
  const base: Chain = { own: [], git: [...(exclude === "" ? [] : [linkOf(top, exclude)]), toolNames] };
  let rules = rulesAt(root, top, addFiles(root, top, ignoreFiles, base, budget), budget);
  let at = top;
  for (const name of folder === top ? [] : below(top, folder).split("/")) {
    const named = rules.ignores(name, true);
    at = joinPath(at, name);
    rules = named
      ? rulesAt(root, at, addFiles(root, at, ignoreFiles, { own: [], git: [] }, budget), budget)
      : rules.inside(name, ignoreFiles);
  }
  return rules;
}

type Verdict = "ignored" | "unignored" | null;

interface Link {
  readonly folder: RelPath;
  /** `path`: from that folder; a folder's ends in `/`. What is in an ignored folder is ignored. */
  readonly judge: (path: string) => Verdict;
  /** The same rules but for this folder, which a nearer list takes back. */
  readonly without: (path: string) => Link;
}

/** `rules`: one a line, without comments. The library takes a byte order mark at the beginning for that of a file. */
function linkOf(folder: RelPath, rules: string): Link {
  const matcher = ignore({ ignorecase: false }).add(`\n${rules}`);
  return {
    folder,
    judge(path) {
      const { ignored, unignored } = matcher.test(path);
      return ignored ? "ignored" : unignored ? "unignored" : null;
    },
    without: (path) => linkOf(folder, `${rules}\n!/${path.replace(/[\\*?[\]!# ]/g, "\\$&")}`),
  };
}

/** The rules of `.paiignore` files come before all of git's; in each list the nearest folder comes first. */
interface Chain {
  readonly own: readonly Link[];
  readonly git: readonly Link[];
}

const toolNames: Link = {
  folder: "" as RelPath,
  judge(path) {
    const isFolder = path.endsWith("/");
    return isToolName(nameOf((isFolder ? path.slice(0, -1) : path) as RelPath), isFolder) ? "ignored" : null;
  },
  without: () => toolNames,
};

function rulesAt(root: IgnoreReader, folder: RelPath, chain: Chain, budget: Budget): IgnoreRules {
  const links = [...chain.own, ...chain.git];
  const prefixes = links.map((link) => (link.folder === folder ? "" : `${below(link.folder, folder)}/`));
  return {
    ignores(name, isFolder) {
      const written = isFolder ? `${name}/` : name;
      for (const [at, { judge }] of links.entries()) {
        const verdict = judge(prefixes[at] + written);
        if (verdict !== null) return verdict === "ignored";
      }
      return false;
    },
    inside(name, holds) {
      const child = joinPath(folder, name);
      const enter = (link: Link): Link => {
        const path = `${below(link.folder, child)}/`;
        return link.judge(path) === "ignored" ? link.without(path) : link;
      };
      const entered = { own: chain.own.map(enter), git: chain.git.map(enter) };
      return rulesAt(root, child, addFiles(root, child, holds, entered, budget), budget);
    },
  };
}

const below = (above: RelPath, folder: RelPath): string => (above === "" ? folder : folder.slice(above.length + 1));

function addFiles(root: IgnoreReader, folder: RelPath, holds: readonly string[], chain: Chain, budget: Budget): Chain {
  const added = (name: string, links: readonly Link[]): readonly Link[] => {
    const text = holds.includes(name) ? readRules(root, joinPath(folder, name), budget) : "";
    return text === "" ? links : [linkOf(folder, text), ...links];
  };
  return { own: added(".paiignore", chain.own), git: added(".gitignore", chain.git) };
}

/** Its time grows with the path's length to the power of its stars in one name and of its `**`. */
function costOf(rule: string): number {
  const parts = rule.split("/");
  const folders = parts.slice(0, -1).filter((part) => part === "**").length;
  const stars = Math.max(...parts.map((part) => (part === "**" ? 0 : part.split("*").length - 1)));
  if (folders > 3 || stars > 3) return Number.POSITIVE_INFINITY;
  return [0, 0, 1, 10][folders] ?? 0;
}

function readRules(root: IgnoreReader, path: RelPath, budget: Budget): string {
  const file = budget.bytes <= 0 || budget.rules <= 0 ? null : orNull(() => root.readBytes(path, budget.bytes));
  return file === null ? "" : takeRules(Buffer.from(file.bytes).toString(), budget);
}

/** The rules of a text within the budget, without empty and slow ones. */
function takeRules(text: string, budget: Budget): string {
  if (text.length > budget.bytes) return "";
  budget.bytes -= text.length;
  const rules = text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => line.replace(/(?:\*\*\/)+/g, "**/").replace(/\*{3,}/g, "**"))
    .filter((rule) => {
      const cost = costOf(rule);
      if (cost > budget.wild) return false;
      budget.wild -= cost;
      return true;
    })
    .slice(0, budget.rules);
  budget.rules -= rules.length;
  return rules.join("\n");
}
