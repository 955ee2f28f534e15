/** The ledger of a run, which counts what its calls cost and refuses what is over a cap or the promise; the model and its price. */

import { PaiError } from "../core/error.ts";
import { addUsage, type Effort, type Job, type Model, type ModelEvent, noUsage, type Usage } from "../core/model.ts";
import type { CallPromise } from "../core/plan/promise.ts";
import type { Allowance } from "../core/spending/allowance.ts";
import { costOf, type Price, roundCost } from "../core/spending/cost.ts";

export interface CallingOptions {
  readonly temperature: number | null;
  readonly effort?: Readonly<Record<Job, Effort | null>>;
  readonly caps: { readonly calls: number | null; readonly tokens: number | null; readonly cost: number | null };
}

export interface CallPorts {
  readonly model: Model;
  /** Price of the model that is in use now, which a fallback changes; null: unknown. */
  readonly price: (job: Job) => Price | null;
  /** The day's budget, of which every call takes a share; null or absent: no cap for the day. */
  readonly allowance?: Allowance | null;
}

export interface Calling extends CallingOptions, CallPorts {
  secretsTold: number;
  hugeAllowed: boolean;
}

export function createCalling({ temperature, effort, caps }: CallingOptions, { model, price, allowance }: CallPorts) {
  return {
    temperature,
    ...(effort !== undefined && { effort }),
    caps,
    model,
    price,
    allowance: allowance ?? null,
    secretsTold: 0,
    hugeAllowed: false,
  };
}

export type Ledger = ReturnType<typeof createLedger>;

/** The most and the fewest characters that a token has: limits of the calibration. */
const maxPerToken = 8;
const minPerToken = 1.5;

/** The fewest tokens that so many characters can be. */
export const minTokens = (characters: number): number => Math.ceil(characters / maxPerToken);

/** Who answered a call, which key paid, and what the provider says it charged. */
type Charge = Pick<Extract<ModelEvent, { type: "done" }>, "served" | "key" | "charged">;

/** The estimated tokens of a request, and whose model got it; absent: that for the work. */
interface Asked {
  readonly estimate: number;
  readonly job?: Job;
}

const sumOf = (a: number | null, b: number | null) => (a === null || b === null ? null : roundCost(a + b));

/** The dearest usage of these input tokens: none is in the provider's cache, and all are written to it. */
const unknownYet = (input: number): Usage => ({ ...noUsage, input, written: input });

