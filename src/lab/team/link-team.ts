/** Links this machine with the team's database: sends its runs, opens it for queries, checks it for `pai doctor`. */
import { hostname } from "node:os";
import { join } from "node:path";
import type { Base } from "../../cli/compose/base.ts";
import { type Finding, failed, fine, type Patient } from "../../cli/finding.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import type { StampedEvent } from "../../core/event.ts";
import type { Notice } from "../../core/question.ts";
import { type RunSummary, summarizeRun } from "../../core/run-summary.ts";
import { type Allowance, hasCaps, type SpendCaps } from "../../core/spending/allowance.ts";
import { waitAtMost } from "../../core/steps.ts";
import type { LoadedSettings } from "../../store/settings.ts";
import { counted, priced } from "../../ui/amount.ts";
import { openMachineAllowance, openTeamAllowance, openTeamRules } from "./allowance.ts";
import { type DayLedger, openDayLedger } from "./day-ledger.ts";
import { type Outbox, openOutbox } from "./outbox.ts";
import {
  catchUp,
  fetchSession,
  listTeamSessions,
  mailRun,
  mailSession,
  mailUndone,
  type SessionPlace,
} from "./shared.ts";
import { openTeamStore, readAddress, type TeamStore } from "./team-store.ts";

const endMs = 2000;
const callMs = 3000;
const askMs = 10_000;

const openOutboxOf = (stateDir: string): Outbox => openOutbox(join(stateDir, "outbox"));

