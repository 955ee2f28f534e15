/** Reads a file of models in the form of models.dev's `api.json`, with the few facts that models.dev does not tell. */
import * as z from "zod";

/** models.dev's name of each provider whose models the catalogue lists; OpenRouter's server tells its own. */
export const sourceIds: Readonly<Record<string, string>> = {
  google: "gemini",
  openai: "openai",
  anthropic: "anthropic",
  mistral: "mistral",
};

const usd = z.number().min(0);
const rates = { input: usd, output: usd, cache_read: usd.optional(), cache_write: usd.optional() };
const cost = z.object({
  ...rates,
  /** Dearer rates for all tokens of a call whose input is longer than `size`. */
  tiers: z.array(z.object({ ...rates, tier: z.object({ type: z.string(), size: z.int().positive() }) })).optional(),
  /** The older form of one tier. */
  context_over_200k: z.object(rates).optional(),
});
const day = z.iso.date();
const model = z.object({
  limit: z.object({ context: z.int().positive(), output: z.int().positive() }).optional(),
  tool_call: z.boolean().optional(),
  modalities: z.object({ output: z.array(z.string()) }).optional(),
  status: z.string().optional(),
  cost: cost.optional(),
  // The fields that follow are ours.
  /** Prices with the first and the last day on which they hold, instead of `cost`. */
  prices: z.array(cost.extend({ from: day.optional(), until: day.optional(), source: z.url(), date: day })).optional(),
  /** Day from which the model is no longer served, or another one in its place. */
  ends: day.optional(),
  /** Who gets the model no more, or alone: "closed to new accounts". */
  closed: z.string().max(60).optional(),
  /** Where `cost` was read. */
  source: z.url().optional(),
});

export type GivenCost = z.infer<typeof cost>;
export type GivenModel = z.infer<typeof model>;

export interface Given extends GivenModel {
  readonly provider: string;
  readonly name: string;
}

const name = /^[A-Za-z0-9][\w.:/-]{0,99}$/;
const maxFaults = 5;

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The models in a text of models.dev's form. Throws an Error that says what is wrong with it, and where. */
export function readModels(text: string, file: string): readonly Given[] {
  const providers = parse(text, file);
  const known = Object.keys(sourceIds).filter((id) => isFields(providers[id]));
  const faults: string[] = [];
  const found = known.flatMap((id) => {
    const models = (providers[id] as Readonly<Record<string, unknown>>)["models"];
    if (!isFields(models)) {
      faults.push(`${id}.models is no list of models by name`);
      return [];
    }
    return Object.entries(models).flatMap(([each, value]): readonly Given[] => {
      const read = name.test(each) ? model.safeParse(value) : null;
      if (read?.success === true) return [{ provider: sourceIds[id] ?? id, name: each, ...read.data }];
      const [issue] = read?.error.issues ?? [];
      const where = issue === undefined ? "its name" : issue.path.join(".") || "all of it";
      faults.push(`${id} ${JSON.stringify(each.slice(0, 100))}: ${where}: ${issue?.message ?? "not that of a model"}`);
      return [];
    });
  });
  if (known.length === 0) {
    throw new Error(
      `${file} is not in the form of models.dev's api.json: it has none of ${Object.keys(sourceIds).join(", ")}`,
    );
  }
  if (faults.length > 0) {
    const more = faults.length > maxFaults ? [`and ${faults.length - maxFaults} more`] : [];
    throw new Error(`${file} is damaged:\n  ${[...faults.slice(0, maxFaults), ...more].join("\n  ")}`);
  }
  return found;
}

function parse(text: string, file: string): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (thrown) {
    throw new Error(`${file} is no JSON: ${(thrown as Error).message}`);
  }
  if (isFields(parsed)) return parsed;
  throw new Error(`${file} is not in the form of models.dev's api.json: {provider: {models: {name: {…}}}}`);
}
