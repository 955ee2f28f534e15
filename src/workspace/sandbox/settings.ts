/** The user's settings for the sandbox. */
import type { SandboxChoice } from "../../core/command/sandbox.ts";
import type { Way } from "./confinement.ts";

export interface SandboxSettings {
  readonly choice: SandboxChoice;
  readonly network: boolean;
  readonly writable: readonly string[];
  readonly readable: readonly string[];
  readonly git: boolean;
  /** For tests: only this way. */
  readonly only?: Way;
}

export const defaultSandbox: SandboxSettings = {
  choice: "auto",
  network: false,
  writable: [],
  readable: [],
  git: false,
};
