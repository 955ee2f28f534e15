/** What a flow works with: the task, the files, the model and the state of each part, which belongs to that part. */

import type { Dialogue } from "../core/dialogue.ts";
import type { Emit, StampedEvent } from "../core/event.ts";
import type { RelPath } from "../core/path.ts";
import type { AnyAction, PlanCache, Transaction, Workspace } from "../core/ports.ts";
import type { Decide, Notice } from "../core/question.ts";
import type { Veil } from "../core/secrets/veil.ts";
import type { Conversation } from "../core/session/conversation.ts";
import type { PastTurn } from "../core/session/past.ts";
import type { Acting, ActionOptions } from "./acting.ts";
import type { FilesRead, ReadOptions } from "./briefing/reading.ts";
import type { ChangeOptions, Changing } from "./changes/changing.ts";
import type { Checking, CheckOptions } from "./checks/checking.ts";
import type { Shell, ShellLimits } from "./commands/shell.ts";
import type { EndOptions, EndPorts, RunEnding } from "./ending/ending.ts";
import type { Calling, CallingOptions, CallPorts, Ledger } from "./ledger.ts";
import type { Planning, PlanOptions } from "./plans/plan-state.ts";
import type { Overlay, VeiledView } from "./stage.ts";

export interface Task {
  readonly text: string;
  readonly history: readonly PastTurn[];
  readonly context: string | null;
  readonly files?: readonly RelPath[];
  readonly shown?: readonly string[];
  /** Conversation of a tool-loop session so far; null or absent: a new one. */
  readonly conversation?: Conversation | null;
  /** What the model was told in earlier tasks of the session; absent: nothing. */
  readonly dialogue?: Dialogue;
}

export interface Invocation {
  readonly command: string;
  readonly mode: string;
}

/** What the user set for one run. Each part has its own; a run deals them out, and nothing in it holds them all. */
export interface RunOptions
  extends Invocation,
    PlanOptions,
    ReadOptions,
    CallingOptions,
    ChangeOptions,
    CheckOptions,
    ShellLimits,
    ActionOptions,
    EndOptions {
  readonly version: string;
  readonly interactive: boolean;
}

export interface Ports extends CallPorts, EndPorts {
  readonly id: string;
  /** Registers a listener for notices of the adapters during the run: waits, keys, another model. */
  readonly onNotice?: (listener: (notice: Notice) => void) => void;
  readonly workspace: Workspace;
  readonly actions: readonly AnyAction[];
  readonly decide: Decide;
  readonly sink: (event: StampedEvent) => void;
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly planCache: PlanCache | null;
  /** Shared with the recorder of the run; absent: a new one is made. */
  readonly veil?: Veil;
}

/** Everything a flow works with. The outcome is made from the states of the parts, even when the flow throws. */
export interface Run {
  readonly id: string;
  readonly task: Task;
  readonly invocation: Invocation;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly emit: Emit;
  readonly interactive: boolean;
  readonly decide: Decide;
  readonly ledger: Ledger;
  /** The real files: for changes, and never for the model. */
  readonly overlay: Overlay;
  /** The files as the model may see them. */
  readonly veiled: VeiledView;
  readonly veil: Veil;
  readonly planning: Planning;
  readonly reading: FilesRead;
  readonly calling: Calling;
  readonly acting: Acting;
  readonly changing: Changing;
  readonly checking: Checking;
  readonly shell: Shell;
  readonly ending: RunEnding;
  readonly dialogue: Dialogue;
  /** Conversation of the tool-loop so far, which replaces it. */
  conversation: Conversation;
  transaction(): Promise<Transaction>;
  readonly begun: Transaction | null;
}

/** A mode of working. Throws PaiError for every failure; puts its results into the states of the run. */
export type Flow = (run: Run) => Promise<void>;
