/** Reserves calls against the day's caps, in the team's database or for this machine alone. */
import { hostname } from "node:os";
import { join } from "node:path";
import { orNull, PaiError, toPaiError } from "../../core/error.ts";
import { noUsage } from "../../core/model.ts";
import {
  type Allowance,
  type Claim,
  dayIsSpent,
  hasCaps,
  type PlannedCall,
  replyWithin,
  type Share,
  type SpendCaps,
  type Spent,
  type Want,
  wantOf,
} from "../../core/spending/allowance.ts";
import { readPrivate, writePrivate } from "../../store/safe-file.ts";
import type { DayLedger, DayScope } from "./day-ledger.ts";
import type { Outbox } from "./outbox.ts";
import { pause, type TeamStore } from "./team-store.ts";

/** Part of the day's caps that the machines of a team may use, each its share, while the database is unreachable. */
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

/** `whose`: of whom a refusal says that the day is spent. */
function reserveHere(ledger: DayLedger, scope: DayScope, caps: SpendCaps, whose: string, day: string, want: Want) {
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
  const reserve = (want: Want) => reserveHere(ledger, "machine", caps, "this machine", dayOf(now()), want);
  return { reserve: async (call) => claimFor(call, reserve(wantOf(call))) };
}

interface TeamDays {
  readonly store: TeamStore;
  readonly rules: TeamRules;
  readonly caps: SpendCaps;
  /** Counts what is spent while the database is unreachable; null: it cannot be counted here. */
  readonly ledger: DayLedger | null;
  /** Keeps messages for the database until it is reachable; null: nothing can be kept here. */
  readonly outbox: Outbox | null;
  readonly now: () => Date;
  readonly warn: (text: string) => void;
  /** Milliseconds that a call waits for others to release a share; absent: 30 seconds. */
  readonly waitMs?: number;
}

