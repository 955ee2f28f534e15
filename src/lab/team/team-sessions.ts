/** Sessions of the user on other machines: lists them, and fetches one to continue it. */

import type { Base } from "../../cli/compose/base.ts";
import { toPaiError } from "../../core/error.ts";
import { askTeam } from "./link-team.ts";
import { fetchSession, listTeamSessions, type TeamSession } from "./shared-sessions.ts";

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

export interface Elsewhere {
  readonly elsewhere: readonly TeamSession[];
  /** Why they are unknown; null: they are known. */
  readonly why: string | null;
}

/** Sessions of this project whose ids are not `known` here. */
export async function listSessionsElsewhere(base: Base, root: string, known: ReadonlySet<string>): Promise<Elsewhere> {
  try {
    const all = await askTeam(base, (store) => listTeamSessions(store, { root, wanted: null }));
    return { elsewhere: all.filter(({ id }) => !known.has(id)), why: null };
  } catch (thrown) {
    return { elsewhere: [], why: `${toPaiError(thrown).message}; sessions of this machine only` };
  }
}
