/** Sends this machine's runs to the team's database, and opens it for commands that query it. */
import { hostname } from "node:os";
import { join } from "node:path";
import { version } from "../../cli/commands/version.ts";
import type { Base } from "../../cli/compose/base.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import type { StampedEvent } from "../../core/event.ts";
import type { Notice } from "../../core/question.ts";
import { type RunSummary, summarizeRun } from "../../core/run-summary.ts";
import { type Allowance, type DayCaps, hasDayCaps } from "../../core/spending/allowance.ts";
import { counted } from "../../ui/amount.ts";
import { readAddress } from "./address.ts";
import { openMachineAllowance, openTeamAllowance, type TeamAllowance } from "./allowance.ts";
import { type DayLedger, openDayLedger } from "./day-ledger.ts";
import { type Outbox, openOutbox } from "./outbox.ts";
import { catchUp, mailRun, mailUndone } from "./shared-runs.ts";
import { mailSession, type SessionPlace } from "./shared-sessions.ts";
import { openTeamStore, type TeamStore } from "./team-store.ts";

/** Milliseconds that the end of a run waits for the database. */
const endMs = 2000;
/** Milliseconds that a call waits for the day's remaining caps. */
const callMs = 3000;
/** Milliseconds for a command about the team's store. */
const askMs = 10_000;

const openOutboxOf = (stateDir: string): Outbox => openOutbox(join(stateDir, "outbox"));

/**
 * Runs `work` with the team's database; `flag` is what needs it. Throws usage if none is set, and errors of the
 * database.
 */
export async function withStore<T>(
  { settings }: Pick<Base, "settings">,
  flag: "--team" | "--queue",
  work: (store: TeamStore) => Promise<T>,
): Promise<T> {
  if (settings.storeUrl === null)
    throw new PaiError("usage", `${flag} needs a store, and none is set`, {
      hint: "pai config set store.url postgres://USER@HOST/NAME, see docs/team.md",
    });
  const store = openTeamStore(readAddress(settings.storeUrl), { pai: version, withinMs: askMs });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/**
 * Like `withStore` for a query about runs: first sends this machine's waiting runs, so that the answer contains them.
 */
export const askTeam = <T>(
  base: Pick<Base, "settings" | "places">,
  work: (store: TeamStore) => Promise<T>,
): Promise<T> =>
  withStore(base, "--team", async (store) => {
    const { stateDir } = base.places;
    if (stateDir !== null) await catchUp(store, openOutboxOf(stateDir));
    return work(store);
  });

/** Sends waiting letters to the database for at most two seconds. The rest is kept: returns why, or null. */
async function tell(store: TeamStore, outbox: Outbox): Promise<string | null> {
  const { promise: isLate, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), endMs);
  try {
    if ((await Promise.race([catchUp(store, outbox, endMs), isLate])) !== "late") return null;
    return `the store ${store.name} took more than ${endMs / 1000} s`;
  } catch (thrown) {
    return toPaiError(thrown).message;
  } finally {
    clearTimeout(timer);
  }
}

/** "1 message waits", "2 messages to the team wait". */
export const countWaiting = (count: number, to = ""): string =>
  `${counted(count, "message")}${to === "" ? "" : ` ${to}`} ${count === 1 ? "waits" : "wait"}`;

const describeWaiting = (why: string, outbox: Outbox): Notice => ({
  level: "warning",
  code: "store",
  text: `${why}; ${countWaiting(outbox.waiting(), "to the team")} in the state folder`,
});

export interface TeamLink {
  /** Receives every event of a run, and sends the run to the team when it ends. Never throws. */
  readonly sink: (event: StampedEvent) => void;
  /** null: no day is capped. */
  readonly allowance: Allowance | null;
  /** Sets the session that is sent too, after each run and at the end; null: none. */
  readonly followSession: (place: () => SessionPlace | null) => void;
  /** Resolves when everything is sent, or after a timeout; a failure becomes one warning. */
  readonly close: () => Promise<void>;
}

type Begun = Extract<StampedEvent, { type: "run.started" }>;
type Over = Extract<StampedEvent, { type: "run.finished" }>;

