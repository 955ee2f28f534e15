/** What a run reports while it happens: the only way core and flows speak. */

import type { Permitted } from "./command/run-patterns.ts";
import type { Message, Purpose, StopReason, Usage } from "./model.ts";
import type { Amendment, ChangeSummary, CheckResult, Outcome, Promised } from "./outcome.ts";
import type { Plan } from "./plan/plan.ts";
import type { Concern, Notice } from "./question.ts";
import type { ReplyProgress } from "./reply-progress.ts";
import type { TaskItem } from "./session/conversation.ts";

/** A file that a request showed, whole or in part. */
export interface SentFile {
  readonly path: string;
  /** Of the whole file, in hex. */
  readonly sha256: string;
  /** Size of the part that was sent, in UTF-8. */
  readonly bytes: number;
}

export type RunEvent =
  | {
      readonly type: "run.started";
      readonly v: 1;
      readonly pai: string;
      readonly task: string;
      readonly mode: string;
      readonly model: string;
      readonly root: string;
    }
  | {
      readonly type: "plan.ready";
      readonly plan: Plan;
      readonly promise: Promised;
      readonly cached: boolean;
      /** The work came with the plan: it is its script. */
      readonly at_once?: true;
      /** The files with instructions for agents that the plan follows, the nearest last; absent: none. */
      readonly guides?: readonly string[];
      /** The plan's commands and checks that a pattern of --allow-run permits; absent: none. */
      readonly permitted?: readonly Permitted[];
      /** Paths whose change needs a yes of its own; absent: none. */
      readonly concerns?: readonly Concern[];
    }
  /** A right beyond the plan was asked for and decided. */
  | ({ readonly type: "plan.amended" } & Amendment)
  /** Facts that the run proposed; a pending one waits for `pai memory accept`. */
  | {
      readonly type: "memory.kept";
      readonly facts: readonly { readonly id: string; readonly text: string; readonly pending: boolean }[];
    }
  | {
      readonly type: "model.started";
      readonly n: number;
      readonly purpose: Purpose;
      readonly model: string;
      /** Estimated input tokens. */
      readonly estimate: number;
      /** The most calls that the run has promised so far. */
      readonly at_most?: number;
    }
  | {
      readonly type: "model.delta";
      readonly n: number;
      readonly channel: "text" | "thought" | "reply";
      readonly text: string;
    }
  /** For the terminal only, a few times a second: how far the reply is. `replied`: its text for the user is whole. */
  | ({ readonly type: "model.progress"; readonly n: number; readonly replied: boolean } & ReplyProgress)
  | {
      readonly type: "model.finished";
      readonly n: number;
      readonly stop: StopReason | "failed";
      readonly usage: Usage;
      readonly served: string;
      readonly key: string | null;
      readonly ms: number;
    }
  | { readonly type: "phase.started"; readonly phase: number; readonly of: number }
  /** One of the eight steps of eight-step. `text`: its result, or what it will do. */
  | {
      readonly type: "step.started";
      readonly step: number;
      readonly of: number;
      readonly title: string;
      readonly text: string;
    }
  | { readonly type: "call.started"; readonly id: string; readonly action: string; readonly target: string }
  | {
      readonly type: "call.finished";
      readonly id: string;
      readonly action: string;
      readonly target: string;
      readonly ok: boolean;
      /** One line for people; never file content. */
      readonly text: string;
    }
  | {
      readonly type: "changes.proposed";
      readonly batch: number;
      readonly changes: readonly ChangeSummary[];
      /** A decision about this batch follows; absent: it was approved with the plan. */
      readonly asked?: true;
      /** A person saw exactly this diff with the plan, and said yes to it. */
      readonly seen?: boolean;
      /** Unified diff, masked. */
      readonly diff: string;
    }
  | {
      readonly type: "changes.decided";
      readonly batch: number;
      readonly changes: readonly ChangeSummary[];
      readonly accept: boolean;
      readonly by: "user" | "policy";
    }
  | { readonly type: "changes.applied"; readonly batch: number; readonly changes: readonly ChangeSummary[] }
  | { readonly type: "changes.rolled_back"; readonly batch: number; readonly changes: readonly ChangeSummary[] }
  | {
      readonly type: "check.started";
      readonly when: "before" | "after";
      readonly command: string;
      readonly by: "user" | "plan";
    }
  | ({
      readonly type: "check.finished";
      readonly when: "before" | "after";
      readonly output: string;
      /** How the failure compares to the one before the work; "" for nothing to say. */
      readonly note: string;
    } & CheckResult)
  | {
      readonly type: "budget.updated";
      readonly calls: number;
      readonly tokens: number;
      readonly cost: number | null;
    }
  | ({ readonly type: "notice" } & Notice)
  /** For the session file only, here and in the next event: what the conversation of a tool-loop holds now. */
  | { readonly type: "message.added"; readonly message: Message }
  | { readonly type: "conversation.replaced"; readonly messages: readonly Message[] }
  | { readonly type: "tasks.updated"; readonly tasks: readonly TaskItem[] }
  /** Content a look action showed: for the terminal, never for --jsonl. */
  | { readonly type: "look.shown"; readonly action: string; readonly target: string; readonly text: string }
  /** For the receipt only: files of which the next call shows something. */
  | { readonly type: "context.sent"; readonly files: readonly SentFile[] }
  | { readonly type: "run.finished"; readonly outcome: Outcome };

/** An event as it leaves the run: stamped. `at` is ISO 8601 with zone. */
export type StampedEvent = RunEvent & { readonly run: string; readonly seq: number; readonly at: string };

/** Sinks are synchronous and never throw. */
export type Emit = (event: RunEvent) => void;
