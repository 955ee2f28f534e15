/** The models that a provider's server lists: asked for with the user's key, and kept for a day. */
import { PaiError } from "../../core/error.ts";
import type { KeptList } from "../../core/listed-model.ts";
import { type Provider, renderSetKey } from "../../core/providers.ts";
import { askForModels } from "../../models/listing.ts";
import { parseEndpoint } from "../../models/wire/endpoint.ts";
import { type BaseUrl, configuredAddress, findBaseUrl, requireConsent } from "../../store/base-url.ts";
import { findModelList, keepModelList } from "../../store/model-lists.ts";
import type { Asking } from "./base.ts";
import { currentKeys } from "./key-command.ts";

/** Asks the server, or takes its list of today unless `fresh`. Throws no_key, untrusted, reply_invalid. */
export async function findServerModels(
  row: Provider,
  asking: Asking,
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

/** The address in use. Throws untrusted for one that nobody agreed to, and for plain http to another machine. */
export async function permitAddress(
  provider: Provider,
  keys: readonly { readonly key: string }[],
  { context, places, ...loaded }: Asking,
): Promise<BaseUrl> {
  const base = findBaseUrl(provider, context.env, configuredAddress(provider, loaded));
  const sent = keys.map(({ key }) => key);
  await requireConsent(base, sent, { places, ask: null });
  const { address, exposed } = parseEndpoint(base.url, context.env);
  if (exposed && keys.length > 0 && !loaded.settings.insecureHttp && provider.insecureHttp !== true) {
    throw new PaiError("untrusted", `${address} is plain http: everyone on the way could read the key`, {
      hint: "use https, or allow it: pai config set insecureHttp true",
    });
  }
  return base;
}
