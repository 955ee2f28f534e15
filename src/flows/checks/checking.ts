/** What the run knows of its checks: written by the checks before, after and beside the work. */
import type { Change } from "../../core/change.ts";
import type { CheckEvidence, Comparison } from "../../core/command/check-output.ts";
import type { SandboxUse } from "../../core/command/sandbox.ts";
import type { CheckResult } from "../../core/outcome.ts";
import type { RelPath } from "../../core/path.ts";
import type { Transaction } from "../../core/ports.ts";

/** With what rights checks may run that the user, and not a project, has set. */
export interface CheckRights {
  /** The weakest sandbox for them; `off`: none. null: the user has not said. */
  readonly weakest: SandboxUse | null;
  /** A file of the project sets them: they never leave the sandbox. */
  readonly byProject: boolean;
  /** The project is a folder of the system, where the user's own programs need the user's rights. */
  readonly inSystem: boolean;
}

export interface CheckOptions {
  readonly checks: readonly string[];
  readonly formats?: readonly string[];
  readonly checkTimeoutMs: number;
  readonly baseline: boolean;
  readonly checkWaitMs: number;
  readonly noWorse: boolean;
  /** With what rights the user's checks may run; absent: as commands do, or with the user's after a yes. */
  readonly checkRights?: CheckRights;
}

/** The results of the user's checks before the work; they run in the background. */
export interface Baseline {
  readonly results: readonly CheckEvidence[];
  /** Waits for the rest. Throws usage for a check that cannot be run. */
  finish(): Promise<readonly CheckEvidence[]>;
  /** Waits until all have run, and asks nothing. */
  readonly ran: Promise<unknown>;
  /** Ends checks that still run; their changes then count as the run's, and are undone with it. */
  stop(): Promise<void>;
}

export interface CheckReport extends CheckEvidence {
  /** It fails the run: it failed, and not in the same way before where the user accepts that (--no-worse). */
  readonly fatal: boolean;
  readonly compared: Comparison | null;
}

export interface Checking extends Omit<CheckOptions, "baseline"> {
  readonly formats: readonly string[];
  formattedAt: number;
  /** What they have rewritten since the model was last told of it, a line each. */
  readonly formatted: Set<string>;
  readonly checkRights: CheckRights;
  /** Checks that a wall of the sandbox stopped, and whether they run with the user's rights since. */
  readonly freed: Map<string, boolean>;
  readonly takesBaseline: boolean;
  results: readonly CheckResult[];
  /** What each check said last, and of which tree. */
  readonly judged: Map<string, { readonly tree: string; readonly report: CheckReport }>;
  /** How many changes of the run's own each check has seen when it last ran. */
  readonly ranAt: Map<string, number>;
  baseline: Baseline | null;
  plannedBefore: readonly CheckEvidence[];
  /** Files that changed also when the checks ran again: no check judged what is on disk. */
  unsettled: readonly RelPath[];
  readonly byUser: Set<Change>;
  /** Files that other runs changed while such checks ran, as often as they did. */
  readonly byOthers: RelPath[];
}

export function createChecking(options: CheckOptions): Checking {
  return {
    checks: options.checks,
    formats: options.formats ?? [],
    formattedAt: 0,
    formatted: new Set(),
    checkTimeoutMs: options.checkTimeoutMs,
    checkWaitMs: options.checkWaitMs,
    noWorse: options.noWorse,
    checkRights: options.checkRights ?? { weakest: null, byProject: false, inSystem: false },
    freed: new Map(),
    takesBaseline: options.baseline,
    results: [],
    judged: new Map(),
    ranAt: new Map(),
    baseline: null,
    plannedBefore: [],
    unsettled: [],
    byUser: new Set(),
    byOthers: [],
  };
}

export function putResults(checking: Checking, results: readonly CheckResult[]): void {
  const isOther = ({ command }: CheckResult) => !results.some((each) => each.command === command);
  checking.results = [...results, ...checking.results.filter(isOther)];
}

/** What the run itself changed, in order, without what the user's checks did. */
export const ownChanges = ({ begun, checking }: { readonly begun: Transaction | null; readonly checking: Checking }) =>
  (begun?.changes ?? []).filter((change) => !checking.byUser.has(change));
