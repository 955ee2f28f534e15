/** A project's memory for a run. */
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

/** Opens the memory; its code is loaded only if there are facts or some may be learned. */
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
