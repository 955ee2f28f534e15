/** The model, what a call of it may cost, and what the user was told of that: written where the model is asked. */
import type { Effort, Job, Model } from "../core/model.ts";
import type { Allowance } from "../core/spending/allowance.ts";
import type { Price } from "../core/spending/cost.ts";
import type { Caps } from "./ledger.ts";

export interface CallingOptions {
  readonly temperature: number | null;
  /** How hard models think; null or absent: as they do by themselves. */
  readonly effort?: Readonly<Record<Job, Effort | null>>;
  readonly caps: Caps;
}

export interface CallPorts {
  readonly model: Model;
  /** Price of the model that is in use now, which a fallback changes; null: unknown. */
  readonly price: (job: Job) => Price | null;
  /** The day's budget, of which every call takes a share; null or absent: no cap for the day. */
  readonly allowance?: Allowance | null;
}

export interface Calling extends CallingOptions, CallPorts {
  /** How many hidden secrets a notice told of. */
  secretsTold: number;
  /** A notice told that a request is so long that its model costs more. */
  priceTold: boolean;
}

export function createCalling(
  { temperature, effort, caps }: CallingOptions,
  { model, price, allowance }: CallPorts,
): Calling {
  return {
    temperature,
    ...(effort !== undefined && { effort }),
    caps,
    model,
    price,
    allowance: allowance ?? null,
    secretsTold: 0,
    priceTold: false,
  };
}
