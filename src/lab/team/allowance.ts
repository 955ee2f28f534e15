/** Reserves calls against the day's caps, in the team's database or for this machine alone. */

import { PaiError, toPaiError } from "../../core/error.ts";
import {
  type Allowance,
  type Claim,
  type DayCaps,
  dayIsSpent,
  type PlannedCall,
  replyWithin,
  type Share,
  type SpendCaps,
  type Spent,
  type Want,
  wantOf,
} from "../../core/spending/allowance.ts";
import { pause } from "../../store/pause.ts";
import type { DayLedger, DayScope } from "./day-ledger.ts";
import type { Outbox } from "./outbox.ts";
import type { TeamStore } from "./team-store.ts";

/** Part of the day's caps that each machine may use while the team's database is unreachable. */
const awayShare = 0.1;
/** Milliseconds before an unreachable database is asked again. */
const restMs = 30_000;

/** Milliseconds that a call waits for others to release what they have reserved, and between two attempts. */
const patienceMs = 30_000;
const lookMs = 1000;

const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

/** A reservation that is not bound to a call yet. */
interface Reservation extends Share {
  readonly settle: (spent: Spent) => void;
}

const claimFor = (call: PlannedCall, { settle, ...share }: Reservation): Claim => ({
  reply: () => replyWithin(wantOf(call), share),
  settle,
});

interface Here {
  readonly ledger: DayLedger;
  readonly caps: SpendCaps;
  readonly scope: DayScope;
  /** Owner of the cap, for refusals. */
  readonly whose: string;
}

function reserveHere(
  { ledger, caps, scope, whose }: Here,
  day: string,
  want: Want,
): Reservation & { readonly id: string } {
  const id = crypto.randomUUID();
  const share = ledger.reserve(id, day, scope, caps, want);
  if ("what" in share) throw dayIsSpent(share.what, share.used, caps[share.what], whose);
  const settle = (spent: Spent) => {
    try {
      ledger.settle(id, spent);
    } catch {
      // The reservation stays counted: too much is better than too little.
    }
  };
  return { tokens: share.tokens, cost: share.cost, id, settle };
}

/** For one machine. Throws what the ledger throws: if a day's use cannot be counted, no call is made. */
export function openMachineAllowance(ledger: DayLedger, caps: SpendCaps, now: () => Date): Allowance {
  const here: Here = { ledger, caps, scope: "machine", whose: "this machine" };
  return { reserve: async (call) => claimFor(call, reserveHere(here, dayOf(now()), wantOf(call))) };
}

interface Reserved {
  readonly granted: boolean;
  readonly of_scope: string | null;
  readonly what: keyof SpendCaps | null;
  readonly used: number | null;
  readonly claim_tokens: number | null;
  readonly claim_cost: number | null;
}

export interface TeamDays {
  readonly store: TeamStore;
  readonly caps: DayCaps;
  /** Counts what is spent while the database is unreachable; null: it cannot be counted here. */
  readonly ledger: DayLedger | null;
  /** Keeps messages for the database until it is reachable; null: nothing can be kept here. */
  readonly outbox: Outbox | null;
  readonly now: () => Date;
  readonly warn: (text: string) => void;
  /** Milliseconds that a call waits for others to release a share; absent: 30 seconds. */
  readonly waitMs?: number;
}

export interface TeamAllowance extends Allowance {
  /** Resolves when all settlements are sent, or kept to be sent later. */
  readonly close: () => Promise<void>;
}