/** Runs `work` with the team's database; `flag` needs it. Throws usage if none is set. */
export async function withStore<T>(
  { settings }: Pick<Base, "settings">,
  flag: "--team" | "--queue",
  work: (store: TeamStore) => Promise<T>,
): Promise<T> {
  if (settings.storeUrl === null)
    throw new PaiError("usage", `${flag} needs a store, and none is set`, {
      hint: "pai config set store.url postgres://USER@HOST/NAME, see docs/team.md",
    });
  const store = openTeamStore(readAddress(settings.storeUrl), askMs);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

export const askTeam = <T>(base: Pick<Base, "settings" | "places">, work: (store: TeamStore) => Promise<T>) =>
  withStore(base, "--team", async (store) => {
    const { stateDir } = base.places;
    if (stateDir !== null) await catchUp(store, openOutboxOf(stateDir));
    return work(store);
  });

/** Sends waiting letters to the database for at most two seconds. The rest is kept: returns why, or null. */
async function tell(store: TeamStore, outbox: Outbox): Promise<string | null> {
  try {
    const sent = await waitAtMost(catchUp(store, outbox, endMs), endMs);
    return sent === "late" ? `the store ${store.name} took more than ${endMs / 1000} s` : null;
  } catch (thrown) {
    return toPaiError(thrown).message;
  }
}

/** "1 message waits", "2 messages wait". */
const countWaiting = (count: number): string => `${counted(count, "message")} ${count === 1 ? "waits" : "wait"}`;

const describeWaiting = (why: string, outbox: Outbox): Notice => ({
  level: "warning",
  code: "store",
  text: `${why}; ${countWaiting(outbox.waiting())} for the team in the state folder`,
});

export interface TeamLink {
  /** Receives every event of a run, and sends the run to the team when it ends. Never throws. */
  readonly sink: (event: StampedEvent) => void;
  readonly allowance: Allowance | null;
  /** Sets the session that is sent too, after each run and at the end; null: none. */
  readonly followSession: (place: () => SessionPlace | null) => void;
  /** Resolves when everything is sent, or after a timeout; a failure becomes one warning. */
  readonly close: () => Promise<void>;
}

type Begun = Extract<StampedEvent, { type: "run.started" }>;
type Over = Extract<StampedEvent, { type: "run.finished" }>;

/** The summary of a run, as its receipt would give it. */
function summaryOf({ at, root, mode, model, task }: Begun, { run, at: end, outcome }: Over): RunSummary {
  const started = { at, root, mode, task: { text: task }, model: { id: model } };
  return summarizeRun(run, started as Parameters<typeof summarizeRun>[1], { type: "run.finished", at: end, outcome });
}

function linkMachine(day: SpendCaps, ledger: DayLedger | null, now: () => Date): TeamLink {
  if (ledger === null)
    throw new PaiError("config_invalid", "limits.day needs a folder to count in, and none is known", {
      hint: "set HOME or PAI_STATE_DIR",
    });
  return {
    sink: () => {},
    allowance: openMachineAllowance(ledger, day, now),
    followSession: () => {},
    close: async () => ledger.close(),
  };
}

/**
 * Links one call of pai to the team of the settings, or counts this machine's days; of `ephemeral` runs only the calls
 * count. Throws config_invalid.
 */
export function linkTeam(base: Base, ephemeral: boolean, notify: (notice: Notice) => void): TeamLink {
  const { settings, places } = base;
  const { now } = base.context;
  const { storeUrl, limits } = settings;
  const { stateDir } = places;
  const ledger = stateDir === null ? null : openDayLedger(join(stateDir, "days.sqlite"));
  if (storeUrl === null) return linkMachine(limits.day, ledger, now);
  const store = openTeamStore(readAddress(storeUrl), callMs);
  const outbox = stateDir === null ? null : openOutboxOf(stateDir);
  const warn = (text: string) => notify({ level: "warning", code: "store", text });
  const rules = openTeamRules(store, stateDir);
  const known = rules.known();
  const days = { store, rules, caps: limits.day, ledger, outbox, now, warn };
  // Without caps calls count when their run is sent.
  const allowance = known === null || hasCaps(limits.day) || hasCaps(known.caps) ? openTeamAllowance(days) : null;
  const begun = new Map<string, Begun>();
  let telling: Promise<string | null> = Promise.resolve(null);
  let follow: () => SessionPlace | null = () => null;
  const followed = () => {
    const place = ephemeral ? null : follow();
    if (place === null || outbox === null) return false;
    mailSession(outbox, hostname(), place);
    return true;
  };
  const end = (over: Over) => {
    const isCounted = allowance?.endRun() ?? false;
    const start = begun.get(over.run);
    begun.delete(over.run);
    if (start === undefined || outbox === null) return;
    try {
      if (!ephemeral) mailRun(outbox, hostname(), summaryOf(start, over), isCounted);
      followed();
      telling = telling.then(() => tell(store, outbox));
    } catch (thrown) {
      telling = telling.then(() => `this run was not sent to the team: ${toPaiError(thrown).message}`);
    }
  };
  return {
    sink(event) {
      if (event.type === "run.started") begun.set(event.run, event);
      if (event.type === "run.finished") end(event);
    },
    allowance,
    followSession(place) {
      follow = place;
    },
    async close() {
      if (outbox !== null && followed()) telling = telling.then(() => tell(store, outbox));
      const why = await telling;
      if (why !== null && outbox !== null) notify(describeWaiting(why, outbox));
      await allowance?.close();
      // What the next run is to know; who was reached a moment ago answers at once.
      if (why === null && allowance === null) await rules.ask().catch(() => {});
      await store.close();
    },
  };
}

export async function shareUndone(
  { settings, places }: Base,
  run: { readonly root: string; readonly id: string },
  undone: boolean,
): Promise<Notice | null> {
  if (settings.storeUrl === null || places.stateDir === null) return null;
  const outbox = openOutboxOf(places.stateDir);
  mailUndone(outbox, hostname(), run, undone);
  const store = openTeamStore(readAddress(settings.storeUrl), endMs);
  const why = await tell(store, outbox);
  await store.close();
  return why === null ? null : describeWaiting(why, outbox);
}

type Asked = Parameters<typeof fetchSession>[2];

/** Updates the session's file from the store; returns a message, or null. Throws usage for an ambiguous id. */
export async function fetchTeamSession(base: Base, folder: string, asked: Asked): Promise<string | null> {
  try {
    const found = await askTeam(base, (store) => fetchSession(store, folder, asked));
    if (found?.how === "fetched") return `session ${found.id} was fetched from the store; it went on at ${found.host}`;
    return found?.how === "forked"
      ? `session ${found.id} went on at ${found.host} too; this is this machine's copy`
      : null;
  } catch (thrown) {
    const error = toPaiError(thrown);
    if (error.code === "usage") throw error;
    return `${error.message}; sessions of this machine only`;
  }
}

/** Sessions of this project whose ids are not `known` here; `why`: why they are unknown, null: they are known. */
export async function listSessionsElsewhere(base: Base, root: string, known: ReadonlySet<string>) {
  try {
    const all = await askTeam(base, (store) => listTeamSessions(store, { root, wanted: null }));
    return { elsewhere: all.filter(({ id }) => !known.has(id)), why: null };
  } catch (thrown) {
    return { elsewhere: [], why: `${toPaiError(thrown).message}; sessions of this machine only` };
  }
}

/** No finding without a store. Migrates a store with an older layout. */
export async function examineStore(
  { places }: Patient,
  { settings, origins }: LoadedSettings,
): Promise<readonly Finding[]> {
  if (settings.storeUrl === null) return [];
  const waiting = places.stateDir === null ? 0 : openOutboxOf(places.stateDir).waiting();
  const waits = waiting === 0 ? "" : `, ${countWaiting(waiting)} here`;
  try {
    const query = `select session_user::text as who, (select max(version) from pai.migrations) as layout,
      (select count(*)::float8 from pai.runs) as runs, coalesce(s.calls, 0) as calls, coalesce(s.cost, 0) as cost
      from (select) as one left join pai.spent s on s.day = pai.today() and s.scope = 'team'`;
    return await withStore({ settings }, "--team", async (store) => {
      type Row = { who: string; layout: number; runs: number; calls: number; cost: number };
      const [row] = await store.query<Row>(query, []);
      const today = `today ${counted(row?.calls ?? 0, "call")}, ${priced(row?.cost ?? 0)}`;
      const text = `${store.name} as ${row?.who}: layout ${row?.layout}, ${counted(row?.runs ?? 0, "run")}, ${today}${waits} (${origins["store.url"]})`;
      return [fine("store", text)];
    });
  } catch (thrown) {
    const found = failed("store", thrown, toPaiError(thrown).code === "store_away" ? "warning" : "error");
    return [{ ...found, text: `${found.text}${waits}` }];
  }
}
