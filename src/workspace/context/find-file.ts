/** Finds one file as a walk would, without listing any folder. */
import { closedNameIn, type PathRules } from "../../core/names.ts";
import { joinPath, type RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { ignoreFiles, openIgnore } from "../ignore.ts";
import { parsePath } from "../parse-path.ts";

/** The path as a walk would give it; null: there is no such file, or a walk leaves out the file or a folder above it. */
export function findFile(root: Root, rules: PathRules, written: string): RelPath | null {
  try {
    const { path } = parsePath(written, [root.path]);
    let ignored = openIgnore(root, "" as RelPath);
    let folder = "" as RelPath;
    const names = path.split("/");
    for (const [at, name] of names.entries()) {
      const isFolder = at < names.length - 1;
      if (closedNameIn(folder, name, rules, isFolder) !== null || ignored.ignores(name, isFolder)) return null;
      folder = joinPath(folder, name);
      if (isFolder) ignored = ignored.inside(name, ignoreFiles);
    }
    return root.stat(path)?.kind === "file" ? path : null;
  } catch {
    // Not a path below the root, or not readable: a walk would not give it either.
    return null;
  }
}
