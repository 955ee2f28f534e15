/** What a flow works with: the task, the options, the ports, and the record that the outcome is made from. */

import type { Change } from "../core/change.ts";
import type { CheckEvidence } from "../core/command/check-output.ts";
import type { RunGrant } from "../core/command/run-patterns.ts";
import type { SandboxUse } from "../core/command/sandbox.ts";
import type { ExcerptRange } from "../core/context/excerpts.ts";
import type { Emit, StampedEvent } from "../core/event.ts";
import type { GuardLimits } from "../core/guard/guard.ts";
import type { ProjectMemory } from "../core/memory.ts";
import type { Effort, Job, Json, Model } from "../core/model.ts";
import type { Amendment, CheckResult } from "../core/outcome.ts";
import type { RelPath } from "../core/path.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { ScheduleStep } from "../core/plan/schedule.ts";
import type { PlanCache, Transaction, Workspace } from "../core/ports.ts";
import type { AnyAction } from "../core/proposal.ts";
import type { Decide, Notice } from "../core/question.ts";
import type { KeyMask } from "../core/secrets/held-keys.ts";
import type { Veil } from "../core/secrets/veil.ts";
import type { Conversation } from "../core/session/conversation.ts";
import type { Allowance } from "../core/spending/allowance.ts";
import type { Price } from "../core/spending/cost.ts";
import type { Caps, Ledger } from "./ledger.ts";
import type { Overlay } from "./stage.ts";
import type { Tally } from "./tally.ts";
import type { VeiledView } from "./veiled-view.ts";

export interface Task {
  readonly text: string;
  /** What was asked before in this session and how it ended, oldest first. */
  readonly history: readonly { readonly request: string; readonly answer: string }[];
  /** Context the user piped in; null: none. */
  readonly context: string | null;
  /** Files the user named: sent whole with the request. */
  readonly files?: readonly RelPath[];
  /** Conversation of a tool-loop session so far; null or absent: a new one. */
  readonly conversation?: Conversation | null;
}

/** A plan that a person approved in an earlier, interrupted run, as that run carried it out. */
export interface ApprovedWork {
  readonly plan: Plan;
  /** The schedule of eight-step; null: the plan is carried out as a whole. */
  readonly steps: readonly ScheduleStep[] | null;
  /** The person wanted to see the changes before they are applied. */
  readonly review: boolean;
  /** The person's feedback to earlier plans. */
  readonly corrections: readonly string[];
}

export interface RunOptions {
  /** Command word for the outcome: run, plan, apply … */
  readonly command: string;
  readonly mode: string;
  readonly version: string;
  readonly temperature: number | null;
  /** How hard models think; null or absent: as they do by themselves. */
  readonly effort?: Readonly<Record<Job, Effort | null>>;
  readonly caps: Caps;
  readonly guard: GuardLimits;
  /** How many actions one reply may hold (PAI_MAX_CMDS_PER_STEP). */
  readonly maxActions: number;
  /** The environment in one line: system, tools, package manager, branch; absent: it is not mentioned. */
  readonly environment?: string;
  /** Groups of globs; a path must match one glob of every group. */
  readonly only: readonly (readonly string[])[];
  /** Checks the user typed. */
  readonly checks: readonly string[];
  readonly checkTimeoutMs: number;
  /** Run the user's checks before the work too. */
  readonly baseline: boolean;
  /** How long the first request waits for the results of these checks. */
  readonly checkWaitMs: number;
  /** Accept a check that fails in the same way as before the work. */
  readonly noWorse: boolean;
  /** For commands of the model that name no time of their own. */
  readonly commandTimeoutMs: number;
  /** A person sits at a terminal and can be asked. */
  readonly interactive: boolean;
  readonly allowDelete: boolean;
  /** Commands of the model that run without a question; headless, no others run. */
  readonly allowRun: RunGrant;
  /** Commit what a verified run changed, with this message or one of the run's own words; absent or null: no. */
  readonly commit?: { readonly message: string | null; readonly unverified: boolean } | null;
  /**
   * What may be changed without a question: files, folders and globs of what is asked about; full paths of closed files,
   * and of files that may get secrets which they did not hold.
   */
  readonly allow: readonly string[];
  /** Grant nothing beyond the plan. */
  readonly strict: boolean;
  /** JSON Schema of the answer, as text; absent or null: any text. */
  readonly outputSchema?: string | null;
  readonly dryRun: boolean;
  /** At the end too, the user's checks work on a copy, so that nothing they create stays. */
  readonly throwawayChecks?: boolean;
  /** Keep what a failed run changed. */
  readonly keep: boolean;
  /** Ask before every batch of changes, also of an approved plan. */
  readonly review: boolean;
  /** Stop after the plan. */
  readonly planOnly: boolean;
  /** Carry on this work instead of planning; absent: plan. */
  readonly approved?: ApprovedWork;
}

