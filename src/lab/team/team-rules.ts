/** The caps of a team, which the owner of its database sets, and its number of machines; the last answer is kept here. */

import { hostname } from "node:os";
import { join } from "node:path";
import { orNull } from "../../core/error.ts";
import type { SpendCaps } from "../../core/spending/allowance.ts";
import { readPrivate, writePrivate } from "../../store/safe-file.ts";
import type { TeamStore } from "./team-store.ts";

export interface Rules {
  readonly caps: SpendCaps;
  readonly required: boolean;
  /** Machines that were seen in the last 30 days. */
  readonly machines: number;
}

/** Of a machine that has never reached the database. */
export const unknownRules: Rules = { caps: { calls: null, tokens: null, cost: null }, required: false, machines: 1 };

export type TeamRules = ReturnType<typeof openTeamRules>;

const readKept = (file: string | null): Rules | null =>
  orNull(() => {
    const { caps, required, machines } = JSON.parse((file === null ? null : readPrivate(file)) ?? "null") as Rules;
    return { caps: { calls: caps.calls, tokens: caps.tokens, cost: caps.cost }, required, machines };
  });

/** `stateDir`: where the answer is kept; null: nowhere. */
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
