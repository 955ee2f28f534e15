/** Files and folders outside the project that the user names: by absolute paths, to be read, or changed as well. */
import { realpathSync, statSync } from "node:fs";
import type { PathRules } from "../core/closed-names.ts";
import { PaiError } from "../core/error.ts";
import { pathWithin, type RelPath } from "../core/path.ts";
import type { Root } from "./confine.ts";
import { parsePath, showName } from "./parse-path.ts";

export interface Outside {
  readonly root: Root;
  /** The file; null: the whole folder. */
  readonly only: RelPath | null;
  readonly given: string;
  /** `undo`: only an undo or a recovery works there. */
  readonly use: "read" | "change" | "undo";
  readonly rules: PathRules;
}

/** Throws usage for what does not exist or is no file or folder. */
export function findShown(given: string): { readonly base: string; readonly only: RelPath | null } {
  try {
    const real = realpathSync(given);
    const stat = statSync(real);
    if (stat.isDirectory() && real !== "/") return { base: real, only: null };
    const cut = real.lastIndexOf("/");
    if (stat.isFile() && cut > 0) return { base: real.slice(0, cut), only: real.slice(cut + 1) as RelPath };
  } catch (cause) {
    const why = "it does not exist, or is closed to this user";
    throw new PaiError("usage", `${showName(given)} cannot be shown: ${why}`, { cause });
  }
  throw new PaiError("usage", `${showName(given)} cannot be shown: it is no file and no folder below /`);
}

const joined = (base: string, path: string): RelPath => (path === "" ? base : `${base}/${path}`) as RelPath;

export const topOf = ({ root, only }: Outside): RelPath => joined(root.path, only ?? "");

/** null: it lies in none of the places. Throws path_refused. */
export function parseOutside(text: string, places: readonly Outside[]): ReturnType<typeof parsePath> | null {
  for (const place of places) {
    const { root, only, given } = place;
    const within = pathWithin(text, root.path) ?? (only === null ? pathWithin(text, given) : null);
    if (only === null ? within === null : text !== given && within !== only) continue;
    const { path, folder } = parsePath(only ?? (within || "."));
    return { path: joined(root.path, path), folder };
  }
  return null;
}
