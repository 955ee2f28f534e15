/** Keeps what the providers' servers listed, for a day: prices, windows and names, without asking again. */
import { join } from "node:path";
import type { KeptList } from "../core/listed-model.ts";
import { readPrivate, withLock, writePrivate } from "./safe-file.ts";

const maxAgeMs = 24 * 60 * 60 * 1000;
const fileIn = (stateDir: string): string => join(stateDir, "models.json");

/** A missing, damaged or foreign file counts as empty: a list can be asked for again. */
function readAll(stateDir: string): readonly KeptList[] {
  try {
    const { v, lists } = JSON.parse(readPrivate(fileIn(stateDir)) ?? "{}");
    return v === 1 && Array.isArray(lists) ? lists.filter((each) => Array.isArray(each?.models)) : [];
  } catch {
    return [];
  }
}

/** The list of a provider's server that is less than a day old; null: none. `address` null: of any server. */
export function findModelList(
  stateDir: string | null,
  provider: string,
  { address, now }: { readonly address: string | null; readonly now: Date },
): KeptList | null {
  if (stateDir === null) return null;
  const found = readAll(stateDir).find(
    (each) => each.provider === provider && (address === null || each.address === address),
  );
  const age = now.getTime() - (found?.at ?? 0);
  return found !== undefined && age >= 0 && age < maxAgeMs ? found : null;
}

/** Keeps a list in the place of the last one of its provider. Ignores all errors. */
export function keepModelList(stateDir: string | null, kept: KeptList): void {
  if (stateDir === null) return;
  const file = fileIn(stateDir);
  try {
    withLock(file, () => {
      const others = readAll(stateDir).filter(({ provider }) => provider !== kept.provider);
      writePrivate(file, JSON.stringify({ v: 1, lists: [...others, kept] }), { lasting: false });
    });
  } catch {
    // On a full disk or in a read-only home the list is asked for again.
  }
}
