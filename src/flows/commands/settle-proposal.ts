/** Judges, shows, decides and applies the changes that a command made on its copy, like all other changes. */
import type { Change } from "../../core/change.ts";
import { PaiError } from "../../core/error.ts";
import type { Rights } from "../../core/plan/scope.ts";
import type { CommandResult, Proposal } from "../../core/ports.ts";
import { acceptBatch, applyBatch, decideBatch, isAsked } from "../changes/batch.ts";
import { judgeCommand, type Refusal } from "../changes/judge.ts";
import type { Run } from "../run.ts";
import { keepIgnored, refuseLost } from "./keep-ignored.ts";

interface Proposed extends CommandResult {
  readonly proposal: Proposal;
}

/** Whether the changes of a command are still a proposal. */
export const isProposed = (result: CommandResult): result is Proposed => result.proposal != null;

/** "exit 1", or what else ended the command. */
export function describeEnd({ exit, timedOut }: Pick<CommandResult, "exit" | "timedOut">): string {
  if (timedOut) return "ended by the time limit";
  return exit === null ? "ended by a signal" : `exit ${exit}`;
}

/** Keeps all changes of a command or none; returns why none was kept, null when they were. */
export async function settleProposal(run: Run, rights: Rights | null, result: Proposed): Promise<Refusal | null> {
  try {
    const refusal = (await refuse(run, rights, result)) ?? (await decide(run, rights, result));
    if (refusal !== null) return { ...refusal, text: `nothing that the command changed was kept. ${refusal.text}` };
    await applyBatch(run, "command");
    if (!run.options.dryRun) await keepIgnored(run, result);
    return null;
  } finally {
    run.overlay.drop(new Set(result.changes.map(({ path }) => path)));
    result.proposal.discard();
  }
}

async function refuse(run: Run, rights: Rights | null, { changes, proposal }: Proposed): Promise<Refusal | null> {
  const [denied] = proposal.denied;
  if (denied !== undefined) {
    const isGit = /(^|\/)\.git$/.test(denied);
    const way = isGit ? "; --allow-git lets commands write it" : "";
    return { code: "path_refused", text: `${denied} may not be changed${way}` };
  }
  // At a terminal people see the changes first, and decideBatch then asks.
  const refusal = await judgeCommand(run, rights, changes, run.options.interactive);
  return refusal ?? refuseLost(run, proposal.ignored);
}

/** Accepts changes if the plan promised every path; otherwise shows them and asks. */
async function decide(run: Run, rights: Rights | null, result: Proposed): Promise<Refusal | null> {
  const { changes } = result;
  if (changes.length === 0) return null;
  run.overlay.stage(changes);
  if (!isAsked(run, rights) && rights !== null && changes.every((change) => isPromised(rights, change))) {
    await acceptBatch(run, "command");
    return null;
  }
  try {
    return await decideBatch(run, "command", describeEnd(result));
  } catch (thrown) {
    if (thrown instanceof PaiError && thrown.code === "approval_needed" && rights !== null) {
      return { code: "declined", text: "they were not in the plan, and nobody could be asked" };
    }
    throw thrown;
  }
}

function isPromised({ scope }: Rights, { path, after }: Change): boolean {
  if (after === null) return [...scope.deletes].some((each) => path === each || path.startsWith(`${each}/`));
  return after.kind === "folder" ? scope.folders.has(path) : scope.content.has(path);
}
