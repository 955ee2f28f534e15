/** A confinement that hides and opens nothing, and a sandbox of one way, for tests that lay them on by hand. */
import { openSync } from "node:fs";
import { runConfined } from "../../../src/workspace/command/shell.ts";
import type { Confinement, Way } from "../../../src/workspace/sandbox/confinement.ts";
import { openSandbox } from "../../../src/workspace/sandbox/open-sandbox.ts";
import { defaultSandbox } from "../../../src/workspace/sandbox/settings.ts";

type SandboxOptions = Parameters<typeof openSandbox>[0];

/** The project can be written, nothing is hidden, and there is no network; `over` replaces what a test is about. */
export const bareConfinement = (way: Way, workspace: string, over: Partial<Confinement> = {}): Confinement => ({
  way,
  workspace,
  workspaceRights: "write",
  userNamespace: false,
  overlay: null,
  throughOverlay: [],
  submounts: [],
  unixSockets: true,
  writable: [],
  readable: [],
  homes: [],
  fixed: [],
  readOnly: [],
  hidden: [],
  caches: [],
  network: false,
  temporary: null,
  landlock: 0,
  outside: [],
  asFile: false,
  ...over,
});

export const bareEnv = { PATH: "/usr/bin:/bin" };

/** A sandbox of this way alone, what it is good for, and a command in it. */
export async function openOnly(way: Way | undefined, workspace: string, over: Partial<SandboxOptions> = {}) {
  const sandbox = openSandbox({
    settings: { ...defaultSandbox, ...(way !== undefined && { only: way }) },
    workspace,
    workspaceFd: openSync(workspace, 0o10200000),
    rules: { allow: [], deny: [] },
    home: null,
    own: [],
    stateFolder: null,
    ...over,
  });
  const request = { by: "plan", stdin: "ignore", stderr: "merge", layers: null } as const;
  const limits = { env: bareEnv, timeoutMs: 60_000, signal: new AbortController().signal };
  return {
    state: await sandbox.state(),
    run: (command: string, more: { readonly readsOnly?: boolean } = {}) =>
      runConfined(command, limits, (argv, env) => sandbox.start({ argv, env, ...request, ...more })),
  };
}
