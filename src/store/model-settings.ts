/** The setting `models`: what the user says of a model that pai cannot know or knows otherwise. */
import type { Json } from "../core/model.ts";
import type { Rate } from "../core/spending/cost.ts";
import { type Judge, judgeBy, judgeEntries, judgeObject } from "./judge-json.ts";
import { asJson, isNumber, type Setting } from "./setting-kinds.ts";

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
const judgePrices = judgeEntries(anyName, judgeRate);

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
  inFile: true,
};

/** A short form of `models` for prices alone. */
export const prices: Setting<Entries> = {
  name: "prices",
  wants: 'USD per million tokens by model, {"gemini:name": {"input": 0.1, "output": 0.4}}',
  schema: { type: "object", additionalProperties: rateSchema },
  fallback: {},
  fromText: asJson,
  check: checkBy(judgePrices),
  fault: judgePrices,
  hasEntries: true,
  inFile: true,
};

/** What both settings say of each model; `models` wins. */
export function joinFacts(facts: Entries, rates: Entries): Readonly<Record<string, ModelFacts>> {
  const priced = Object.entries(rates).map(([name, rate]) => [name, { prices: readRate(rate) }] as const);
  const said = Object.entries(facts).map(([name, each]) => [name, readFacts(each as Record<string, Json>)] as const);
  const joined = new Map<string, ModelFacts>(priced);
  for (const [name, each] of said) joined.set(name, { ...joined.get(name), ...each });
  return Object.fromEntries(joined);
}
