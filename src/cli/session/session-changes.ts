/** What the runs of a session have changed and nobody has undone. */
import { type Change, squash } from "../../core/change.ts";
import type { Session } from "../../core/session/session.ts";
import type { History } from "../../workspace/journal/run-history.ts";

/** As one change set, from the start of the session to what its last run left; what was changed since by hand is not in it. */
export function changesOfSession(history: History, { turns }: Session): readonly Change[] {
  const runs = new Set(turns.map(({ run }) => run));
  const ids = history
    .list()
    .filter(({ id, status }) => runs.has(id) && status === "applied")
    .map(({ id }) => id);
  return squash(ids.reverse().flatMap((id) => history.work(id) ?? []));
}
