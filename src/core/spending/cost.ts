/** Computes what tokens cost. */
import type { Usage } from "../model.ts";

/** USD per million tokens. */
export interface Rate {
  readonly input: number;
  readonly cached: number;
  /** Tokens that the provider writes to its cache; absent: as input. */
  readonly written?: number;
  readonly output: number;
}

export interface Price extends Rate {
  /** The rates for all tokens of a call with an input above `above` tokens; null or absent: the usual ones. */
  readonly large?: (Rate & { readonly above: number }) | null;
}

/** USD without the rounding errors of binary fractions: no price has more than ten digits. */
export const roundCost = (cost: number): number => Number(cost.toFixed(10));

export function costOf(usage: Usage, price: Price): number {
  const { large } = price;
  const rate = large != null && usage.input > large.above ? large : price;
  const { input, cached, written = 0, output } = usage;
  const sent = (input - cached - written) * rate.input + cached * rate.cached + written * (rate.written ?? rate.input);
  return roundCost((sent + output * rate.output) / 1e6);
}
