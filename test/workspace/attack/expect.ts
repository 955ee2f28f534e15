/** What the tables of attacks are written with: which action expects what, and how a layout is built. */
import type { ActionName, Case, Expected } from "./drive.ts";

export type Some = Partial<Record<ActionName, Expected | null>>;

export const nothing = () => {};
export const looksAt: Some = { TREE: "contained", LIST_PATH: "contained", SEARCH: "contained", GLOB: "contained" };
/** For names that are free: there is nothing to read, and what only looks finds nothing. */
export const forNew: Some = {
  READ: null,
  MODIFY: null,
  RM: null,
  "MV from": null,
  TREE: null,
  LIST_PATH: null,
  SEARCH: null,
  GLOB: null,
};
const all = (expected: Expected | null): Some => ({
  READ: expected,
  WRITE: expected,
  MODIFY: expected,
  TREE: expected,
  LIST_PATH: expected,
  SEARCH: expected,
  GLOB: expected,
  MKDIR: expected,
  TOUCH: expected,
  RM: expected,
  "MV from": expected,
  "MV to": expected,
});
export const only = (some: Some): Some => ({ ...all(null), ...some });
export const run = (command: readonly string[]) => {
  const done = Bun.spawnSync([...command]);
  if (!done.success) throw new Error(done.stderr.toString());
};

export const withFiles =
  (names: readonly string[], content?: string): Case["build"] =>
  (world) => {
    for (const name of names) world.file(name, content);
  };
