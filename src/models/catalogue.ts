/** The models that pai knows (catalogue.json): limits and prices. An unknown model gets careful limits and no price. */
import type { Model } from "../core/model.ts";
import type { Price, Rate } from "../core/spending/cost.ts";
import catalogue from "./catalogue.json" with { type: "json" };

export interface ListedPrice extends Price {
  readonly written: number;
  readonly large: (Rate & { readonly above: number }) | null;
  /** Day on which the price was read, and where (`source`): the provider's page, or another one if there is none. */
  readonly date: string;
  readonly source: string;
  /** Last day on which the provider promises this price; null: no end is known. */
  readonly until: string | null;
}

export interface KnownModel {
  readonly provider: string;
  readonly name: string;
  /** Tokens of input and output together. */
  readonly window: number;
  readonly maxOutputTokens: number;
  /** Day from which the provider no longer serves it, or serves another model instead; null: none is announced. */
  readonly ends: string | null;
  readonly price: ListedPrice | null;
}

/** A model in the file: fields that do not apply are absent; without `written`, that rate is the one of input. */
interface Entry extends Pick<KnownModel, "provider" | "name" | "window" | "maxOutputTokens"> {
  readonly ends?: string;
  readonly price:
    | (Rate & {
        readonly date: string;
        readonly source?: string;
        readonly until?: string;
        readonly large?: Rate & { readonly above: number };
      })
    | null;
}

const sources: Readonly<Record<string, string>> = catalogue.sources;
const unknown: Readonly<Record<string, Pick<KnownModel, "window" | "maxOutputTokens">>> = catalogue.unknown;

function readPrice({ provider, price }: Entry): ListedPrice | null {
  if (price === null) return null;
  const { large, source = sources[provider] ?? provider, until = null, ...rate } = price;
  return {
    written: rate.input,
    ...rate,
    large: large === undefined ? null : { written: large.input, ...large },
    source,
    until,
  };
}

const entries: readonly Entry[] = catalogue.models;

const readEntry = (entry: Entry): KnownModel => ({ ends: null, ...entry, price: readPrice(entry) });

export const knownModels = (): readonly KnownModel[] => entries.map(readEntry);

/** The entry of a model, or null. A dated or `-latest` name counts as the model it is a version of. */
export function findModel(provider: string, name: string): KnownModel | null {
  const named = (wanted: string) => entries.find((each) => each.name === wanted && each.provider === provider);
  const base = () => name.replace(/^models\//, "").replace(/-(latest|preview)?(-?\d{2,8}){0,3}$/, "");
  const entry = named(name) ?? named(base());
  return entry === undefined ? null : readEntry(entry);
}

/** The price of a known model on `day` ("2026-11-22"); null: unknown, or the model or its price has ended. */
export function priceOn(day: string, { ends, price }: KnownModel): ListedPrice | null {
  if (price === null || (ends !== null && day >= ends)) return null;
  return price.until !== null && day > price.until ? null : price;
}

/** The price of a model on `day`; null: unknown, or the model or its price has ended. */
export function findPrice(provider: string, name: string, day: string): ListedPrice | null {
  const model = findModel(provider, name);
  return model === null ? null : priceOn(day, model);
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

/** The fields of a Model that follow from its name. */
export function describeModel(provider: string, name: string): Omit<Model, "stream" | "address"> {
  const { window, maxOutputTokens } = findModel(provider, name) ??
    unknown[provider] ?? { window: 32_768, maxOutputTokens: 8192 };
  return { id: `${provider}:${name}`, provider, name, window, maxOutputTokens };
}
