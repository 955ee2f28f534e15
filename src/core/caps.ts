/** The most that one reply may hold: more is not work but an attack, or a model gone wild. Pure. */

export const replyCaps = {
  actions: 300,
  /** SEARCH/REPLACE blocks of all its edits. */
  blocks: 2000,
  paths: 20_000,
  /** Bytes of files that its actions write, and as many that they remove: all of it is in memory until it is applied. */
  bytes: 256 * 1024 * 1024,
  steps: 500,
  depth: 200,
} as const;

/** Whether plain data is nested deeper than a reply may be. Never recurses: deep data would overflow the stack. */
export function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > replyCaps.depth) return true;
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return false;
}
