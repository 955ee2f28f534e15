/** What the runs of a session have changed and nobody has taken back. */
import { type Change, invert, squash } from "../../core/change.ts";
import type { Session } from "../../core/session/session.ts";
import type { History } from "../../workspace/journal/history.ts";

/** As one change set, from the start of the session to now. */
export async function changesOfSession(history: History, { turns }: Session): Promise<readonly Change[]> {
  const runs = new Set(turns.map(({ run }) => run));
  const ids = history
    .list()
    .filter(({ id, status }) => runs.has(id) && status === "applied")
    .map(({ id }) => id);
  const reversals = await Promise.all(ids.map((id) => history.undo(id, { dryRun: true })));
  return squash(reversals.reverse().flatMap(({ changes }) => invert(changes)));
}
