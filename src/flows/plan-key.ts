/** The identity of a plan: same request, same model, same hashes of everything it was made from. */
import { digest } from "../core/digest.ts";
import type { Briefing } from "./briefing.ts";
import type { Run } from "./run.ts";

/** sha256, hex. The briefing's text holds every excerpt and the tree, so it stands for their hashes. */
export function keyOfPlan(run: Run, briefing: Briefing, system: string): string {
  const { model, workspace } = run.ports;
  return digest([model.id, workspace.root, system, briefing.text].join("\0"));
}
