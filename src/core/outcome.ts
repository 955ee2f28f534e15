/** How a run ended: the document of `--json`, computed by us and never by the model. */
import { exitCodes, type Failure } from "./error.ts";
import type { ChangeSummary, CheckResult } from "./event.ts";
import { noUsage, type Usage } from "./model.ts";
import type { Plan } from "./plan/plan.ts";

export type Status = "answered" | "verified" | "unverified" | "declined" | "failed" | "interrupted";

/** Field names and order are a contract; see `pai schema json`. */
export interface Outcome {
  readonly v: 1;
  readonly ok: boolean;
  readonly command: string;
  readonly run: string | null;
  readonly mode: string;
  readonly status: Status;
  /** Exit code of the process. */
  readonly code: number;
  /** The FINISH message, or the reply of a conversation. */
  readonly text: string;
  readonly next: readonly string[];
  readonly plan: Plan | null;
  readonly changes: readonly ChangeSummary[];
  readonly diff: string;
  readonly checks: readonly CheckResult[];
  readonly calls: { readonly made: number; readonly expected: number; readonly at_most: number };
  readonly usage: Usage;
  /** USD; null: price unknown. */
  readonly cost: number | null;
  readonly model: { readonly requested: string; readonly served: readonly string[]; readonly key: string | null };
  readonly score: number | null;
  readonly error: Failure | null;
}

/** The outcome of a run that could not even begin. */
export function failedOutcome(command: string, error: Failure): Outcome {
  return {
    v: 1,
    ok: false,
    command,
    run: null,
    mode: "single-shot",
    status: "failed",
    code: exitCodes[error.code],
    text: "",
    next: [],
    plan: null,
    changes: [],
    diff: "",
    checks: [],
    calls: { made: 0, expected: 0, at_most: 0 },
    usage: noUsage,
    cost: null,
    model: { requested: "", served: [], key: null },
    score: null,
    error,
  };
}
