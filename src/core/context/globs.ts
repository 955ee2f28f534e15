/** Finds the files that a request means by a pattern, as in "rename the helpers in tests/test_*.py". Pure. */
import type { Signal } from "./signals.ts";

const weight = 1;
const maxPatterns = 8;
const max = { length: 200, asterisks: 6 } as const;
const word = /[^\s"'`();:]+/g;
/** Whether a word is a pattern of paths, with a folder or an ending, unlike `a*b`, `**bold**` and `/*`. */
const isPattern = (text: string) =>
  text.includes("*") &&
  text.length <= max.length &&
  text.split("*").length - 1 <= max.asterisks &&
  /\/|\.[\w{]/.test(text) &&
  /\p{L}|\p{N}/u.test(text);

/** By path: a signal for each file that a pattern of the request matches, at any depth if it names no folder. */
export function findMatching(request: string, paths: readonly string[]): Map<string, Signal> {
  const found = new Map<string, Signal>();
  const words = [...request.slice(0, 8_000).matchAll(word)].map(([each]) => each.replace(/[.,]+$/, ""));
  for (const pattern of [...new Set(words.filter(isPattern))].slice(0, maxPatterns)) {
    const bare = pattern.replace(/^\.?\//, "");
    const glob = new Bun.Glob(bare.includes("/") ? bare : `**/${bare}`);
    for (const path of paths) {
      if (!glob.match(path)) continue;
      const symbols = [...(found.get(path)?.symbols ?? []), pattern];
      found.set(path, { weight, lines: [], by: "request", symbols });
    }
  }
  return found;
}
