/** The check of `pai doctor` for the team's database: whether it answers, its user, and letters that wait to be sent. */

import { join } from "node:path";
import { version } from "../../cli/commands/version.ts";
import type { Finding, Patient } from "../../cli/finding.ts";
import { toPaiError } from "../../core/error.ts";
import type { LoadedSettings } from "../../store/settings.ts";
import { counted, priced } from "../../ui/amount.ts";
import { readAddress } from "./address.ts";
import { countWaiting } from "./link-team.ts";
import { openOutbox } from "./outbox.ts";
import { openTeamStore } from "./team-store.ts";

const withinMs = 10_000;

interface Row {
  readonly who: string;
  readonly layout: number;
  readonly runs: number;
  readonly calls: number;
  readonly cost: number;
}

/** No finding without a store. Migrates a store with an older layout. */
export async function examineStore(
  { places }: Patient,
  { settings, origins }: LoadedSettings,
): Promise<readonly Finding[]> {
  if (settings.storeUrl === null) return [];
  const waiting = places.stateDir === null ? 0 : openOutbox(join(places.stateDir, "outbox")).waiting();
  const waits = waiting === 0 ? "" : `, ${countWaiting(waiting)} here`;
  try {
    const address = readAddress(settings.storeUrl);
    const store = openTeamStore(address, { pai: version, withinMs });
    try {
      const [row] = await store.query<Row>(
        `select session_user::text as who, (select max(version) from pai.migrations) as layout,
          (select count(*)::float8 from pai.runs) as runs, coalesce(s.calls, 0) as calls, coalesce(s.cost, 0) as cost
          from (select) as one left join pai.spent s on s.day = pai.today() and s.scope = 'team'`,
        [],
      );
      const today = `today ${counted(row?.calls ?? 0, "call")}, ${priced(row?.cost ?? 0)}`;
      const text = `${address.name} as ${row?.who}: layout ${row?.layout}, ${counted(row?.runs ?? 0, "run")}, ${today}${waits} (${origins["store.url"]})`;
      return [{ name: "store", level: "ok", text, hint: null }];
    } finally {
      await store.close();
    }
  } catch (thrown) {
    const { code, message, hint } = toPaiError(thrown);
    return [{ name: "store", level: code === "store_away" ? "warning" : "error", text: `${message}${waits}`, hint }];
  }
}
