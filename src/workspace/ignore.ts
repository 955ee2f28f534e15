/** Which names a scan leaves out: .gitignore and .paiignore of every folder, .git/info/exclude, node_modules. */
import ignore, { type Ignore } from "ignore";
import type { RelPath } from "../core/path.ts";
import type { Root } from "./confine.ts";
import { joinPath } from "./parse-path.ts";

/** The rules that hold in one folder: its own, then those of the folders above. */
export interface IgnoreRules {
  /** Whether a child of this folder is left out. */
  ignores(name: string, isFolder: boolean): boolean;
  /** The rules for a folder in this one, given what it holds (only names listed there are looked for). */
  inside(name: string, holds: readonly string[]): IgnoreRules;
}

const fileNames = [".gitignore", ".paiignore"];
const maxFileBytes = 1024 * 1024;

/**
 * The rules that hold in `folder`. Where the folder is itself ignored, it was named on purpose: then only what stands in
 * it counts. A rules file that is a link, special or too large counts as none.
 */
export function openIgnore(root: Root, folder: RelPath): IgnoreRules {
  const top = "" as RelPath;
  const exclude = readRules(root, ".git/info/exclude" as RelPath);
  const base: Link[] = [{ folder: top, matcher: nodeModules }];
  if (exclude !== "") base.unshift({ folder: top, matcher: ignore({ ignorecase: false }).add(exclude) });
  let rules = rulesAt(root, top, addFiles(root, top, fileNames, base));
  let at = top;
  for (const name of folder === "" ? [] : folder.split("/")) {
    const named = rules.ignores(name, true);
    at = joinPath(at, name);
    rules = named ? rulesAt(root, at, addFiles(root, at, fileNames, [])) : rules.inside(name, fileNames);
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

function rulesAt(root: Root, folder: RelPath, chain: readonly Link[]): IgnoreRules {
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
      return rulesAt(root, child, addFiles(root, child, holds, chain));
    },
  };
}

function addFiles(root: Root, folder: RelPath, holds: readonly string[], chain: readonly Link[]): readonly Link[] {
  const text = fileNames
    .filter((name) => holds.includes(name))
    .map((name) => readRules(root, joinPath(folder, name)))
    .join("\n");
  return text.trim() === "" ? chain : [{ folder, matcher: ignore({ ignorecase: false }).add(text) }, ...chain];
}

function readRules(root: Root, path: RelPath): string {
  try {
    return Buffer.from(root.readBytes(path, maxFileBytes)?.bytes ?? []).toString();
  } catch {
    return "";
  }
}
