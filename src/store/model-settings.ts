/** The setting `models`: what the user says of a model that pai cannot know or knows otherwise. */
import type { Json } from "../core/model.ts";
import type { Rate } from "../core/spending/cost.ts";
import { asJson, isNumber, type Judge, judgeBy, judgeEntries, judgeObject, type Setting } from "./setting-kinds.ts";

/** What the user says of a model; absent: what pai knows or finds out counts. */
export interface ModelFacts {
  /** Tokens of input and output together. */
  readonly window?: number;
  /** Tokens of one reply. */
  readonly output?: number;
  readonly prices?: Rate;
}

const amount: Judge = judgeBy("an amount in USD per million tokens", (json) => isNumber(json) && json >= 0);
const tokens: Judge = judgeBy(
  "a whole number of tokens, at least 256",
  (json) => isNumber(json) && Number.isInteger(json) && json >= 256,
);

const judgeRate: Judge = judgeObject("a price", { input: amount, output: amount }, { cached: amount, written: amount });

/** The fields of `ModelFacts`, which a row of `providers` has, too. */
export const factFields = { window: tokens, output: tokens, prices: judgeRate } as const;

/** The price; without `cached`, that rate is the one of input. `json`: what `judgeRate` accepts. */
function readRate(json: Json): Rate {
  const rate = json as Omit<Rate, "cached"> & Partial<Rate>;
  return { ...rate, cached: rate.cached ?? rate.input };
}

/** `json`: what the judges of `factFields` accept, beside other fields. */
export function readFacts({ window, output, prices }: { readonly [Field in keyof ModelFacts]?: Json }): ModelFacts {
  return {
    ...(window === undefined ? {} : { window: window as number }),
    ...(output === undefined ? {} : { output: output as number }),
    ...(prices === undefined ? {} : { prices: readRate(prices) }),
  };
}

const usd = { type: "number", minimum: 0 } as const;

const rateSchema = {
  type: "object",
  additionalProperties: false,
  properties: { input: usd, output: usd, cached: usd, written: usd },
  required: ["input", "output"],
} as const;

export const factSchemas = {
  window: { type: "integer", minimum: 256 },
  output: { type: "integer", minimum: 256 },
  prices: rateSchema,
} as const;

const anyName = { wants: "a model", shape: /\S/ } as const;
const judgeModels = judgeEntries(anyName, judgeObject("a model", {}, factFields));

type Entries = Readonly<Record<string, Json>>;

const checkBy =
  (judge: Judge) =>
  (json: Json): Entries | null =>
    judge(json) === null ? (json as Entries) : null;

/** By model, as `provider:name` or its bare name. */
export const models: Setting<Entries> = {
  name: "models",
  wants: 'tokens and prices by model, {"provider:name": {"window": 65536, "output": 8192, "prices": {…}}}',
  schema: {
    type: "object",
    additionalProperties: { type: "object", additionalProperties: false, properties: factSchemas },
  },
  fallback: {},
  fromText: asJson,
  check: checkBy(judgeModels),
  fault: judgeModels,
  hasEntries: true,
};

/** What the setting says of each model. */
export const readModelFacts = (facts: Entries): Readonly<Record<string, ModelFacts>> =>
  Object.fromEntries(Object.entries(facts).map(([name, each]) => [name, readFacts(each as Record<string, Json>)]));
