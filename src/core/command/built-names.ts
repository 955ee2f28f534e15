/** Names of paths that tools fetch or generate. */
import { atFirstUse } from "../at-first-use.ts";
import { foldName } from "../guard/fold-name.ts";

const words = (text: string) => atFirstUse((): ReadonlySet<string> => new Set(text.split(/\s+/)));

/** Tools remove even the whole folder themselves. */
const caches =
  words(`__pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .ipynb_checkpoints .nyc_output .turbo
  .parcel-cache .cache .vite tmp temp`);
const folders = words(
  `node_modules bower_components vendor target site-packages venv .venv .tox .nox __pycache__ .pytest_cache .mypy_cache
  .ruff_cache .hypothesis .eggs .ipynb_checkpoints htmlcov coverage .nyc_output dist build _build out bin obj .next .nuxt
  .svelte-kit .output .angular .astro .docusaurus .vite .turbo .parcel-cache .cache .gradle .kotlin .dart_tool deriveddata
  pods .terraform .bundle .stack-work dist-newstyle zig-out .zig-cache zig-cache elm-stuff _opam cmakefiles .bloop .metals
  tmp temp logs`,
);
const folderShape = /\.egg-info$|^cmake-build-|^bazel-/;
const fileShape =
  /\.(?:o|obj|a|lo|la|so|pyc|pyo|class|gcda|gcno|tsbuildinfo|log|tmp|pid|lock|sock|swp)$|[-.](?:wal|shm|journal)$|^\.(?:eslintcache|stylelintcache)$/;
const databaseShape = /\.(?:db|sqlite3?|mdb|ldb)$/;

/** A folder that a tool fills: fetched packages, build output, a cache. */
export function isBuiltFolder(name: string): boolean {
  const folded = foldName(name);
  return folders().has(folded) || folderShape.test(folded);
}

/** A folder that tools make and remove as they please. */
export const isCache = (name: string): boolean => caches().has(foldName(name));

/** A file that tools overwrite and remove by themselves: an object file, a log, a lock. */
export const isTransient = (name: string): boolean => fileShape.test(foldName(name));

/** A database that another process may have open at any time, so an old content must not be restored. */
export const isDatabase = (name: string): boolean => databaseShape.test(foldName(name));

/** A path that has such a name, or lies in such a folder. */
export function isBuilt(path: string): boolean {
  const folders = path.split("/");
  const name = folders.pop() ?? "";
  return folders.some(isBuiltFolder) || isTransient(name) || isDatabase(name);
}