/** The summary of a run, as its receipt would give it. */
const summaryOf = ({ at, root, mode, model, task }: Begun, { run, at: end, outcome }: Over): RunSummary =>
  summarizeRun(
    run,
    { at, root, mode, task: { text: task }, model: { id: model } } as Parameters<typeof summarizeRun>[1],
    { type: "run.finished", at: end, outcome },
  );

interface Linking {
  readonly store: TeamStore;
  /** null: there is no folder for letters. */
  readonly outbox: Outbox | null;
  /** Whether the runs themselves are sent. */
  readonly tellsRuns: boolean;
  readonly notify: (notice: Notice) => void;
}

/**
 * Links one call of pai to the store. `allowance` counts its calls when they are made; null: they count when the run is
 * sent.
 */
function linkStore({ store, outbox, tellsRuns, notify }: Linking, allowance: TeamAllowance | null): TeamLink {
  const begun = new Map<string, Begun>();
  let telling: Promise<string | null> = Promise.resolve(null);
  let follow: () => SessionPlace | null = () => null;
  const followed = () => {
    const place = tellsRuns ? follow() : null;
    if (place === null || outbox === null) return false;
    mailSession(outbox, hostname(), place);
    return true;
  };
  const end = (over: Over) => {
    const start = begun.get(over.run);
    begun.delete(over.run);
    if (start === undefined || outbox === null) return;
    try {
      if (tellsRuns) mailRun(outbox, hostname(), summaryOf(start, over), allowance !== null);
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
      await store.close();
    },
  };
}

function linkMachine(day: DayCaps, ledger: DayLedger | null, now: () => Date): TeamLink {
  if (Object.values(day.team).some((cap) => cap !== null))
    throw new PaiError("config_invalid", "limits.day.team caps what a team spends, and no store is set", {
      hint: "set store.url, or use limits.day for this machine alone",
    });
  if (ledger === null)
    throw new PaiError("config_invalid", "limits.day needs a folder to count in, and none is known", {
      hint: "set HOME or PAI_STATE_DIR",
    });
  return {
    sink: () => {},
    allowance: openMachineAllowance(ledger, day.user, now),
    followSession: () => {},
    close: async () => ledger.close(),
  };
}

export interface LinkOptions {
  /** Nothing is kept of the runs, and they are not sent; their calls still count. */
  readonly ephemeral: boolean;
  readonly now: () => Date;
  readonly notify: (notice: Notice) => void;
}

/** Links to the team of the settings, or counts this machine's days. Throws config_invalid. */
export function linkTeam({ settings, places }: Base, { ephemeral, now, notify }: LinkOptions): TeamLink {
  const { storeUrl, limits } = settings;
  const { stateDir } = places;
  const ledger = stateDir === null ? null : openDayLedger(join(stateDir, "days.sqlite"));
  if (storeUrl === null) return linkMachine(limits.day, ledger, now);
  const store = openTeamStore(readAddress(storeUrl), { pai: version, withinMs: callMs });
  const outbox = stateDir === null ? null : openOutboxOf(stateDir);
  const warn = (text: string) => notify({ level: "warning", code: "store", text });
  const days = { store, caps: limits.day, ledger, outbox, now, warn };
  const allowance = hasDayCaps(limits.day) ? openTeamAllowance(days) : null;
  return linkStore({ store, outbox, tellsRuns: !ephemeral, notify }, allowance);
}

/** Sends an undo or redo to the team. */
export async function shareUndone(
  { settings, places }: Base,
  run: { readonly root: string; readonly id: string },
  undone: boolean,
): Promise<Notice | null> {
  if (settings.storeUrl === null || places.stateDir === null) return null;
  const outbox = openOutboxOf(places.stateDir);
  mailUndone(outbox, hostname(), run, undone);
  const store = openTeamStore(readAddress(settings.storeUrl), { pai: version, withinMs: endMs });
  const why = await tell(store, outbox);
  await store.close();
  return why === null ? null : describeWaiting(why, outbox);
}
