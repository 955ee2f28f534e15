/** Checks a word of the command line against the words that it may be. */
import { PaiError } from "../core/error.ts";
import { findAnyProvider, type Provider, providers } from "../core/providers.ts";
import { didYouMean } from "../core/suggest.ts";

/** Throws usage when it is missing, unknown, or not alone; the nearest known word is named. */
export function chooseWord<T extends string>(command: string, given: readonly string[], known: readonly T[]): T {
  const [word, ...more] = given;
  const found = known.find((each) => each === word);
  if (found !== undefined && more.length === 0) return found;
  const isTypo = word !== undefined && found === undefined;
  throw new PaiError("usage", `pai ${command} takes one of: ${known.join(", ")}`, {
    hint: isTypo ? didYouMean(word, known, (near) => `pai ${command} ${near}`) : null,
  });
}

export function chooseProvider(name: string, own: readonly Provider[]): Provider {
  const found = findAnyProvider(name.trim(), own);
  if (found !== null) return found;
  const ids = [...providers, ...own].map(({ id }) => id);
  throw new PaiError("usage", `unknown provider: ${name}`, {
    hint: didYouMean(name.trim(), ids) ?? `one of ${ids.join(", ")}`,
  });
}
