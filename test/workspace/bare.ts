/** Workspaces with nothing of a user around them. */
import { openWorkspace, type WorkspaceOptions } from "../../src/workspace/open.ts";

/** Without a home, rules or an environment; `over` replaces what a test is about. */
export const openBare = (root: string, stateDir: string | null, over: Partial<WorkspaceOptions> = {}) =>
  openWorkspace({
    root,
    stateDir,
    home: null,
    force: true,
    policy: { allow: [], deny: [] },
    env: {},
    commandEnv: [],
    umask: 0o022,
    ...over,
  });
