/** Links facts of a project's memory to its files: a fact is dropped when a file that it names changes. */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { digest } from "../core/digest.ts";
import { orNull } from "../core/error.ts";
import { chooseFacts, factNamesIn, type MemoryFact, type ProjectMemory } from "../core/memory.ts";
import { openMemory } from "../store/memory.ts";
import type { OpenedWorkspace } from "../workspace/open.ts";

const maxBytes = 4 * 1024 * 1024;

function hashFile(root: string, path: string): string | null {
  const file = join(root, path);
  const stat =
    path.startsWith("/") || path.split("/").includes("..") ? undefined : statSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > maxBytes) return null;
  return orNull(() => digest(readFileSync(file)));
}

/** Makes a fact that a person stated, with the current hashes of the files that it names. */
export function makeFact(root: string, text: string, now: Date): Omit<MemoryFact, "id"> {
  const files = factNamesIn(text).flatMap((name) => {
    const hash = hashFile(root, name);
    return hash === null ? [] : [[name, hash] as const];
  });
  return { text, run: null, pending: false, at: now.toISOString(), files: Object.fromEntries(files) };
}

/** Keeps new facts of a project and returns them; `of`: the run that learnt them, and whether no person has seen them. */
export function keepFacts(
  stateFolder: string,
  root: string,
  texts: readonly string[],
  { now, ...of }: Pick<MemoryFact, "run" | "pending"> & { readonly now: Date },
): readonly MemoryFact[] {
  return openMemory(stateFolder).add(texts.map((text) => ({ ...makeFact(root, text, now), ...of })));
}

/** A project's memory for a run; null: nothing is kept. `isSeen`: a person sees what is kept. */
export function openProjectMemory(
  { stateFolder, workspace: { root } }: Pick<OpenedWorkspace, "stateFolder" | "workspace">,
  run: string,
  { learns, isSeen, now }: { readonly learns: boolean; readonly isSeen: boolean; readonly now: () => Date },
): ProjectMemory | null {
  if (stateFolder === null) return null;
  return {
    async recall(task) {
      const memory = openMemory(stateFolder);
      const facts = memory.list();
      const isStale = ({ files }: MemoryFact) =>
        Object.entries(files).some(([path, hash]) => hashFile(root, path) !== hash);
      const stale = facts.filter(isStale);
      if (stale.length > 0) memory.drop(new Set(stale.map(({ id }) => id)));
      const fresh = facts.filter((fact) => !stale.includes(fact));
      return chooseFacts(fresh, task)
        .map(({ text }) => `- ${text}`)
        .join("\n");
    },
    learn: learns ? async (texts) => keepFacts(stateFolder, root, texts, { run, pending: !isSeen, now: now() }) : null,
  };
}
