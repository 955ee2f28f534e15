/** What counts for a model: what the user says of it in the settings, else what pai knows, else what its server listed. */
import type { Model } from "../../core/model.ts";
import { findAnyProvider, type Provider } from "../../core/providers.ts";
import type { Price } from "../../core/spending/cost.ts";
import { describeModel, findModel, limitModel, priceOn, usualOutput } from "../../models/catalogue.ts";
import { parseModelId, providerOfModel } from "../../models/open.ts";
import { configuredAddress, findBaseUrl } from "../../store/base-url.ts";
import { findModelList } from "../../store/model-lists.ts";
import type { ModelFacts } from "../../store/model-settings.ts";
import type { Asking } from "./base.ts";

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

/** Current price of a model; null: unknown. */
export function priceOf(id: string, told: Asking, now: Date): Price | null {
  const { provider, name } = parseModelId(id, told.settings.providers);
  const { prices } = factsOfModel(id, told);
  if (prices !== undefined) return prices;
  const model = findModel(provider, name);
  return model === null ? null : priceOn(now.toISOString().slice(0, 10), model);
}
