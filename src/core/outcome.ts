/** How a run ended: the document of `--json`, computed by us and never by the model. */
import type { ChangeOp } from "./change.ts";
import { exitCodes, type Failure } from "./error.ts";
import { noUsage, type Usage } from "./model.ts";
import type { Plan } from "./plan/plan.ts";
import type { CallPromise } from "./plan/promise.ts";

/** One changed path as events and results show it: no content. */
export interface ChangeSummary {
  readonly path: string;
  readonly op: ChangeOp;
  readonly from: string | null;
  readonly added: number;
  readonly deleted: number;
  /** sha256 of the bytes, hex; null where nothing stood or stands, or it is no file. Of a move: what stood at `from`. */
  readonly before: string | null;
  readonly after: string | null;
  readonly by: "plan" | "command";
}

export interface CheckResult {
  readonly command: string;
  readonly by: "user" | "plan";
  readonly exit: number | null;
  readonly ms: number;
  /** null: not run. */
  readonly passed: boolean | null;
}

export interface Promised extends CallPromise {
  /** Estimate of what the whole run will send and receive; null: unknown. */
  readonly tokens: number | null;
  /** USD; null: price unknown. */
  readonly cost: number | null;
}

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
