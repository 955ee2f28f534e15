/** What the run knows of its checks: written by the checks before, after and beside the work. */
import type { Change } from "../../core/change.ts";
import type { CheckEvidence } from "../../core/command/check-output.ts";
import type { CheckResult } from "../../core/outcome.ts";
import type { RelPath } from "../../core/path.ts";

export interface CheckOptions {
  /** Checks the user typed. */
  readonly checks: readonly string[];
  readonly checkTimeoutMs: number;
  /** Run the user's checks before the work too. */
  readonly baseline: boolean;
  /** How long the first request waits for the results of these checks. */
  readonly checkWaitMs: number;
  /** Accept a check that fails in the same way as before the work. */
  readonly noWorse: boolean;
  /** At the end too, the user's checks work on a copy, so that nothing they create stays. */
}

/** The results of the user's checks before the work; they run in the background. */
export interface Baseline {
  /** The results so far, in the order of the checks. */
  readonly results: readonly CheckEvidence[];
  /** Waits for the rest. Throws usage for a check that cannot be run. */
  finish(): Promise<readonly CheckEvidence[]>;
  /** Ends checks that still run; their changes then count as the run's, and are undone with it. */
  stop(): Promise<void>;
}

export interface Checking extends Omit<CheckOptions, "baseline"> {
  /** The user's checks also run before the work. */
  readonly takesBaseline: boolean;
  results: readonly CheckResult[];
  /** null: there is none, or it has not begun. */
  baseline: Baseline | null;
  /** The results of the plan's checks before the work. */
  plannedBefore: readonly CheckEvidence[];
  /** Files that changed also when the checks ran again: no check judged what is on disk. */
  unsettled: readonly RelPath[];
  /** Changes made by checks that the user typed. */
  readonly byUser: Set<Change>;
}

export function createChecking(options: CheckOptions): Checking {
  return {
    checks: options.checks,
    checkTimeoutMs: options.checkTimeoutMs,
    checkWaitMs: options.checkWaitMs,
    noWorse: options.noWorse,
    takesBaseline: options.baseline,
    results: [],
    baseline: null,
    plannedBefore: [],
    unsettled: [],
    byUser: new Set(),
  };
}
