/** Plans that are kept for a later run with the same request and files. */
import { normalizeOutput } from "../../core/command/check-output.ts";
import { digest } from "../../core/digest.ts";
import { partOf } from "../../core/model.ts";
import type { Briefing, Part } from "../briefing/briefing.ts";
import type { Run } from "../run.ts";

/**
 * The cache key of a plan: sha256, hex. The briefing's text covers excerpts, tree and standard input. Two parts are
 * replaced: outputs of checks by normalized ones, and the environment by one without git's state.
 */
export function keyOfPlan(run: Run, briefing: Briefing, system: string): string {
  const { workspace } = run;
  const model = partOf(run.calling.model, "plan");
  const keyOf = ({ kind, text }: Part): string =>
    kind === "checks" ? normalizeOutput(text) : kind === "environment" ? (run.reading.environment ?? "") : text;
  const parts = briefing.parts.map(keyOf).join("\n\n");
  return digest(
    [model.id, model.address ?? "", run.calling.effort?.plan ?? "", workspace.root, system, run.veil.blank(parts)].join(
      "\0",
    ),
  );
}

/** The cache key of the plan that follows looks, which also covers their results. */
export const keyBehindLooks = ({ veil }: Run, key: string, found: string): string =>
  digest(`${key}\0${veil.blank(found)}`);
