/** One execution of a flow on a task: from `run.started` to an Outcome, whatever happens in between. */
import type { AnyAction } from "../core/action.ts";
import type { Change } from "../core/change.ts";
import type { Conversation } from "../core/conversation.ts";
import { PaiError, toPaiError } from "../core/error.ts";
import type { CheckResult, StampedEvent } from "../core/event.ts";
import type { GuardLimits } from "../core/guard/guard.ts";
import type { Model } from "../core/model.ts";
import type { Outcome } from "../core/outcome.ts";
import type { RelPath } from "../core/path.ts";
import type { Plan } from "../core/plan/plan.ts";
import { planPromise } from "../core/plan/promise.ts";
import type { Decide, Emit, Notice, PlanCache, Transaction, Workspace } from "../core/ports.ts";
import type { Price } from "../core/price.ts";
import type { KeyMask } from "../core/secrets/held-keys.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";
import { createVeil, type Veil } from "../core/secrets/veil.ts";
import { type Caps, createLedger, type Ledger } from "./ledger.ts";
import { createOverlay, type Overlay } from "./stage.ts";
import { createStamper } from "./stamper.ts";

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

export interface RunOptions {
  /** Command word for the outcome: run, plan, apply … */
  readonly command: string;
  readonly mode: string;
  readonly version: string;
  readonly temperature: number;
  readonly caps: Caps;
  readonly guard: GuardLimits;
  /** PAI_MAX_CMDS_PER_STEP. */
  readonly maxActions: number;
  /** Groups of globs; a path must match one glob of every group. */
  readonly only: readonly (readonly string[])[];
  /** Checks the user typed. */
  readonly checks: readonly string[];
  readonly checkTimeoutMs: number;
  readonly commandTimeoutMs: number;
  /** A person sits at a terminal and can be asked. */
  readonly interactive: boolean;
  readonly allowDelete: boolean;
  readonly allowRun: boolean;
  readonly dryRun: boolean;
  /** Keep what a failed run changed. */
  readonly keep: boolean;
  /** Stop after the plan. */
  readonly planOnly: boolean;
}

export interface Ports {
  readonly id: string;
  readonly model: Model;
  /** Of the model in use; null: unknown. */
  readonly price: Price | null;
  /** Whoever listens is told what the adapters have to say during the run: waits, keys, another model. */
  readonly hear?: (listener: (notice: Notice) => void) => void;
  readonly workspace: Workspace;
  /** Loaded when the first request is on its way. */
  readonly actions: () => Promise<readonly AnyAction[]>;
  readonly decide: Decide;
  /** Receives every event, stamped. */
  readonly sink: (event: StampedEvent) => void;
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly planCache: PlanCache | null;
  /** Takes the keys that pai holds out of all that leaves the run; nothing when it is left out. */
  readonly mask?: KeyMask;
  /** Shared with whoever writes the run down; its own when it is left out. */
  readonly veil?: Veil;
}

/** What is known of a run so far; the outcome is made from it even when the flow throws. */
export interface RunRecord {
  /** Conversation of the tool-loop, as it stands. */
  conversation: Conversation;
  /** Way of working; `auto` becomes the one it chose. */
  mode: string;
  plan: Plan | null;
  /** What the user said to the plans before it. */
  corrections: readonly string[];
  /** Identity of what the plan was made from; null before it is known. */
  planKey: string | null;
  text: string;
  next: readonly string[];
  checks: readonly CheckResult[];
  score: number | null;
  /** A command of the model was not run: commands may not run here. */
  withheld: boolean;
  /** Changes of a dry run; otherwise the transaction knows them. */
  staged: readonly Change[];
  batches: number;
  /** Every path read or shown, for a saved plan. */
  readonly bases: Set<RelPath>;
  /** What people have been told holds invisible characters. */
  readonly hidden: Set<string>;
  /** How many secrets they have been told of. */
  masked: number;
  /** Whether they have been told that a request is so long that its model costs more. */
  dear: boolean;
  /** What checks that the user typed have changed. */
  readonly byUser: Set<Change>;
}

/** Everything a flow works with. A flow asks and performs; it does nothing else. */
export interface Run {
  readonly task: Task;
  readonly options: RunOptions;
  readonly ports: Ports;
  readonly ledger: Ledger;
  readonly overlay: Overlay;
  /** Between the run and the model: what it must not see. */
  readonly veil: Veil;
  readonly record: RunRecord;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** The run's transaction, begun at first use. */
  transaction(): Promise<Transaction>;
  /** The transaction if there is one. */
  readonly begun: Transaction | null;
}

/** A way of working. Throws PaiError for every failure; what it reached stands in `run.record`. */
export type Flow = (run: Run) => Promise<void>;

function createRun(task: Task, options: RunOptions, ports: Ports, emit: Emit): Run {
  let begun: Promise<Transaction> | null = null;
  let transaction: Transaction | null = null;
  return {
    task,
    options,
    ports,
    emit,
    signal: ports.signal,
    ledger: createLedger(options.caps, () => ports.price, planPromise),
    overlay: createOverlay(ports.workspace),
    veil: ports.veil ?? createVeil(),
    record: {
      conversation: task.conversation ?? { messages: [], tasks: [] },
      mode: options.mode,
      plan: null,
      corrections: [],
      planKey: null,
      text: "",
      next: [],
      checks: [],
      score: null,
      withheld: false,
      staged: [],
      batches: 0,
      bases: new Set(),
      hidden: new Set(),
      masked: 0,
      dear: false,
      byUser: new Set(),
    },
    async transaction() {
      begun ??= ports.workspace.begin({ id: ports.id, task: maskSecrets(ports.mask?.(task.text) ?? task.text) });
      transaction = await begun;
      return transaction;
    },
    get begun() {
      return transaction;
    },
  };
}

/** Runs a flow to its end. Never rejects. */
export async function runTask(flow: Flow, task: Task, options: RunOptions, ports: Ports): Promise<Outcome> {
  const emit = createStamper(ports);
  emit({
    type: "run.started",
    v: 1,
    pai: options.version,
    task: task.text,
    mode: options.mode,
    model: ports.model.id,
    root: ports.workspace.root,
  });
  ports.hear?.((notice) => emit({ type: "notice", ...notice }));
  let run: Run | null = null;
  let failure: PaiError | null = null;
  try {
    run = createRun(task, options, ports, emit);
    await flow(run);
    ports.signal.throwIfAborted();
  } catch (thrown) {
    failure = ports.signal.aborted ? toPaiError(ports.signal.reason) : toPaiError(thrown);
    if (ports.signal.aborted && failure.code === "internal") failure = new PaiError("interrupted", "interrupted");
  }
  // Diffs are needed only now: what a run ends with must not delay its first request.
  const { settle } = await import("./settle.ts");
  const settled = await settle(run, failure, { options, ports });
  const outcome = ports.mask?.(settled) ?? settled;
  emit({ type: "run.finished", outcome });
  return outcome;
}
