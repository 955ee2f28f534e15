/** The models that a provider's server lists: asked for with the user's key, and kept for a day. */
import { PaiError } from "../../core/error.ts";
import type { KeptList } from "../../core/listed-model.ts";
import { type Provider, renderSetKey } from "../../core/providers.ts";
import { askForModels } from "../../models/listing.ts";
import { findModelList, keepModelList } from "../../store/model-lists.ts";
import { currentKeys } from "./key-command.ts";
import { type AskingAddress, permitAddress } from "./permit-address.ts";

/**
 * Asks the server, or takes its list of less than a day ago unless `fresh`. Throws no_key, untrusted, what a refusal means,
 * and reply_invalid for an answer that is no list.
 */
export async function findServerModels(
  row: Provider,
  asking: AskingAddress,
  { fresh }: { readonly fresh: boolean },
): Promise<KeptList> {
  const { context, places } = asking;
  const { id: provider } = row;
  const keys = await currentKeys(row, asking);
  const { url: address } = await permitAddress(row, keys, asking);
  const kept = fresh ? null : findModelList(places.stateDir, provider, { address, now: context.now() });
  if (kept !== null) return kept;
  if (keys.length === 0 && row.needsKey && row.listsPrices !== true) {
    throw new PaiError("no_key", `there is no key for ${provider}, whose server lists nothing without one`, {
      hint: `store one with: ${renderSetKey(row)}`,
    });
  }
  const at = context.now().getTime();
  const options = { key: keys[0] ?? null, env: context.env, signal: context.signal, now: at };
  const list: KeptList = { provider, address, at, ...(await askForModels(row, address, options)) };
  keepModelList(context.flags.ephemeral === true ? null : places.stateDir, list);
  return list;
}
