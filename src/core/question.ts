/** The questions that a run asks a person (or the policy in their place), and the notices that adapters report. */
import type { RelPath } from "./path.ts";

/** A path whose change needs a yes of its own; `why` is a clause. */
export interface Concern {
  readonly path: string;
  readonly why: string;
}

export interface Question {
  /** `batch`: the changes of one reply or command that no plan has shown, or that `--review` shows one by one. */
  readonly kind: "plan" | "batch" | "changes" | "scope" | "amend" | "command" | "keep";
  /** Everything that a yes will do; never shortened. */
  readonly text: string;
  /** Unified diff of what a yes would change, shown below the text. */
  readonly diff?: string;
  /** Of a `batch`: the person may allow all later changes below this folder, "" for the root; null: they may not. */
  readonly folder?: RelPath | null;
  /** All that a yes does, where that is to run commands. */
  readonly commands?: readonly string[];
  /** A sandbox confines the commands: exactly these may be allowed for the session. */
  readonly isConfined?: boolean;
  /** Unified diff that is shown only when the person asks for it. */
  readonly diffOnAsk?: string;
  /** Of a `batch`: false: no model makes the changes anew, so that words are no answer. */
  readonly takesWords?: false;
}

/** `review`: a yes whose changes are to be seen before they are applied. `feedback`: words in answer to a plan. */
export type Decision = { readonly by: "user" | "policy"; readonly reason: string } & (
  | { readonly accept: true; readonly review?: boolean }
  | { readonly accept: false; readonly feedback: string | null }
);

export type Decide = (question: Question) => Promise<Decision>;

export interface Wait {
  readonly why: string;
  readonly seconds: number;
  /** Which repetition follows, from 1, and how many there will be at most while it fails like this. */
  readonly attempt: number;
  readonly of: number;
}

export interface Notice {
  readonly level: "info" | "warning";
  readonly code: string;
  readonly text: string;
  readonly details?: string | undefined;
  readonly wait?: Wait;
}
