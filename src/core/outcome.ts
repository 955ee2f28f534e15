/** How a run ended: the document of `--json`, computed by us and never by the model. */

import type { ChangeOp } from "./change.ts";
import type { SandboxUse } from "./command/sandbox.ts";
import { exitCodes, type Failure } from "./error.ts";
import { noUsage, type Usage } from "./model.ts";
import type { Plan } from "./plan/plan.ts";
import type { CallPromise } from "./plan/promise.ts";
import { nameSome } from "./suggest.ts";

/** One changed path as events and results show it: no content. */
export interface ChangeSummary {
  readonly path: string;
  readonly op: ChangeOp;
  readonly from: string | null;
  readonly added: number;
  readonly deleted: number;
  /** sha256 of the bytes, hex; null where there is no file before or after. Of a move: the content at `from`. */
  readonly before: string | null;
  readonly after: string | null;
  readonly by: "plan" | "command";
}

export interface CheckResult {
  readonly command: string;
  readonly by: "user" | "plan";
  readonly exit: number | null;
  readonly ms: number;
  /** null: not run, or its failure says nothing about the work. */
  readonly passed: boolean | null;
  /** How its result compares to the one before the work, or why it says nothing; absent or "": nothing to say. */
  readonly note?: string;
}

/** A command of --then that ran. */
export interface AfterCommand {
  readonly command: string;
  /** null: a signal or the time limit ended it. */
  readonly exit: number | null;
  readonly ms: number;
}

/** A right that a running script asked for beyond its plan, and how that was decided. */
export interface Amendment {
  readonly action: string;
  /** Path, or the command of a RUN. */
  readonly path: string;
  /** Where a move or copy goes; null for every other action. */
  readonly destination: string | null;
  /** The model's reason. */
  readonly why: string;
  readonly accept: boolean;
  readonly by: "user" | "policy";
  /** The last reply did it without asking; absent: it asked. */
  readonly implicit?: true;
}

export interface Promised extends CallPromise {
  /** Estimate of what the whole run will send and receive; null: unknown. */
  readonly tokens: number | null;
  /** The same with the repeated beginnings weighed as a cache bills them (`weighedOf`); a cache may miss. Absent: in older records. */
  readonly weighed?: number;
  /** USD; null: price unknown. */
  readonly cost: number | null;
}

/** `partial`: planned steps are open, and what was done is kept all the same. */
export type Status = "answered" | "verified" | "unverified" | "partial" | "declined" | "failed" | "interrupted";

/** How many actions were done, failed, or were refused by a rule or a person; looks are not counted here. */
export interface ActionCounts {
  readonly done: number;
  readonly failed: number;
  readonly refused: number;
}

/** An action that was refused or failed, and that no later action made up for. */
export interface RefusedAction {
  readonly action: string;
  /** Path, command or "from → to", as the model wrote it. */
  readonly target: string;
  readonly why: string;
}

/** A command of the model that ran, and how it ended: by itself, at its time limit, or by a signal. */
export interface CommandRun {
  readonly command: string;
  /** null: it did not end by itself. */
  readonly exit: number | null;
  readonly ms: number;
  readonly ended: "exit" | "timeout" | "signal";
}

/** A planned step that the model withdrew. */
export interface SkippedStep {
  /** Path, command or "from → to". */
  readonly target: string;
  /** The model's reason. */
  readonly why: string;
}

/** A planned step that no reply did, and that takes back nothing else. */
export interface UndoneStep {
  readonly action: string;
  /** Path, command or "from → to". */
  readonly target: string;
  readonly why: string;
}

/** `no_regression`: the checks passed before the work, too, and no test was added. */
export type Proves = "change" | "no_regression";

