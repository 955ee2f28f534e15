/** The keys of a provider that count now, outside a run: found, or printed by the command of an own one. */

import type { Provider } from "../../core/providers.ts";
import { type FoundKey, findKeys } from "../../store/keys.ts";
import { findRoot } from "./base.ts";
import { openKeyCommand } from "./key-command.ts";
import type { AskingAddress } from "./permit-address.ts";

/** The default key first. Throws what finding a key or running the command throws. */
export async function currentKeys(
  provider: Provider,
  {
    context,
    places,
    settings,
  }: Pick<AskingAddress, "context" | "places"> & { readonly settings: Pick<AskingAddress["settings"], "providers"> },
): Promise<readonly FoundKey[]> {
  const { env, now } = context;
  const command = settings.providers.find(({ id }) => id === provider.id)?.keyCommand ?? null;
  if (command === null) return findKeys(provider, { env, places });
  const options = { env, home: places.home, root: findRoot(context), now, hold: () => {} };
  const key = await openKeyCommand(provider.id, command, options)(context.signal, null);
  return [{ ...key, origin: `providers.${provider.id}.key.command` }];
}
