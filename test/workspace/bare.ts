/** Workspaces with nothing of a user around them. */
import { openWorkspace, type WorkspaceOptions } from "../../src/workspace/open.ts";
import { defaultSandbox } from "../../src/workspace/sandbox/settings.ts";

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

export const usualEnv = { PATH: "/usr/bin:/bin" };

/** For commands that nothing is to end. */
export const quick = { by: "plan" as const, timeoutMs: 20_000, signal: new AbortController().signal };

/** A transaction on a workspace whose commands have no sandbox, or what `over` says of it. */
export async function beginBare(root: string, stateDir: string | null, over: Partial<WorkspaceOptions> = {}) {
  const sandbox = { ...defaultSandbox, choice: "off" } as const;
  const opened = await openBare(root, stateDir, { env: usualEnv, sandbox, ...over });
  return { ...opened, tx: await opened.workspace.begin({ id: "r1", task: "t" }) };
}
