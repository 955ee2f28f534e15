/** What counts for a model: what the user says of it in the settings, else what pai knows, else what its server listed, which is asked for with the user's key and kept for a day. */

import { PaiError } from "../../core/error.ts";
import type { KeptList } from "../../core/listed-model.ts";
import type { Model } from "../../core/model.ts";
import { findAnyProvider, type Provider, renderSetKey } from "../../core/providers.ts";
import type { Price } from "../../core/spending/cost.ts";
import { describeModel, findModel, limitModel, priceOn, usualOutput } from "../../models/catalogue.ts";
import { askForModels } from "../../models/listing.ts";
import { parseModelId, providerOfModel } from "../../models/open.ts";
import { parseEndpoint } from "../../models/wire/endpoint.ts";
import { type BaseUrl, configuredAddress, findBaseUrl, requireConsent } from "../../store/base-url.ts";
import type { FoundKey } from "../../store/keys.ts";
import { findModelList, keepModelList } from "../../store/model-lists.ts";
import type { ModelFacts } from "../../store/model-settings.ts";
import type { Asking } from "./base.ts";
import { currentKeys } from "./key-command.ts";

/** What the user says of a model, however it is spelled, which wins over what pai knows; or what its server listed. */
export function factsOfModel(id: string, told: Asking): ModelFacts {
  const { models, providers } = told.settings;
  const { provider, name } = parseModelId(id, providers);
  const row = findAnyProvider(provider, providers);
  const listed = row === null ? {} : listedFacts(row, name, told);
  const own = providers.find((each) => each.id === provider)?.facts;
  return { ...listed, ...own, ...models[name], ...models[`${provider}:${name}`], ...models[id] };
}

/** The models that a server listed less than a day ago; null: nobody asked. */
export function findKeptList(row: Provider, { places, context, ...loaded }: Asking) {
  const { url: address } = findBaseUrl(row, context.env, configuredAddress(row, loaded));
  return findModelList(places.stateDir, row.id, { address, now: context.now() })?.models ?? null;
}

/** What the server listed, less than a day ago, of a model that the catalogue does not know. Local ones are asked. */
function listedFacts(row: Provider, name: string, told: Asking): ModelFacts {
  if (row.wire === "local" || findModel(row.id, name) !== null) return {};
  const kept = findKeptList(row, told) ?? [];
  const { window = null, output = null, price = null } = kept.find((each) => each.name === name) ?? {};
  return {
    ...(window === null ? {} : { window }),
    ...(output === null ? {} : { output: Math.min(output, usualOutput) }),
    ...(price === null ? {} : { prices: price }),
  };
}

export function describeChosen(id: string, told: Asking): Omit<Model, "stream" | "address"> {
  const { provider, name } = parseModelId(id, told.settings.providers);
  const like = providerOfModel(id, told.settings.providers)?.like;
  return limitModel(describeModel(provider, name, like), factsOfModel(id, told));
}

export function priceOf(id: string, told: Asking, now: Date): Price | null {
  const { provider, name } = parseModelId(id, told.settings.providers);
  const { prices } = factsOfModel(id, told);
  if (prices !== undefined) return prices;
  const model = findModel(provider, name);
  return model === null ? null : priceOn(now.toISOString().slice(0, 10), model);
}

/** Asks the server, or takes its list of today unless `fresh`. Throws no_key, untrusted, reply_invalid. */
export async function findServerModels(row: Provider, asking: Asking, { fresh }: { readonly fresh: boolean }) {
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
export async function permitAddress(provider: Provider, keys: readonly FoundKey[], asking: Asking): Promise<BaseUrl> {
  const { context, places, ...loaded } = asking;
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
