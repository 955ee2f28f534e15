/** A confinement that hides and opens nothing, for tests that lay one on by hand. */
import type { Confinement, Way } from "../../../src/workspace/sandbox/confinement.ts";

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
