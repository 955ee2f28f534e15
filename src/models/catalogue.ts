/** The models pai knows (catalogue.json): what fits into them and what they cost. An unknown one gets careful limits and no price. */
import type { Model } from "../core/model.ts";
import catalogue from "./catalogue.json" with { type: "json" };

/** USD per million tokens. */
export interface Rate {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export interface Price extends Rate {
  /** What a call with a larger input costs, where it costs more. */
  readonly large: (Rate & { readonly above: number }) | null;
  /** Day the price was read, and where. */
  readonly date: string;
  readonly source: string;
}

export interface KnownModel {
  readonly provider: string;
  readonly name: string;
  /** Tokens of input and output together. */
  readonly window: number;
  readonly maxOutputTokens: number;
  readonly price: Price | null;
}

type Entry = Omit<KnownModel, "price"> & {
  readonly price: Rate & { readonly date: string; readonly large?: Rate & { readonly above: number } };
};

const sources: Readonly<Record<string, string>> = catalogue.sources;
const unknown: Readonly<Record<string, Pick<KnownModel, "window" | "maxOutputTokens">>> = catalogue.unknown;

export const knownModels: readonly KnownModel[] = (catalogue.models as readonly Entry[]).map(
  ({ price: { large = null, ...price }, ...model }) => ({
    ...model,
    price: { ...price, large, source: sources[model.provider] ?? model.provider },
  }),
);

/** The entry of a model, or null. A dated or `-latest` name counts as the model it is a version of. */
export function findModel(provider: string, name: string): KnownModel | null {
  const base = name.replace(/^models\//, "").replace(/-(latest|preview)?(-?\d{2,8}){0,3}$/, "");
  return knownModels.find((each) => each.provider === provider && (each.name === name || each.name === base)) ?? null;
}

/** All of a Model but its stream. */
export function describeModel(provider: string, name: string): Omit<Model, "stream"> {
  const { window, maxOutputTokens } = findModel(provider, name) ??
    unknown[provider] ?? { window: 32_768, maxOutputTokens: 8192 };
  return { id: `${provider}:${name}`, provider, name, window, maxOutputTokens };
}
