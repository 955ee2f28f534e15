/** A model as a provider's server lists it. */
import type { Price } from "./spending/cost.ts";

export interface ListedModel {
  readonly name: string;
  /** Tokens of input and output together; null: the server does not tell. */
  readonly window: number | null;
  /** Tokens of one reply; null: the server does not tell. */
  readonly output: number | null;
  /** USD per million tokens; null: the server does not tell, or it is not one price. */
  readonly price: Price | null;
  /** Day from which the server no longer serves it ("2027-01-14"); null: none is announced. */
  readonly ends: string | null;
}

export interface ModelList {
  readonly models: readonly ListedModel[];
  /** What of the server's list is not in `models`, in words. */
  readonly omitted: readonly string[];
}

export interface KeptList extends ModelList {
  readonly provider: string;
  readonly address: string;
  readonly at: number;
}
