/** What an action proposes, and an action as the run calls it. */
import type { Change } from "./change.ts";
import type { Json } from "./model.ts";
import type { Stage } from "./ports.ts";
import type { ActionName } from "./vocabulary.ts";

export type Proposal =
  /** `foreign`: it comes from a program, so secrets in it are not hidden yet. */
  | { readonly kind: "answer"; readonly text: string; readonly foreign?: boolean }
  | { readonly kind: "change"; readonly changes: readonly Change[]; readonly text: string }
  /** `timeoutMs`: as long as the model wants to wait, at most 120 s; absent: the run's limit for its commands. */
  | { readonly kind: "command"; readonly command: string; readonly timeoutMs?: number };

/** The model's own mistake, worded for the model: a result, not an error. */
export interface Complaint {
  readonly kind: "complaint";
  readonly code: "edit_failed" | "file_unusable" | "nothing_done";
  readonly text: string;
}

/** An action with its row of the vocabulary; only the action itself knows the type of its input. */
export interface AnyAction {
  readonly name: ActionName;
  readonly tool: string;
  readonly kind: "look" | "change" | "command";
  readonly offered: boolean;
  readonly about: string;
  /** JSON Schema of the input that the model writes in the tool-loop. */
  toolSchema(): Json;
  fromTool(written: Json): Json;
  /** Must not change anything. Throws PaiError when the policy denies a path. */
  propose(input: Json, stage: Stage, signal: AbortSignal): Promise<Proposal | Complaint>;
}
