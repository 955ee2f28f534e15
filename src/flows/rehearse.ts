/** Tries calls on an overlay of the workspace: what they would change, and which of them cannot be done. */
import type { Blob, Change } from "../core/change.ts";
import { renderChanges } from "../core/diff.ts";
import { judge } from "../core/guard/guard.ts";
import type { Call } from "../core/model.ts";
import type { Complaint, Proposal, Stage } from "../core/ports.ts";
import type { Question } from "../core/question.ts";
import { targetOfCall } from "./approval.ts";
import type { Run } from "./run.ts";
import { createOverlay } from "./stage.ts";

/** The mistake of a proposal: one that its action finds, or a placeholder for code, which no plan allows; null: none. */
function mistakeIn({ changing }: Run, proposal: Proposal | Complaint): Pick<Complaint, "code" | "text"> | null {
  if (proposal.kind !== "change") return proposal.kind === "complaint" ? proposal : null;
  const planned = { by: "task", deletes: [], texts: [] } as const;
  const found = judge({ planned, earlier: [], batch: proposal.changes, limits: changing.guard });
  const hole = found.find(({ rule }) => rule === "placeholder");
  return hole === undefined ? null : { code: "edit_failed", text: hole.text.slice(`${hole.path}: `.length) };
}

/** What the policy refuses is left out: it is refused, with its reason, when it is performed. */
export async function rehearse(run: Run, calls: readonly Call[]) {
  const actions = new Map(run.acting.actions.map((action) => [action.name as string, action]));
  const below = run.veiled.stage();
  const overlay = createOverlay(below);
  const stage: Stage = { ...overlay, shown: (path) => overlay.shown(path) ?? below.shown(path) };
  const steps: { readonly call: Call; readonly changes: readonly Change[] }[] = [];
  const complaints: { readonly call: Call; readonly code: Complaint["code"]; readonly text: string }[] = [];
  for (const call of calls) {
    const action = actions.get(call.name);
    if (action?.kind !== "change") continue;
    try {
      const proposal = await action.propose(call.input, stage, run.signal);
      const mistake = mistakeIn(run, proposal);
      if (mistake !== null)
        complaints.push({ call, code: mistake.code, text: `${call.name} ${targetOfCall(call)}: ${mistake.text}` });
      if (mistake !== null || proposal.kind !== "change") continue;
      overlay.stage(proposal.changes);
      steps.push({ call, changes: proposal.changes });
    } catch (thrown) {
      if (run.signal.aborted) throw thrown;
    }
  }
  return { steps, complaints };
}

/** The diff of rehearsed changes, with a name also for a secret that the model wrote by itself. */
export function renderRehearsed({ veil, veiled }: Run, changes: readonly Change[]): string {
  const reveal = (blob: Blob | null) =>
    blob?.kind === "file" ? { ...blob, bytes: veil.revealBytes(blob.bytes, () => true).bytes } : blob;
  const raw = changes.map((change) => ({ ...change, before: reveal(change.before), after: reveal(change.after) }));
  return renderChanges(veiled.hideChanges(raw));
}

export async function previewCall(run: Run, call: Call): Promise<Pick<Question, "diff">> {
  const changes = (await rehearse(run, [call])).steps.flatMap((step) => step.changes);
  return changes.length === 0 ? {} : { diff: renderRehearsed(run, changes) };
}
