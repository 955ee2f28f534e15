/** The kinds of ids that shells complete: of runs that can be undone, of all runs, of sessions. */

export const idKinds = ["undoable", "runs", "sessions"] as const;
export type IdKind = (typeof idKinds)[number];
