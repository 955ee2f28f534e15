/** Plans that are used again: what each is kept by, and keeping them. */
import { normalizeOutput } from "../../core/command/check-output.ts";
import { digest } from "../../core/digest.ts";
import type { Briefing, Part } from "../briefing/briefing.ts";
import type { Run } from "../run.ts";

/**
 * sha256, hex. The briefing holds every excerpt, the tree and standard input, so no separate hashes of them are needed; of checks it
 * is what they say, without the time they took, and of what is here not which files git calls changed.
 */
export function keyOfPlan(run: Run, briefing: Briefing, system: string): string {
  const { model, workspace } = run.ports;
  const keyOf = ({ kind, text }: Part): string =>
    kind === "checks" ? normalizeOutput(text) : kind === "environment" ? (run.options.environment ?? "") : text;
  const parts = briefing.parts.map(keyOf).join("\n\n");
  return digest([model.id, model.address ?? "", workspace.root, system, run.veil.blank(parts)].join("\0"));
}

/** The same for the plan that follows looks: what they found is part of what it is made from. */
export const keyBehindLooks = ({ veil }: Run, key: string, found: string): string =>
  digest(`${key}\0${veil.blank(found)}`);

/** Keeps the plan of this run, and the looks before it, for the next that is asked the same of the same files. */
export async function keepPlans({ ports, record }: Run): Promise<void> {
  for (const { key, made } of record.planned) await ports.planCache?.save(key, made);
}
