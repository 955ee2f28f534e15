/** Checks the word after a command against a fixed list. */
import { PaiError } from "../core/error.ts";
import { suggest } from "../core/suggest.ts";

/** Throws usage when it is missing, unknown, or not alone; the nearest known word is named. */
export function chooseWord<T extends string>(command: string, given: readonly string[], known: readonly T[]): T {
  const [word, ...more] = given;
  const found = known.find((each) => each === word);
  if (found !== undefined && more.length === 0) return found;
  const near = word === undefined || found !== undefined ? null : suggest(word, known);
  throw new PaiError("usage", `pai ${command} takes one of: ${known.join(", ")}`, {
    hint: near === null ? undefined : `did you mean: pai ${command} ${near}?`,
  });
}
