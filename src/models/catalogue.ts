/** The models pai knows: what fits into them and what they cost. An unknown one gets careful defaults and no price. */
import type { Model } from "../core/model.ts";

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

type Rates = readonly [input: number, cached: number, output: number];

function model(
  provider: string,
  name: string,
  window: number,
  maxOutputTokens: number,
  rates: Rates,
  large?: Rates,
): KnownModel {
  const rate = ([input, cached, output]: Rates): Rate => ({ input, cached, output });
  const price: Price = {
    ...rate(rates),
    large: large === undefined ? null : { ...rate(large), above: 200_000 },
    date: "2026-03-01",
    source: sources[provider] ?? provider,
  };
  return { provider, name, window, maxOutputTokens, price };
}

const sources: Readonly<Record<string, string>> = {
  gemini: "https://ai.google.dev/gemini-api/docs/pricing",
  openai: "https://platform.openai.com/docs/pricing",
  anthropic: "https://platform.claude.com/docs/en/about-claude/pricing",
};

/** 65,535 is what Gemini 2.5 takes on every endpoint; one more is refused by some. */
export const knownModels: readonly KnownModel[] = [
  model("gemini", "gemini-2.5-flash-lite", 1_048_576, 65_535, [0.1, 0.01, 0.4]),
  model("gemini", "gemini-2.5-flash", 1_048_576, 65_535, [0.3, 0.03, 2.5]),
  model("gemini", "gemini-2.5-pro", 1_048_576, 65_535, [1.25, 0.125, 10], [2.5, 0.25, 15]),
  model("gemini", "gemini-2.0-flash", 1_048_576, 8192, [0.1, 0.025, 0.4]),
  model("openai", "gpt-4.1", 1_047_576, 32_768, [2, 0.5, 8]),
  model("openai", "gpt-4.1-mini", 1_047_576, 32_768, [0.4, 0.1, 1.6]),
  model("openai", "gpt-5", 400_000, 128_000, [1.25, 0.125, 10]),
  model("openai", "gpt-5-mini", 400_000, 128_000, [0.25, 0.025, 2]),
  model("anthropic", "claude-sonnet-4-5", 200_000, 64_000, [3, 0.3, 15]),
  model("anthropic", "claude-haiku-4-5", 200_000, 64_000, [1, 0.1, 5]),
];

const defaults: Readonly<Record<string, Pick<KnownModel, "window" | "maxOutputTokens">>> = {
  gemini: { window: 1_048_576, maxOutputTokens: 65_535 },
  openai: { window: 128_000, maxOutputTokens: 16_384 },
  anthropic: { window: 200_000, maxOutputTokens: 32_000 },
  local: { window: 8192, maxOutputTokens: 2048 },
  replay: { window: 1_048_576, maxOutputTokens: 65_535 },
};

/** The entry of a model, or null. A dated or `-latest` name counts as the model it is a version of. */
export function findModel(provider: string, name: string): KnownModel | null {
  const base = name.replace(/^models\//, "").replace(/-(latest|preview)?(-?\d{2,8}){0,3}$/, "");
  return knownModels.find((each) => each.provider === provider && (each.name === name || each.name === base)) ?? null;
}

/** All of a Model but its stream. */
export function describeModel(provider: string, name: string): Omit<Model, "stream"> {
  const { window, maxOutputTokens } = findModel(provider, name) ??
    defaults[provider] ?? { window: 32_768, maxOutputTokens: 8192 };
  return { id: `${provider}:${name}`, provider, name, window, maxOutputTokens };
}
