/** What the person decided in a run beside a yes, and whether the model's last words knew of it. */
import { approvalWording } from "../../core/approval-wording.ts";
import { type Change, squash } from "../../core/change.ts";
import { renderChanges } from "../../core/diff.ts";
import type { PaiError } from "../../core/error.ts";
import type { Outcome, RefusedAction } from "../../core/outcome.ts";
import { workOf } from "../../core/plan/plan.ts";
import { undoneStep } from "../../core/plan/scope.ts";
import type { Question } from "../../core/question.ts";
import { nameSome } from "../../core/suggest.ts";
import { rowOf } from "../../core/vocabulary.ts";
import { noteChanged } from "../changes/changing.ts";
import type { Run } from "../run.ts";

/** What a plan promised and the person did not want when they saw it, while they agreed to the rest. */
export function declinedSteps({ changing, planning: { plan } }: Run): readonly RefusedAction[] {
  const paths = new Set(changing.declined.flatMap((each) => each.paths));
  const steps = plan === null ? [] : workOf(plan).filter(({ target }) => paths.has(target));
  return steps.map((step) => undoneStep(step, "the user declined it"));
}

/** Whether the last words were said of work that then did not go as the same reply had it. */
export function isSaidEarly({ changing, ending: { heard }, shell }: Run): boolean {
  if (heard === null) return false;
  return changing.declined.length > heard.noes || shell.commands.slice(heard.commands).some(({ exit }) => exit !== 0);
}

/** What the person decided about plans and changes, beside a yes. */
export function showDecisions({ planning, changing }: Run): Pick<Outcome, "corrections" | "declined"> {
  const said = [
    ...planning.corrections.map((words) => ({ about: "plan" as const, words })),
    ...changing.corrections.map((words) => ({ about: "changes" as const, words })),
  ];
  const { seenDiff, approved, plan } = planning;
  const steps = plan === null ? [] : workOf(plan).filter(({ action }) => rowOf(action)?.kind === "change");
  const withPlan = seenDiff === null || approved ? [] : [{ paths: steps.map(({ target }) => target), diff: seenDiff }];
  const declined = [...withPlan, ...changing.declined];
  const paths = declined.flatMap((each) => each.paths);
  const diff = declined.map((each) => each.diff).join("");
  return {
    ...(said.length > 0 && { corrections: said }),
    ...(paths.length > 0 && { declined: { diff, paths: [...new Set(paths)] } }),
  };
}

/** The question whether the changes of a failed run stay. */
export async function askToKeep({ begun, changing, overlay, veiled }: Run, { message }: PaiError): Promise<Question> {
  const own = squash(begun?.changes ?? []);
  const text = approvalWording.keepFailed(message, nameSome(await noteChanged(changing, own, overlay.readNow)));
  return { kind: "keep", text, diffOnAsk: renderChanges(veiled.hideChanges(own)) };
}

/** Tells which files of a failed run that are kept somebody else has changed since. Returns its changes. */
export async function tellKept(
  { changing, emit, overlay }: Run,
  failure: PaiError | null,
  changes: readonly Change[],
): Promise<readonly Change[]> {
  const others = failure === null ? [] : await noteChanged(changing, changes, overlay.readNow);
  if (others.length === 0) return changes;
  const text = `changed by someone else meanwhile, and kept so: ${nameSome(others)}`;
  emit({ type: "notice", level: "info", code: "merged", text });
  return changes;
}
