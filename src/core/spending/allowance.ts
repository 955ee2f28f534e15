/** What a day allows: a share of it is reserved before a call and settled after it, so that calls at once never overspend. */
import { PaiError } from "../error.ts";
import { noUsage, type Usage } from "../model.ts";

/** Caps of one day; null: none. Money in USD. */
export interface SpendCaps {
  readonly calls: number | null;
  readonly tokens: number | null;
  readonly cost: number | null;
}

export interface DayCaps {
  /** Of one user; of a team: of one login. */
  readonly user: SpendCaps;
  readonly team: SpendCaps;
  /** No call while it cannot be known what the day still allows. */
  readonly strict: boolean;
}

/** One call that is about to be made. Money in USD, 0 where the price is unknown. */
export interface Want {
  /** At most so many tokens are in the request. */
  readonly input: number;
  /** Output tokens without which the call makes no sense. */
  readonly least: number;
  /** Output tokens that the reply may have. */
  readonly most: number;
  readonly inputCost: number;
  /** Of one output token. */
  readonly perOutput: number;
}

/** What a call, or a day, has come to. */
export interface Spent {
  readonly calls: number;
  readonly tokens: number;
  readonly cost: number;
}

/** What is reserved for one call, request and reply together. */
export interface Share {
  readonly tokens: number;
  readonly cost: number;
}

/** A call that is about to be made, as its model is now: another one may take it over. */
export interface PlannedCall {
  readonly input: number;
  readonly least: number;
  /** Output tokens that the reply may have. Throws budget_* and request_rejected. */
  readonly most: () => number;
  /** USD; null: the price is unknown. */
  readonly priceOf: (usage: Usage) => number | null;
  /** Ends the wait for other calls, which may give back what they have reserved. */
  readonly signal: AbortSignal;
}

export interface Claim {
  /** Output tokens within what was reserved. Throws budget_cost when a dearer model took over, and what `most` throws. */
  reply(): number;
  /** Replaces the reservation by what the call really used. Never throws, and never waits. */
  settle(spent: Spent): void;
}

/** Where the days are counted. */
export interface Allowance {
  /**
   * Throws budget_calls, budget_tokens or budget_cost when the day has not enough left for the least of a call, store_away
   * when that cannot be known and the user wants no call then, and what `most` throws.
   */
  reserve(call: PlannedCall): Promise<Claim>;
}

/** Throws what `most` of the call throws. */
export function wantOf({ input, least, most, priceOf }: PlannedCall): Want {
  const asked: Usage = { ...noUsage, input, written: input };
  const inputCost = priceOf(asked) ?? 0;
  const million = (priceOf({ ...asked, output: 1e6 }) ?? inputCost) - inputCost;
  return { input, least, most: most(), inputCost, perOutput: Math.max(0, million / 1e6) };
}

/** The largest reply that fits into a share; -1, or less than the call's minimum: none does. */
export function outputWithin({ input, most, inputCost, perOutput }: Want, { tokens, cost }: Share): number {
  // A sum of prices may be off by a rounding error: a millionth of a cent does not count as overspending.
  const left = cost - inputCost + 1e-8;
  const byCost = perOutput > 0 ? Math.floor(left / perOutput) : left < 0 ? -1 : most;
  return Math.min(most, Math.floor(tokens - input), byCost);
}

/** The same within what was reserved for the call. Throws budget_cost when a dearer model took it over. */
export function replyWithin(want: Want, share: Share): number {
  const output = outputWithin(want, share);
  if (output >= want.least) return output;
  throw new PaiError("budget_cost", "what was reserved of the day is too little for this model");
}

/** The most that a call with a reply of this size can use. */
export const mostOf = ({ input, inputCost, perOutput }: Want, output: number): Spent => ({
  calls: 1,
  tokens: input + output,
  cost: inputCost + output * perOutput,
});

/** What is left of a day, or which cap is in the way of even the least call. */
export function leftFor(want: Want, caps: SpendCaps, spent: Spent): Share | keyof SpendCaps {
  const left = (name: keyof SpendCaps) => (caps[name] ?? Number.POSITIVE_INFINITY) - spent[name];
  if (left("calls") < 1) return "calls";
  const share = { tokens: left("tokens"), cost: left("cost") };
  if (outputWithin(want, { ...share, cost: Number.POSITIVE_INFINITY }) < want.least) return "tokens";
  return outputWithin(want, share) < want.least ? "cost" : share;
}

const unitOf = { calls: "calls", tokens: "tokens", cost: "USD" } as const;

/** The refusal of a call. `whose`: "the team", "ana", "this machine". */
export function dayIsSpent(what: keyof SpendCaps, used: number, cap: number | null, whose: string): PaiError {
  const amount = (value: number) => (what === "cost" ? value.toFixed(4) : String(Math.round(value)));
  const text = `the day's budget of ${whose} is reached: ${amount(used)} of ${cap ?? 0} ${unitOf[what]} used or reserved today (UTC)`;
  return new PaiError(`budget_${what}`, text, {
    hint: `wait for tomorrow, or raise limits.day.${whose === "the team" ? "team." : ""}${what}`,
  });
}

/** Whether anything is capped. */
export const hasDayCaps = ({ user, team }: DayCaps): boolean =>
  [user, team].some((caps) => caps.calls !== null || caps.tokens !== null || caps.cost !== null);
