/** What counts for a model: what the user says of it in the settings, and else what pai knows. */
import type { Model } from "../../core/model.ts";
import type { Price } from "../../core/spending/cost.ts";
import { describeModel, findModel, limitModel, priceOn } from "../../models/catalogue.ts";
import { parseModelId } from "../../models/open.ts";
import type { ModelFacts } from "../../store/model-settings.ts";
import type { Settings } from "../../store/settings.ts";

type Told = Pick<Settings, "models">;

/** What the user says of a model, however it is spelled; it wins over what pai knows. */
export function factsOf(id: string, { models }: Told): ModelFacts {
  const { provider, name } = parseModelId(id);
  return { ...models[name], ...models[`${provider}:${name}`], ...models[id] };
}

/** The fields of a Model that are known before it is opened. */
export function describeChosen(id: string, told: Told): Omit<Model, "stream" | "address"> {
  const { provider, name } = parseModelId(id);
  return limitModel(describeModel(provider, name), factsOf(id, told));
}

/** Finds a model once, to tell its price at any time. */
export function findPrices(id: string, told: Told): (now: Date) => Price | null {
  const { provider, name } = parseModelId(id);
  const { prices } = factsOf(id, told);
  const model = prices === undefined ? findModel(provider, name) : null;
  return (now) => prices ?? (model === null ? null : priceOn(now.toISOString().slice(0, 10), model));
}

/** Current price of a model; null: unknown. */
export const priceOf = (id: string, told: Told, now: Date): Price | null => findPrices(id, told)(now);
