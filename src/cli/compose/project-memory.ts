/** A project's memory for a run. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ProjectMemory } from "../../core/memory.ts";
import { keepFacts, recallFacts } from "../remember.ts";

interface Learner {
  readonly run: string;
  readonly learns: boolean;
  /** A person sees what is kept. */
  readonly isSeen: boolean;
  readonly now: () => Date;
}

export function openProjectMemory(
  {
    stateFolder,
    workspace: { root },
  }: { readonly stateFolder: string | null; readonly workspace: { readonly root: string } },
  { run, learns, isSeen, now }: Learner,
): ProjectMemory | null {
  if (stateFolder === null) return null;
  return {
    recall: async (task) => (existsSync(join(stateFolder, "memory.json")) ? recallFacts(stateFolder, root, task) : ""),
    learn: learns ? async (texts) => keepFacts(stateFolder, root, texts, { run, pending: !isSeen, now: now() }) : null,
  };
}