/** `priceNow`: of a job's current model; null: unknown. `kept`: calls beyond the promise, for the end of the run (`release`). */
export function createLedger(caps: CallingOptions["caps"], priceNow: CallPorts["price"], first: CallPromise, kept = 0) {
  let made = 0;
  let sent = 0;
  /** Requests on their way that are not counted yet. */
  let held = 0;
  let promised = first;
  let reserved = 0;
  let released = 0;
  const leftMost = () => promised.at_most + released;
  let usage = noUsage;
  /** As the caps count it. */
  let counted = noUsage;
  let countedCost: number | null = 0;
  let key: string | null = null;
  let ratio = 1 / 4;
  let cost: number | null = 0;
  const served: string[] = [];
  const priceOf = (used: Usage, job: Job = "work") => {
    const price = priceNow(job);
    return price === null ? null : costOf(used, price);
  };
  const isUnpriced = () => priceNow("plan") === null || priceNow("work") === null;
  if (caps.cost !== null && isUnpriced()) {
    throw new PaiError("usage", "--max-cost needs a known price, and this model has none", {
      hint: "use --max-tokens or --max-calls, or say its price: pai config set models.MODEL",
    });
  }
  const refuse = (code: "budget_calls" | "budget_tokens" | "budget_cost", what: string) => {
    const flag = { budget_calls: "--max-calls", budget_tokens: "--max-tokens", budget_cost: "--max-cost" }[code];
    throw new PaiError(code, `budget reached: ${what}`, { hint: `allow more with ${flag}` });
  };
  return {
    /** Throws budget_* when a cap does not leave `estimate` input tokens and `reply` output tokens for one more call. */
    admit(estimate: number, reply = 0, job: Job = "work"): void {
      if (caps.calls !== null && made + held >= caps.calls)
        refuse("budget_calls", `${made} of ${caps.calls} calls made`);
      if (made + held >= leftMost()) refuse("budget_calls", `${made} of at most ${leftMost()} promised calls made`);
      const tokens = counted.input + counted.output;
      if (caps.tokens !== null && tokens + estimate + reply > caps.tokens) {
        refuse(
          "budget_tokens",
          `${tokens} tokens used, the next call needs about ${estimate + reply}, the limit is ${caps.tokens}`,
        );
      }
      if (caps.cost !== null) {
        const spent = countedCost ?? Number.POSITIVE_INFINITY;
        const next = priceOf({ ...unknownYet(estimate), output: reply }, job) ?? 0;
        if (spent + next > caps.cost) refuse("budget_cost", `${spent.toFixed(4)} USD used, the limit is ${caps.cost}`);
      }
    },
    /** Output tokens that the caps leave after `estimate` input tokens; may be negative, infinite without caps. */
    room(estimate: number, job: Job = "work"): number {
      const tokens = (caps.tokens ?? Number.POSITIVE_INFINITY) - counted.input - counted.output - estimate;
      if (caps.cost === null || countedCost === null) return tokens;
      const asked = priceOf(unknownYet(estimate), job);
      if (asked === null) return tokens;
      const million = (priceOf({ ...unknownYet(estimate), output: 1e6 }, job) ?? asked) - asked;
      return million > 0 ? Math.min(tokens, Math.floor(((caps.cost - countedCost - asked) / million) * 1e6)) : tokens;
    },
    get capped(): boolean {
      return caps.calls !== null && made >= caps.calls && made < promised.at_most;
    },
    get exhausted(): boolean {
      return made + held >= leftMost() || (caps.calls !== null && made + held >= caps.calls);
    },
    get spare(): boolean {
      return made + held + reserved < leftMost();
    },
    reserve(calls: number): void {
      reserved = calls;
    },
    /** Holds a call for a request on its way. Call the returned function once the request counts or has failed. */
    hold(): () => void {
      held += 1;
      let isHeld = true;
      return () => {
        if (isHeld) held -= 1;
        isHeld = false;
      };
    },
    noteSent(): void {
      sent += 1;
    },
    get sent(): number {
      return sent;
    },
    /** Counts a call whose reply begins to arrive. Returns its number, from 1. */
    count(): number {
      made += 1;
      return made;
    },
    /** Charges a reply. `done` null: it broke off, and calibrates nothing. `capped`: what of it the caps count. */
    spend(used: Usage, done: Charge | null, { estimate, job = "work" }: Asked, capped = used): void {
      usage = addUsage(usage, used);
      counted = addUsage(counted, capped);
      cost = sumOf(cost, done?.charged ?? priceOf(used, job));
      countedCost = sumOf(countedCost, priceOf(capped, job) ?? done?.charged ?? null);
      if (done === null) return;
      key = done.key;
      if (!served.includes(done.served)) served.push(done.served);
      if (used.input > 0 && estimate > 0) {
        ratio = Math.min(1 / minPerToken, Math.max(1 / maxPerToken, ratio * (used.input / estimate)));
      }
    },
    promise(next: CallPromise): void {
      promised = next;
    },
    promiseOneMore(): void {
      promised = { expected: promised.expected + 1, at_most: promised.at_most + 1 };
    },
    release(): void {
      released = kept;
      reserved = 0;
    },
    /** Characters to tokens, calibrated by what the provider counted. */
    estimate: (characters: number): number => Math.ceil(characters * ratio),
    /** USD; null: price unknown. */
    priceOf,
    get made(): number {
      return made;
    },
    get promised(): CallPromise {
      const whole = promised.at_most + kept;
      const maxCalls = caps.calls ?? whole;
      return { expected: Math.min(promised.expected, maxCalls), at_most: Math.min(whole, maxCalls) };
    },
    get usage(): Usage {
      return usage;
    },
    get cost(): number | null {
      return made === 0 && isUnpriced() ? null : cost;
    },
    get served(): readonly string[] {
      return served;
    },
    get key(): string | null {
      return key;
    },
  };
}
