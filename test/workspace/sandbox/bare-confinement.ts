/** A confinement that hides and opens nothing, for tests that lay one on by hand. */
import type { Confinement, Way } from "../../../src/workspace/sandbox/confinement.ts";
import { type Machine, thisMachine } from "../../../src/workspace/sandbox/tape.ts";

/** This machine; throws where no tape is written for it. */
export function machineHere(): Machine {
  const machine = thisMachine();
  if (machine === null) throw new Error("no tape is written for this machine");
  return machine;
}

/** The project can be written, nothing is hidden, and there is no network; `over` replaces what a test is about. */
export const bareConfinement = (way: Way, workspace: string, over: Partial<Confinement> = {}): Confinement => ({
  way,
  workspace,
  workspaceRights: "write",
  uid: process.getuid?.() ?? 0,
  gid: process.getgid?.() ?? 0,
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
  parent: null,
  ...over,
});
