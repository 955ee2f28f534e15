/** The day's budget: each call reserves a share before and settles it after, so that parallel calls never overspend. */
import { PaiError } from "../error.ts";
import { noUsage, type Usage } from "../model.ts";

/** The needs of a call that is about to be made. Money in USD, 0 when the price is unknown. */
export interface Want {
  readonly input: number;
  /** With fewer output tokens than this, the call makes no sense. */
  readonly minReply: number;
  readonly maxReply: number;
  readonly inputCost: number;
  readonly perOutput: number;
}

/** What a call, or a day, has used. Cost in USD. */
export interface Spent {
  readonly calls: number;
  readonly tokens: number;
  readonly cost: number;
}

/** Caps of one day; null: none. */
export type SpendCaps = { readonly [Name in keyof Spent]: number | null };

export type Share = Pick<Spent, "tokens" | "cost">;

/** A call that is about to be made. Its functions follow the current model: another one may take over. */
export interface PlannedCall {
  readonly input: number;
  readonly minReply: number;
  /** Calls that the run still promises, this one included: at least 1. */
  readonly promised: number;
  /** Output tokens that the reply may have. Throws budget_* and request_rejected. */
  readonly maxReply: () => number;
  readonly priceOf: (usage: Usage) => number | null;
  /** Ends the wait for other calls, which may give back what they have reserved. */
  readonly signal: AbortSignal;
}

export interface Claim {
  /** Output tokens. Throws budget_cost when a dearer model took over, and what `maxReply` throws. */
  reply(): number;
  /** Replaces the reservation by what the call really used. Never throws, and never waits. */
  settle(spent: Spent): void;
}

export interface Allowance {
  /**
   * Throws budget_* when too little is left for the smallest reply, store_away when that is unknown and the team wants no
   * call then, and what `maxReply` throws.
   */
  reserve(call: PlannedCall): Promise<Claim>;
}

export function wantOf({ input, minReply, maxReply, priceOf }: PlannedCall): Want {
  const asked: Usage = { ...noUsage, input, written: input };
  const inputCost = priceOf(asked) ?? 0;
  const million = (priceOf({ ...asked, output: 1e6 }) ?? inputCost) - inputCost;
  return { input, minReply, maxReply: maxReply(), inputCost, perOutput: Math.max(0, million / 1e6) };
}

/** The largest reply, in tokens, that fits into a share; below the call's minimum, even negative: none fits. */
export function outputWithin({ input, maxReply, inputCost, perOutput }: Want, { tokens, cost }: Share): number {
  // A sum of prices may be off by a rounding error: a millionth of a cent does not count as overspending.
  const left = cost - inputCost + 1e-8;
  const byCost = perOutput > 0 ? Math.floor(left / perOutput) : left < 0 ? -1 : maxReply;
  return Math.min(maxReply, Math.floor(tokens - input), byCost);
}

export function replyWithin(want: Want, share: Share): number {
  const output = outputWithin(want, share);
  if (output >= want.minReply) return output;
  throw new PaiError(
    "budget_cost",
    "the part of the day's budget that is reserved for this call is too small for this model",
  );
}

export const maxSpent = ({ input, inputCost, perOutput }: Want, output: number): Spent => ({
  calls: 1,
  tokens: input + output,
  cost: inputCost + output * perOutput,
});

export function leftFor(want: Want, caps: SpendCaps, spent: Spent): Share | keyof SpendCaps {
  const left = (name: keyof SpendCaps) => (caps[name] ?? Number.POSITIVE_INFINITY) - spent[name];
  if (left("calls") < 1) return "calls";
  const share = { tokens: left("tokens"), cost: left("cost") };
  if (outputWithin(want, { ...share, cost: Number.POSITIVE_INFINITY }) < want.minReply) return "tokens";
  return outputWithin(want, share) < want.minReply ? "cost" : share;
}

const unitOf = { calls: "calls", tokens: "tokens", cost: "USD" } as const;

/** The refusal of a call. `whose`: "the team", "ana", "this machine". */
export function dayIsSpent(what: keyof SpendCaps, used: number, cap: number | null, whose: string): PaiError {
  const amount = (value: number) => (what === "cost" ? value.toFixed(4) : String(Math.round(value)));
  const text = `the day's budget of ${whose} is reached: ${amount(used)} of ${cap ?? 0} ${unitOf[what]} used or reserved today (UTC)`;
  return new PaiError(`budget_${what}`, text, {
    hint:
      whose === "the team"
        ? "wait for tomorrow, or ask who owns the store to raise pai.caps (docs/team.md)"
        : `wait for tomorrow, or raise limits.day.${what}`,
  });
}

export const hasCaps = (caps: SpendCaps): boolean => caps.calls !== null || caps.tokens !== null || caps.cost !== null;
