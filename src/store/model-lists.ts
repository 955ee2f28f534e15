/** Keeps what the providers' servers listed, for a day: prices, windows and names, without asking again. */
import * as z from "zod/mini";
import { orNull } from "../core/error.ts";
import type { KeptList } from "../core/listed-model.ts";
import { openStateFile } from "./state-file.ts";

const maxAgeMs = 24 * 60 * 60 * 1000;

const shape = z.object({ lists: z.array(z.looseObject({ models: z.array(z.unknown()) })) });
const none: { readonly lists: readonly KeptList[] } = { lists: [] };
const fileIn = (stateDir: string | null) =>
  openStateFile(stateDir, "models.json", shape as never, none, { isCache: true });

/** The list of a provider's server that is less than a day old; null: none. `address` null: of any server. */
export function findModelList(
  stateDir: string | null,
  provider: string,
  { address, now }: { readonly address: string | null; readonly now: Date },
): KeptList | null {
  const { lists } = fileIn(stateDir).read();
  const found = lists.find((each) => each.provider === provider && (address === null || each.address === address));
  const age = now.getTime() - (found?.at ?? 0);
  return found !== undefined && age >= 0 && age < maxAgeMs ? found : null;
}

/** Keeps a list in the place of the last one of its provider. Ignores all errors. */
export function keepModelList(stateDir: string | null, kept: KeptList): void {
  const others = (lists: readonly KeptList[]) => lists.filter(({ provider }) => provider !== kept.provider);
  orNull(() => fileIn(stateDir).edit(({ lists }) => ({ lists: [...others(lists), kept] })));
}
