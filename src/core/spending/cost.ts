/** What tokens cost. */
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
  /** The rates of a whole call whose input is larger than `above` tokens; null or absent: the same as ever. */
  readonly large?: (Rate & { readonly above: number }) | null;
}

/** USD without the tail of binary fractions: no price is given finer. */
export const roundCost = (cost: number): number => Number(cost.toFixed(10));

/** Cached and written tokens are part of the input, each at its own rate. */
export function costOf(usage: Usage, price: Price): number {
  const { large } = price;
  const rate = large != null && usage.input > large.above ? large : price;
  const { input, cached, written = 0, output } = usage;
  const sent = (input - cached - written) * rate.input + cached * rate.cached + written * (rate.written ?? rate.input);
  return roundCost((sent + output * rate.output) / 1e6);
}
