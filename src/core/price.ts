/** What tokens cost. */

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
