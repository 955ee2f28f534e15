/** The last requests and answers of a session, for flows without messages. Pure. */
import type { Session } from "./session.ts";

/** How many turns are included. */
export const recentTurns = 5;

export function historyOf({ turns }: Session): readonly { readonly request: string; readonly answer: string }[] {
  return turns.slice(-recentTurns).map(({ request, text, status }) => ({
    request,
    answer: text === "" ? (status ?? "interrupted") : text,
  }));
}
