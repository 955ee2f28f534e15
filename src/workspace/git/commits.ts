/** Commits of a workspace; the code is loaded when the first one is made. */
import type { Commits } from "../../core/ports.ts";
import type { GitPlace } from "./call-git.ts";

export const openCommits = (place: GitPlace): Commits => ({
  require: async () => (await import("./prepare-commit.ts")).requireRepository(place),
  prepare: async (...asked) => (await import("./prepare-commit.ts")).prepareCommit(place, ...asked),
});
