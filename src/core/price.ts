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
  /** What the whole call costs when its input is larger than `above`, where that is more. */
  readonly large?: (Rate & { readonly above: number }) | null;
}
