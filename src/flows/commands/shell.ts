/** Which commands may run, and which did: written where commands are approved and run. */
import type { Blob } from "../../core/change.ts";
import type { RunGrant } from "../../core/command/run-patterns.ts";
import type { SandboxUse } from "../../core/command/sandbox.ts";
import type { CommandRun } from "../../core/outcome.ts";
import type { RelPath } from "../../core/path.ts";

export interface ShellLimits {
  /** For commands of the model that name no time of their own. */
  readonly commandTimeoutMs: number;
  /** Commands of the model that run without a question; headless, no others run. */
  readonly allowRun: RunGrant;
}

export interface Shell extends ShellLimits {
  /** Files that approved commands run, as they were when the person was asked about them. */
  readonly bound: Map<RelPath, Blob>;
  commands: readonly (CommandRun & { readonly isEarly: boolean })[];
  /** Commands of the plan that ran before the first execution call, with the run's number of changes then. */
  readonly ran: Map<string, number>;
  /** The sandbox its commands ran in; null: none ran. */
  sandbox: SandboxUse | null;
  sandboxTold: boolean;
}

export function createShell({ commandTimeoutMs, allowRun }: ShellLimits): Shell {
  return {
    commandTimeoutMs,
    allowRun,
    bound: new Map(),
    commands: [],
    ran: new Map(),
    sandbox: null,
    sandboxTold: false,
  };
}
