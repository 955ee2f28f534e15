/** The setting `models`: what the user says of a model that pai cannot know or knows otherwise. */
import * as z from "zod/mini";
import type { Fields, Json } from "../core/model.ts";
import type { Rate } from "../core/spending/cost.ts";
import { entriesKind, objectShape } from "./setting-kinds.ts";

/** What the user says of a model; absent: what pai knows or finds out counts. */
export interface ModelFacts {
  readonly window?: number;
  readonly output?: number;
  readonly prices?: Rate;
}

const amount = (wants = "an amount in USD per million tokens") => z.number(wants).check(z.minimum(0, wants));
const tokens = (wants = "a whole number of tokens, at least 256") => z.int(wants).check(z.minimum(256, wants));
const rate = objectShape("a price", {
  input: amount(),
  output: amount(),
  cached: z.optional(amount()),
  written: z.optional(amount()),
});

export const factFields = {
  window: z.optional(tokens()),
  output: z.optional(tokens()),
  prices: z.optional(rate),
} as const;

/** The price; without `cached`, that rate is the one of input. `json`: what `rate` accepts. */
function readRate(json: Json): Rate {
  const rate = json as Omit<Rate, "cached"> & Partial<Rate>;
  return { ...rate, cached: rate.cached ?? rate.input };
}

export const readFacts = ({ window, output, prices }: { readonly [Field in keyof ModelFacts]?: Json }): ModelFacts => ({
  ...(window === undefined ? {} : { window: window as number }),
  ...(output === undefined ? {} : { output: output as number }),
  ...(prices === undefined ? {} : { prices: readRate(prices) }),
});

export const models = entriesKind(
  "models",
  'tokens and prices by model, {"provider:name": {"window": 65536, "output": 8192, "prices": {…}}}',
  z.record(z.string().check(z.regex(/\S/, "named by a model")), objectShape("a model", factFields)),
);

export const readModelFacts = (facts: Fields): Readonly<Record<string, ModelFacts>> =>
  Object.fromEntries(Object.entries(facts).map(([name, each]) => [name, readFacts(each as Record<string, Json>)]));