/** Field names and order are a contract; see `pai schema json`. */
export interface Outcome {
  readonly v: 2;
  readonly ok: boolean;
  readonly command: string;
  readonly run: string | null;
  readonly mode: string;
  readonly status: Status;
  /** Exit code of the process. */
  readonly code: number;
  /** The FINISH message, or the reply of a conversation; once all was rolled back, pai's own sentence. */
  readonly text: string;
  /** The model's message, where `text` is pai's own; absent: it is not. */
  readonly claimed?: string;
  readonly next: readonly string[];
  readonly plan: Plan | null;
  readonly changes: readonly ChangeSummary[];
  readonly diff: string;
  readonly checks: readonly CheckResult[];
  /** `sent`: requests that went out, where one of them was broken off before a reply began. */
  readonly calls: {
    readonly made: number;
    readonly sent?: number;
    readonly expected: number;
    readonly at_most: number;
  };
  /** `weighed`: see `weighedOf`; absent in older records. */
  readonly usage: Usage & { readonly weighed?: number };
  /** USD; null: price unknown. */
  readonly cost: number | null;
  readonly model: { readonly requested: string; readonly served: readonly string[]; readonly key: string | null };
  readonly score: number | null;
  /** Wall time of the run, without the time that questions waited for answers. */
  readonly ms: number;
  readonly actions: ActionCounts;
  /** How many looks were made: files read, searches, listings. */
  readonly looks: number;
  /** The rights that the run asked for beyond its plan, granted or not. */
  readonly amended: readonly Amendment[];
  readonly refused: readonly RefusedAction[];
  /** The sandbox that commands ran in; null: no command ran. */
  readonly sandbox: SandboxUse | null;
  /** Ignored paths that commands changed and no rollback or undo restores; `paths` names some; absent: none. */
  readonly stays?: { readonly count: number; readonly paths: readonly string[] };
  /** Changed files that somebody else changed meanwhile, on other lines; absent: none. */
  readonly merged?: readonly string[];
  /** The user's commands after the work, in order; absent: none ran. */
  readonly then?: readonly AfterCommand[];
  /** Hash of the commit that holds the changes; absent: none was made. */
  readonly commit?: string;
  /** The run was only to make a plan, and made one; absent: it was not, or it answered. */
  readonly planned?: true;
  /** Paths that changed each time the checks ran, so that none judged what is there now; absent: none. */
  readonly unsettled?: readonly string[];
  /** Planned steps that are open while the rest is kept; absent: none. */
  readonly undone?: readonly UndoneStep[];
  /** What was taken back at the end, as a diff; absent: nothing was. */
  readonly rolled_back?: { readonly diff: string; readonly paths: readonly string[] };
  /** What the green checks prove: the change itself, or only that nothing broke; absent: unknown, or not verified. */
  readonly proves?: Proves;
  /** Planned steps that the model withdrew; absent: none. */
  readonly skipped?: readonly SkippedStep[];
  /** The commands of the model that ran, in order; a check is none of them. Absent: none. */
  readonly commands?: readonly CommandRun[];
  readonly error: Failure | null;
}

/** "a.py changed each time the check ran": why checks that passed verify nothing. `checks`: how many ran. */
export const renderUnsettled = (paths: readonly string[], checks: number): string =>
  `${nameSome(paths, 3)} changed each time the ${checks === 1 ? "check" : "checks"} ran`;

const counted = (n: number) => (n === 1 ? "1 check" : `${n} checks`);

function renderVerified(checks: readonly CheckResult[], passed: number, proves: Proves | undefined): string {
  if (proves === "no_regression")
    return `: nothing broke (the ${passed === 1 ? "check" : "checks"} passed before, too)`;
  const doubt = checks.find(({ passed: isGreen, note = "" }) => isGreen === true && note !== "")?.note;
  return `${passed > 0 ? ` by ${counted(passed)}` : ""}${doubt === undefined ? "" : `: ${doubt}`}`;
}

/** What the checks say of a finished run, to follow its status: " by 2 checks", ": no check has proved this"; or "". */
export function renderProof({
  status,
  checks,
  unsettled,
  proves,
}: Pick<Outcome, "status" | "checks" | "unsettled" | "proves">): string {
  const passed = checks.filter((check) => check.passed === true).length;
  if (status === "verified") return renderVerified(checks, passed, proves);
  if (status !== "unverified" && status !== "partial") return "";
  if (unsettled !== undefined) return `: ${renderUnsettled(unsettled, checks.length)}`;
  const failed = checks.filter((check) => check.passed === false);
  const [first] = failed;
  const why = first?.note ? ` (${first.note})` : "";
  if (first !== undefined) return `: ${failed.length} of ${counted(checks.length)} failed${why}`;
  if (passed > 0) return `: ${passed} of ${counted(checks.length)} passed`;
  const unjudged = checks.find(({ note = "" }) => note !== "");
  return unjudged === undefined ? ": no check has proved this" : `: check ${unjudged.command}: ${unjudged.note}`;
}

/** The outcome of a run that could not even begin. */
export function failedOutcome(command: string, error: Failure): Outcome {
  return {
    v: 2,
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
    usage: { ...noUsage, weighed: 0 },
    cost: null,
    model: { requested: "", served: [], key: null },
    score: null,
    ms: 0,
    actions: { done: 0, failed: 0, refused: 0 },
    looks: 0,
    amended: [],
    refused: [],
    sandbox: null,
    error,
  };
}
