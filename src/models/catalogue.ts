/** The models that pai knows (catalogue.json): limits and prices. An unknown model gets careful limits and no price. */
import type { Model } from "../core/model.ts";
import type { Rate } from "../core/spending/cost.ts";
import catalogue from "./catalogue.json" with { type: "json" };

/** A price in the file: fields that do not apply are absent; without `written`, that rate is the one of input. */
export interface EntryPrice extends Rate {
  /** Day on which the price was read, and where (`source`); absent: on the provider's page. */
  readonly date: string;
  readonly source?: string;
  /** First and last day of the price; absent: it held before, or no end is known. */
  readonly from?: string;
  readonly until?: string;
  readonly large?: Rate & { readonly above: number };
}

/** A model in the file, which `bun scripts/catalogue.ts` writes. */
export interface CatalogueEntry {
  readonly provider: string;
  readonly name: string;
  /** Tokens of input and output together. */
  readonly window: number;
  readonly maxOutputTokens: number;
  /** Day from which the provider no longer serves it, or serves another model instead; absent: none is announced. */
  readonly ends?: string;
  /** Why an account may not get it: "closed to new accounts"; absent: every account gets it. */
  readonly closed?: string;
  /** What it costs and what is announced for later; empty: unknown. */
  readonly prices: readonly EntryPrice[];
}

const sources: Readonly<Record<string, string>> = catalogue.sources;
const unknown: Readonly<Record<string, Pick<CatalogueEntry, "window" | "maxOutputTokens">>> = catalogue.unknown;
export const knownModels: readonly CatalogueEntry[] = catalogue.models;

/** The entry of a model, or null. A dated or `-latest` name counts as the model it is a version of. */
export function findModel(provider: string, name: string): CatalogueEntry | null {
  const named = (wanted: string) => knownModels.find((each) => each.name === wanted && each.provider === provider);
  const base = () => name.replace(/^models\//, "").replace(/-(latest|preview)?(-?\d{2,8}){0,3}$/, "");
  return named(name) ?? named(base()) ?? null;
}

/** The price on `day` ("2026-11-22"); null: unknown. One of before the model's end does not hold after it. */
export function priceOn(day: string, { provider, ends = "9", prices }: CatalogueEntry) {
  const price = prices.find(
    ({ from = "", until = "9" }) => from <= day && day <= until && (day < ends || from >= ends),
  );
  if (price === undefined) return null;
  const { large, source = sources[provider] ?? provider, until = null, from: _, ...rate } = price;
  return {
    written: rate.input,
    ...rate,
    large: large === undefined ? null : { written: large.input, ...large },
    source,
    until,
  };
}

export function nextPrice(day: string, { ends = "9", prices }: CatalogueEntry) {
  const later = prices.flatMap(({ from = "", input, cached, output }) =>
    from > day && from < ends ? [{ from, input, cached, output }] : [],
  );
  return later.toSorted((a, b) => (a.from < b.from ? -1 : 1))[0] ?? null;
}

/** Tokens that a user states for a model; absent: not stated. */
export interface StatedLimits {
  /** Input and output together. */
  readonly window?: number;
  /** One reply. */
  readonly output?: number;
}

/** The model with the limits that the user states. In a smaller window than pai thought, a reply has at most half of it. */
export function limitModel<M extends Pick<Model, "window" | "maxOutputTokens">>(
  model: M,
  { window = model.window, output }: StatedLimits,
): M {
  const most = window < model.window ? Math.floor(window / 2) : window;
  return { ...model, window, maxOutputTokens: Math.min(output ?? Math.min(model.maxOutputTokens, most), window) };
}

/** The most output tokens that a reply may have where nobody states a number: services count more against limits. */
export const usualOutput = 32_768;

/** Up to so many tokens a model has its usual price: a longer request costs twice as much. */
const usualWindow = ({ window, prices }: CatalogueEntry): number =>
  Math.min(window, ...prices.flatMap(({ large }) => (large === undefined ? [] : [large.above])));

/** The fields of a Model that follow from its name. `like`: the provider whose models of these names have the same limits. */
export function describeModel(provider: string, name: string, like = provider): Omit<Model, "stream" | "address"> {
  const known = findModel(like, name);
  const { window, maxOutputTokens } = known ?? unknown[like] ?? { window: 32_768, maxOutputTokens: 8192 };
  return {
    id: `${provider}:${name}`,
    provider,
    name,
    window: known === null ? window : usualWindow(known),
    maxOutputTokens: Math.min(maxOutputTokens, usualOutput),
  };
}
