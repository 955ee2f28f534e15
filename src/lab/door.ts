/** What the rest of pai asks of the lab but for its commands; loaded only where a store, caps or statistics need it. */
export { type IndexedRun, readRuns } from "./run-index.ts";
export { shareKeyState } from "./team/key-rests.ts";
export {
  askTeam,
  examineStore,
  fetchTeamSession,
  linkTeam,
  listSessionsElsewhere,
  shareUndone,
  type TeamLink,
} from "./team/link-team.ts";
export { readTeamRuns } from "./team/shared.ts";
export { readAddress } from "./team/team-store.ts";