const partOf = (user: SpendCaps, team: SpendCaps, share: number): SpendCaps => {
  const part = (name: keyof SpendCaps) => {
    const cap = Math.min(user[name] ?? Number.POSITIVE_INFINITY, team[name] ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(cap) ? cap * share : null;
  };
  const calls = part("calls");
  return { calls: calls === null ? null : Math.ceil(calls), tokens: part("tokens"), cost: part("cost") };
};

/** Throws usage for a call whose cost nobody knows, where the team caps it. */
function requirePrice({ priceOf }: PlannedCall, { cost }: SpendCaps): void {
  if (cost === null || priceOf({ ...noUsage, input: 1, output: 1 }) !== null) return;
  throw new PaiError("usage", "the team caps the cost of a day, and the price of this model is not known", {
    hint: "choose another model, or say its price: pai config set models.PROVIDER:NAME …",
  });
}

const nothing: Spent = { calls: 0, tokens: 0, cost: 0 };

/** For a team; a day follows the clock of its database. */
export function openTeamAllowance({ store, rules, ledger, outbox, now, warn, waitMs = patienceMs, ...days }: TeamDays) {
  const user = days.caps;
  /** The claim for the calls that the run promises beyond the one under way; null: no run has begun. */
  let promise: string | null = null;
  /** Whether calls of this run are counted here; the others count when the run is told. */
  let isCounted = false;
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

  function settleSoon(id: string, spent: Spent): void {
    const day = dayOf(now());
    const { calls, tokens, cost } = spent;
    const work = store
      .query("select pai.settle($1, $2::date, $3, $4, $5, true)", [id, day, calls, tokens, cost])
      .then(() => {})
      .catch(() => mailSettlement(id, day, spent))
      .finally(() => settling.delete(work));
    settling.add(work);
  }

  async function ask(id: string, want: Want, promised: number): Promise<Reservation> {
    const run = promise ?? crypto.randomUUID();
    const limits = [run, promised, user.calls, user.tokens, user.cost];
    const call = [want.input, want.minReply, want.maxReply, want.inputCost, want.perOutput];
    type Numbers = Record<"used" | "cap" | "claim_tokens" | "claim_cost", number | null>;
    type Reserved = Numbers & { granted: boolean; of_scope: string | null; what: keyof SpendCaps | null };
    const [row] = await store.query<Reserved>(
      "select * from pai.reserve($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
      [id, ...limits, ...call],
    );
    if (row?.granted !== true) {
      const what = row?.what ?? "calls";
      const whose = row?.of_scope === "team" ? "the team" : (row?.of_scope ?? "").replace(/^user /, "");
      throw dayIsSpent(what, row?.used ?? 0, row?.cap ?? null, whose);
    }
    promise = run;
    isCounted = true;
    return { tokens: row.claim_tokens ?? 0, cost: row.claim_cost ?? 0, settle: (spent) => settleSoon(id, spent) };
  }

  function takeFromReserve(want: Want, away: PaiError): Reservation {
    const { caps: team, required, share } = known();
    if (required)
      throw new PaiError("store_away", `${away.message}, and this team makes no call without it`, {
        hint: "make the store reachable (docs/team.md)",
        cause: away,
      });
    const isCapped = hasCaps(user) || hasCaps(team);
    if (!isCapped) return { tokens: Number.POSITIVE_INFINITY, cost: Number.POSITIVE_INFINITY, settle() {} };
    isCounted = true;
    if (ledger === null || outbox === null)
      throw new PaiError("store_away", `${away.message}, and no folder is known to count a reserve in`, {
        cause: away,
      });
    const day = dayOf(now());
    const whose = "this machine while the store is unreachable";
    const { id, ...reserved } = reserveHere(ledger, "away", partOf(user, team, share), whose, day, want);
    mail(id, day, { calls: 1, tokens: reserved.tokens, cost: reserved.cost }, false);
    return {
      ...reserved,
      settle(spent) {
        reserved.settle(spent);
        mailSettlement(id, day, spent);
      },
    };
  }

  const known = () => {
    const { caps, required, machines } = rules.known() ?? unknownRules;
    return { caps, required, share: awayShare / Math.max(1, machines) };
  };

  /** The last failure to reach the database; null: it answered. */
  let gone: PaiError | null = null;

  function noteAway(error: PaiError): void {
    const { caps, required, share } = known();
    if (gone === null && !required && (hasCaps(user) || hasCaps(caps)))
      warn(`${error.message}; ${Math.round(share * 1000) / 10} % of the day's caps may be used here meanwhile`);
    gone = error;
    askAgainAt = performance.now() + restMs;
  }

  async function reserve(want: Want, call: PlannedCall): Promise<Reservation> {
    if (gone !== null && performance.now() < askAgainAt) return takeFromReserve(want, gone);
    const id = crypto.randomUUID();
    let isAsked = false;
    try {
      requirePrice(call, (await rules.ask()).caps);
      isAsked = true;
      const reserved = await ask(id, want, call.promised);
      gone = null;
      return reserved;
    } catch (thrown) {
      const error = toPaiError(thrown);
      // Of a store that cannot be used, and that never told of a cap, no run has to know.
      if (error.code !== "store_away" && (rules.known() !== null || hasCaps(user))) throw error;
      // The reply may have been lost after the reservation was made, so it is released later.
      if (isAsked) mailSettlement(id, dayOf(now()), nothing);
      noteAway(error);
      return takeFromReserve(want, error);
    }
  }

  /** Whether a later attempt may succeed: calls under way have reserved more than they will need. */
  async function isHeld(thrown: unknown): Promise<boolean> {
    if (gone !== null || !toPaiError(thrown).code.startsWith("budget_")) return false;
    const [row] = await store.query<{ held: boolean }>("select pai.is_held() as held", []);
    return row?.held === true;
  }

  async function reservePatiently(call: PlannedCall): Promise<Reservation> {
    const until = performance.now() + waitMs;
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await reserve(wantOf(call), call);
      } catch (thrown) {
        if (performance.now() >= until || !(await isHeld(thrown))) throw thrown;
        if (isFirst) warn("the rest of the day's caps is reserved by calls under way: waiting for them");
        await pause(lookMs * (0.5 + Math.random()), call.signal);
      }
    }
  }

  return {
    reserve: async (call: PlannedCall) => claimFor(call, await reservePatiently(call)),
    /** Gives back the calls that the run promised and did not make; returns whether its calls were counted one by one. */
    endRun() {
      if (promise !== null) settleSoon(promise, nothing);
      promise = null;
      const wasCounted = isCounted;
      isCounted = false;
      return wasCounted;
    },
    /** Resolves when all settlements are sent, or kept to be sent later. */
    async close() {
      this.endRun();
      await Promise.all(settling);
    },
  };
}

/** The caps of a team, which the owner of its database sets. */
interface Rules {
  readonly caps: SpendCaps;
  readonly required: boolean;
  /** Machines that were seen in the last 30 days. */
  readonly machines: number;
}

/** Of a machine that has never reached the database. */
const unknownRules: Rules = { caps: { calls: null, tokens: null, cost: null }, required: false, machines: 1 };

type TeamRules = ReturnType<typeof openTeamRules>;

const readKept = (file: string | null): Rules | null =>
  orNull(() => {
    const { caps, required, machines } = JSON.parse((file === null ? null : readPrivate(file)) ?? "null") as Rules;
    return { caps: { calls: caps.calls, tokens: caps.tokens, cost: caps.cost }, required, machines };
  });

/** `stateDir`: where the last answer is kept; null: nowhere. */
export function openTeamRules(store: TeamStore, stateDir: string | null) {
  const file = stateDir === null ? null : join(stateDir, "team.json");
  let known = readKept(file);
  let asked: Promise<Rules> | null = null;
  const greet = async (): Promise<Rules> => {
    const [row] = await store.query<SpendCaps & { readonly required: boolean; readonly machines: number }>(
      "select * from pai.greet($1)",
      [hostname()],
    );
    const { calls = null, tokens = null, cost = null, required = false, machines = 1 } = row ?? {};
    known = { caps: { calls, tokens, cost }, required, machines };
    if (file !== null) writePrivate(file, `${JSON.stringify(known)}\n`);
    return known;
  };
  return {
    known: () => known,
    /** Asks the database, once a process. Throws what the query throws. */
    ask() {
      asked ??= greet().catch((thrown) => {
        asked = null;
        throw thrown;
      });
      return asked;
    },
  };
}
