/** What was asked and answered last, for flows that know no messages: of a long session no task carries all. Pure. */
import type { Session } from "./session.ts";

/** So many turns are told. */
export const recentTurns = 5;

export function historyOf({ turns }: Session): readonly { readonly request: string; readonly answer: string }[] {
  return turns.slice(-recentTurns).map(({ request, text, status }) => ({
    request,
    answer: text === "" ? (status ?? "interrupted") : text,
  }));
}
