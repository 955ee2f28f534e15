/** How a run ended: the document of `--json`, computed by us and never by the model. */

import { exitCodes, type Failure } from "./error.ts";
import type { ShapeOf } from "./json.ts";
import { noUsage } from "./model.ts";
import type {
  amendmentSchema,
  changeSchema,
  checkSchema,
  commandRunSchema,
  outcomeSchema,
  promiseSchema,
  refusedSchema,
} from "./schemas.ts";
import { nameSome } from "./suggest.ts";

export type Outcome = ShapeOf<typeof outcomeSchema>;
export type Status = Outcome["status"];
export type Proves = NonNullable<Outcome["proves"]>;
export type ActionCounts = Outcome["actions"];
export type ChangeSummary = ShapeOf<typeof changeSchema>;
export type CheckResult = ShapeOf<typeof checkSchema>;
export type Amendment = ShapeOf<typeof amendmentSchema>;
export type RefusedAction = ShapeOf<typeof refusedSchema>;
export type CommandRun = ShapeOf<typeof commandRunSchema>;
export type Promised = ShapeOf<typeof promiseSchema>;

/** "a.py changed each time the check ran": why checks that passed verify nothing. `checks`: how many ran. */
export const renderUnsettled = (paths: readonly string[], checks: number): string =>
  `${nameSome(paths, 3)} changed each time the ${checks === 1 ? "check" : "checks"} ran`;

const counted = (n: number) => (n === 1 ? "1 check" : `${n} checks`);

/** Names files whose changes a person declined; of one of which others are kept it says that. */
export const nameDeclined = ({ changes }: Outcome, paths: readonly string[]): readonly string[] =>
  paths.map((path) => (changes.some((each) => each.path === path) ? `${path} (others than those kept)` : path));

/** Why a green check may prove nothing; "": no reason. */
export const doubtOf = (checks: readonly CheckResult[]): string =>
  checks.find(({ passed, note = "" }) => passed === true && note !== "")?.note ?? "";

function renderVerified(checks: readonly CheckResult[], passed: number, proves: Proves | undefined): string {
  const doubt = doubtOf(checks);
  if (proves === "no_regression" && doubt === "")
    return `: nothing broke (the ${passed === 1 ? "check" : "checks"} passed before, too)`;
  return `${passed > 0 ? ` by ${counted(passed)}` : ""}${doubt && `: ${doubt}`}`;
}

/** Notes of checks that no one judged, and of a command. */
export const checkStopped = "stopped before it ended";
export const checkDeclined = "declined by the user";
export const nothingKept = "nothing that it changed was kept";
export const checkOutdated = "ran before the last changes";
export const isOutdated = ({ note = "" }: Pick<CheckResult, "note">): boolean => note.endsWith(checkOutdated);

/** What the checks say of a finished run, to follow its status: " by 2 checks", ": no check has proved this"; or "". */
export function renderProof(outcome: Pick<Outcome, "status" | "checks" | "unsettled" | "proves">): string {
  const { status, checks, unsettled, proves } = outcome;
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
