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

/** The facts for a request, one a line; drops those whose files have changed. */
export function recallFacts(stateFolder: string, root: string, task: string): string {
  const memory = openMemory(stateFolder);
  const facts = memory.list();
  const stale = facts.filter(({ files }) =>
    Object.entries(files).some(([path, hash]) => hashFile(root, path) !== hash),
  );
  if (stale.length > 0) memory.drop(new Set(stale.map(({ id }) => id)));
  return chooseFacts(
    facts.filter((fact) => !stale.includes(fact)),
    task,
  )
    .map(({ text }) => `- ${text}`)
    .join("\n");
}

/** Keeps new facts of a project and returns them; `of`: the run that learnt them, and whether no person has seen them. */
export function keepFacts(
  stateFolder: string,
  root: string,
  texts: readonly string[],
  of: Pick<MemoryFact, "run" | "pending"> & { readonly now: Date },
): readonly MemoryFact[] {
  const { now, ...from } = of;
  return openMemory(stateFolder).add(texts.map((text) => ({ ...makeFact(root, text, now), ...from })));
}

interface Learner {
  readonly run: string;
  readonly learns: boolean;
  /** A person sees what is kept. */
  readonly isSeen: boolean;
  readonly now: () => Date;
}

/** A project's memory for a run; null: nothing is kept. */
export function openProjectMemory(
  { stateFolder, workspace: { root } }: Pick<OpenedWorkspace, "stateFolder" | "workspace">,
  { run, learns, isSeen, now }: Learner,
): ProjectMemory | null {
  if (stateFolder === null) return null;
  return {
    recall: async (task) => recallFacts(stateFolder, root, task),
    learn: learns ? async (texts) => keepFacts(stateFolder, root, texts, { run, pending: !isSeen, now: now() }) : null,
  };
}
