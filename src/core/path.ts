/** Paths that have passed the parser (`workspace/parse-path.ts`), and their parts. */

declare const relPath: unique symbol;

/** Relative to the root ("") without empty, `.` or `..` parts; absolute in the places outside it that the user names. */
export type RelPath = string & { readonly [relPath]: true };

/** What a path is used for, on which the policy depends. Only `list` accepts the root. */
export type PathUse = "read" | "list" | "write" | "folder" | "delete" | "move";

/** The name must come from the parser or from a listing of that folder. */
export const joinPath = (folder: RelPath, name: string): RelPath =>
  (folder === "" ? name : `${folder}/${name}`) as RelPath;

/** The path within a folder, both absolute; "": the folder itself, null: it is not in it. */
export const pathWithin = (path: string, base: string): string | null =>
  path === base
    ? ""
    : path.startsWith(base === "/" ? "/" : `${base}/`)
      ? path.slice(base.length).replace(/^\/+/, "")
      : null;

export const parentOf = (path: RelPath): RelPath => path.slice(0, Math.max(0, path.lastIndexOf("/"))) as RelPath;

/** The folders above a path, nearest first, without the root. */
export function foldersAbove(path: RelPath): readonly RelPath[] {
  const above: RelPath[] = [];
  for (let at = parentOf(path); at !== ""; at = parentOf(at)) above.push(at);
  return above;
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** A path on a line of its own: as it is, or as JSON if a character in it would break the line. */
export const lineOf = (path: string): string => (/[\p{Cc}\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path);

/** A path as a link in a folder spells it, without `..`; null: it leads out of the root. */
export function resolveFrom(folder: RelPath, text: string): RelPath | null {
  const parts = folder === "" ? [] : folder.split("/");
  for (const part of text.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return null;
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/") as RelPath;
}
