/** The questions that a run asks a person (or the policy in their place), and the notices that adapters report. */
import type { RelPath } from "./path.ts";

export interface Question {
  /** `batch`: the changes of one reply in a mode without a plan. */
  readonly kind: "plan" | "batch" | "changes" | "scope" | "amend" | "command" | "keep";
  /** What a yes will do, whole, nothing cut. */
  readonly text: string;
  /** Unified diff of what a yes would change, shown below the text. */
  readonly diff?: string;
  /** For a `batch`: the folder below which the person may allow all later changes too, "" for the root; null: they may not. */
  readonly folder?: RelPath | null;
}

export type Decision =
  | {
      readonly accept: true;
      readonly by: "user" | "policy";
      readonly reason: string;
      /** A yes to a plan whose changes are to be seen before they are applied. */
      readonly review?: boolean;
    }
  | {
      readonly accept: false;
      readonly by: "user" | "policy";
      readonly reason: string;
      /** What the user wants instead, when a plan was answered with words. */
      readonly feedback: string | null;
    };

export type Decide = (question: Question) => Promise<Decision>;

/** The pause before a request that failed is sent again. */
export interface Wait {
  /** What failed. */
  readonly why: string;
  readonly seconds: number;
  /** Which repetition comes then, from 1, and how many there can be when it goes on failing like this. */
  readonly attempt: number;
  readonly of: number;
}

export interface Notice {
  readonly level: "info" | "warning";
  readonly code: string;
  /** The whole message. */
  readonly text: string;
  /** With `code` "waiting": the pause that begins now. */
  readonly wait?: Wait;
}