const partOf = (user: SpendCaps, team: SpendCaps): SpendCaps => {
  const part = (name: keyof SpendCaps) => {
    const cap = Math.min(user[name] ?? Number.POSITIVE_INFINITY, team[name] ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(cap) ? cap * awayShare : null;
  };
  const calls = part("calls");
  return { calls: calls === null ? null : Math.ceil(calls), tokens: part("tokens"), cost: part("cost") };
};

const nothing: Spent = { calls: 0, tokens: 0, cost: 0 };

/** For a team; a day follows the clock of its database. */
export function openTeamAllowance({
  store,
  caps,
  ledger,
  outbox,
  now,
  warn,
  waitMs = patienceMs,
}: TeamDays): TeamAllowance {
  const { user, team, strict } = caps;
  const settling = new Set<Promise<void>>();
  let askAgainAt = 0;
  const mail = (claim: string, day: string, { calls, tokens, cost }: Spent, final: boolean) =>
    outbox?.put(final ? "spent" : "spend", claim.replaceAll("-", ""), { claim, day, calls, tokens, cost, final });
  const mailSettlement = (id: string, day: string, spent: Spent) => {
    try {
      mail(id, day, spent, true);
    } catch (thrown) {
      warn(`the cost of a call was not recorded, so its reservation stays: ${toPaiError(thrown).message}`);
    }
  };

  async function settle(id: string, spent: Spent): Promise<void> {
    const day = dayOf(now());
    try {
      await store.query("select pai.settle($1, $2::date, $3, $4, $5, true)", [
        id,
        day,
        spent.calls,
        spent.tokens,
        spent.cost,
      ]);
    } catch {
      mailSettlement(id, day, spent);
    }
  }

  async function ask(id: string, want: Want): Promise<Reservation> {
    const limits = [user, team].flatMap((each) => [each.calls, each.tokens, each.cost]);
    const call = [want.input, want.minReply, want.maxReply, want.inputCost, want.perOutput];
    const [row] = await store.query<Reserved>(
      "select * from pai.reserve($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
      [id, ...limits, ...call],
    );
    if (row?.granted !== true) {
      const what = row?.what ?? "calls";
      const isTeam = row?.of_scope === "team";
      const whose = isTeam ? "the team" : (row?.of_scope ?? "").replace(/^user /, "");
      throw dayIsSpent(what, row?.used ?? 0, (isTeam ? team : user)[what], whose);
    }
    return {
      tokens: row.claim_tokens ?? 0,
      cost: row.claim_cost ?? 0,
      settle(spent) {
        const work = settle(id, spent).finally(() => settling.delete(work));
        settling.add(work);
      },
    };
  }

  function takeFromReserve(want: Want, away: PaiError): Reservation {
    if (strict)
      throw new PaiError("store_away", `${away.message}; with limits.strict no call is made without it`, {
        hint: "make the store reachable, or allow a reserve: pai config set limits.strict false",
        cause: away,
      });
    if (ledger === null || outbox === null)
      throw new PaiError("store_away", `${away.message}, and no folder is known to count a reserve in`, {
        cause: away,
      });
    const day = dayOf(now());
    const whose = "this machine while the store is unreachable";
    const { id, ...reserved } = reserveHere({ ledger, caps: partOf(user, team), scope: "away", whose }, day, want);
    mail(id, day, { calls: 1, tokens: reserved.tokens, cost: reserved.cost }, false);
    return {
      ...reserved,
      settle(spent) {
        reserved.settle(spent);
        mailSettlement(id, day, spent);
      },
    };
  }

  let known: PaiError | null = null;
  async function reserve(want: Want): Promise<Reservation> {
    if (known !== null && performance.now() < askAgainAt) return takeFromReserve(want, known);
    const id = crypto.randomUUID();
    try {
      const reserved = await ask(id, want);
      known = null;
      return reserved;
    } catch (thrown) {
      const error = toPaiError(thrown);
      if (error.code !== "store_away") throw error;
      // The reply may have been lost after the reservation was made, so it is released later.
      mailSettlement(id, dayOf(now()), nothing);
      if (known === null && !strict) warn(`${error.message}; a tenth of the day's caps may be used meanwhile`);
      known = error;
      askAgainAt = performance.now() + restMs;
      return takeFromReserve(want, error);
    }
  }

  /** Whether a later attempt may succeed: calls under way have reserved more than they will need. */
  async function isHeld(thrown: unknown): Promise<boolean> {
    if (known !== null || !toPaiError(thrown).code.startsWith("budget_")) return false;
    const [row] = await store.query<{ held: boolean }>("select pai.is_held() as held", []);
    return row?.held === true;
  }

  async function reservePatiently(call: PlannedCall): Promise<Reservation> {
    const until = performance.now() + waitMs;
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await reserve(wantOf(call));
      } catch (thrown) {
        if (performance.now() >= until || !(await isHeld(thrown))) throw thrown;
        if (isFirst) warn("the rest of the day's caps is reserved by calls under way: waiting for them");
        await pause(lookMs * (0.5 + Math.random()), call.signal);
      }
    }
  }

  return {
    reserve: async (call) => claimFor(call, await reservePatiently(call)),
    async close() {
      await Promise.all(settling);
    },
  };
}
