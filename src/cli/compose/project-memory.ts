/** The memory of a project, as a run uses it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ProjectMemory } from "../../core/memory.ts";

interface Learner {
  readonly run: string;
  readonly learns: boolean;
  /** A person sees what is kept. */
  readonly isSeen: boolean;
  readonly now: () => Date;
}

/** The memory of a project; its code loads only where something is kept or learned. */
export function openProjectMemory(
  {
    stateFolder,
    workspace: { root },
  }: { readonly stateFolder: string | null; readonly workspace: { readonly root: string } },
  { run, learns, isSeen, now }: Learner,
): ProjectMemory | null {
  if (stateFolder === null) return null;
  const load = () => import("../remember.ts");
  return {
    recall: async (task) =>
      existsSync(join(stateFolder, "memory.json")) ? (await load()).recallFacts(stateFolder, root, task) : "",
    learn: learns
      ? async (texts) => (await load()).keepFacts(stateFolder, root, { texts, run, pending: !isSeen, now: now() })
      : null,
  };
}
