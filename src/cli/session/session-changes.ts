/** The changes of a session's runs that have not been undone. */
import { type Change, squash } from "../../core/change.ts";
import type { Session } from "../../core/session/session.ts";
import type { History } from "../../workspace/journal/run-history.ts";

/** One change set from the start of the session to its last run; excludes later changes by hand. */
export function changesOfSession(history: History, { turns }: Session): readonly Change[] {
  const runs = new Set(turns.map(({ run }) => run));
  const ids = history
    .list()
    .filter(({ id, status }) => runs.has(id) && status === "applied")
    .map(({ id }) => id);
  return squash(ids.reverse().flatMap((id) => history.work(id) ?? []));
}
