/** The settings of the sandbox that a person chose. */
import type { SandboxChoice, SandboxLevel } from "../../core/command/sandbox.ts";

export interface SandboxSettings {
  readonly choice: SandboxChoice;
  readonly network: boolean;
  /** Whether what the user typed may use the network. */
  readonly checkNetwork: boolean;
  readonly writable: readonly string[];
  readonly readable: readonly string[];
  /** Whether `.git` may be written. */
  readonly git: boolean;
  /** For tests: this level and no other. */
  readonly only?: SandboxLevel;
}

export const defaultSandbox: SandboxSettings = {
  choice: "auto",
  network: false,
  checkNetwork: true,
  writable: [],
  readable: [],
  git: false,
};