export interface Ports {
  readonly id: string;
  readonly model: Model;
  /** Price of the model that is in use now, which a fallback changes; null: unknown. */
  readonly price: (job: Job) => Price | null;
  /** Registers a listener for notices of the adapters during the run: waits, keys, another model. */
  readonly onNotice?: (listener: (notice: Notice) => void) => void;
  readonly workspace: Workspace;
  readonly actions: readonly AnyAction[];
  readonly decide: Decide;
  /** Receives every event, stamped. */
  readonly sink: (event: StampedEvent) => void;
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly planCache: PlanCache | null;
  /** The day's budget, of which every call takes a share; null or absent: no cap for the day. */
  readonly allowance?: Allowance | null;
  /** Facts about the project from earlier runs; null or absent: none are shown or learned. */
  readonly memory?: ProjectMemory | null;
  /** Masks the keys that pai holds in everything that leaves the run; absent: no keys are held. */
  readonly mask?: KeyMask;
  /** Shared with the recorder of the run; absent: a new one is made. */
  readonly veil?: Veil;
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

/** A text that a planning call was shown. */
export interface Shown {
  /** The file that it shows; null: it is the result of a look at several files. */
  readonly path: string | null;
  readonly text: string;
  /** The lines that were asked for; null or absent: the whole file. */
  readonly range?: ExcerptRange | null;
}

/** Notices that were given and are not repeated. */
export interface GivenNotices {
  /** Paths and looks with invisible characters in them. */
  readonly invisible: Set<string>;
  /** How many secrets were hidden. */
  secrets: number;
  /** That a request is so long that its model costs more. */
  longPrompt: boolean;
  /** That the sandbox of commands was described. */
  sandbox: boolean;
}

/** What a run has done so far; the outcome is made from it, even when the flow throws. */
export interface RunRecord {
  /** Conversation of the tool-loop so far. */
  conversation: Conversation;
  /** The mode; `auto` becomes the one that it chose. */
  mode: string;
  plan: Plan | null;
  /** The user's feedback to earlier plans. */
  corrections: readonly string[];
  /** The plan was approved. */
  approved: boolean;
  /** The person approved the plan and wants to see its changes before they are applied. */
  review: boolean;
  /** The approved schedule of eight-step; null: another mode, or not approved yet. */
  steps: readonly ScheduleStep[] | null;
  /** Results of planning calls, by the key of their input (sha256, hex); none when a person corrected the plan. */
  planned: readonly { readonly key: string; readonly made: Json }[];
  text: string;
  next: readonly string[];
  checks: readonly CheckResult[];
  /** null: there is none, or it has not begun. */
  baseline: Baseline | null;
  score: number | null;
  /** Rounds of looks before the plan. */
  rounds: number;
  /** What the first planning call showed of files, and the results of looks for later ones. */
  briefed: readonly Shown[];
  looked: readonly Shown[];
  /** Commands of the plan that ran before the first execution call, with the run's number of changes then. */
  readonly ran: Map<string, number>;
  /** The results of its actions. */
  readonly tally: Tally;
  /** Decided requests beyond its plan. */
  amended: readonly Amendment[];
  /** The sandbox its commands ran in; null: none ran. */
  sandbox: SandboxUse | null;
  /** Changes of a dry run; otherwise the transaction has them. */
  staged: readonly Change[];
  batches: number;
  /** Every path read or shown, for a saved plan. */
  readonly bases: Set<RelPath>;
  readonly givenNotices: GivenNotices;
  /** Files into which the user allowed to write secrets of other files. */
  readonly secrets: Set<RelPath>;
  /** What the person allowed to change of what is asked about or closed. */
  readonly allowed: Set<RelPath>;
  /** Changes made by checks that the user typed. */
  readonly byUser: Set<Change>;
  /** Files that changed also when the checks ran again: no check judged what is on disk. */
  unsettled: readonly RelPath[];
  /** Ignored files that commands changed and that a rollback of the run restores. */
  readonly ignored: Set<RelPath>;
  /** Ignored paths that commands changed and that no rollback restores. */
  readonly stays: Set<RelPath>;
}

/** Everything a flow works with. A flow asks and performs; it does nothing else. */
export interface Run {
  readonly task: Task;
  readonly options: RunOptions;
  readonly ports: Ports;
  readonly ledger: Ledger;
  /** The real files: for changes, and never for the model. */
  readonly overlay: Overlay;
  /** The files as the model may see them. */
  readonly veiled: VeiledView;
  /** Hides secrets on the way to the model, and restores them in what it writes. */
  readonly veil: Veil;
  readonly record: RunRecord;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** The run's transaction, begun at first use. */
  transaction(): Promise<Transaction>;
  /** The transaction if there is one. */
  readonly begun: Transaction | null;
}

/** A mode of working. Throws PaiError for every failure; puts its results into `run.record`. */
export type Flow = (run: Run) => Promise<void>;
