/** Links facts of a project's memory to its files: a fact is dropped when a file that it names changes. */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { digest } from "../core/digest.ts";
import { orNull } from "../core/error.ts";
import { chooseFacts, factNamesIn, type MemoryFact } from "../core/memory.ts";
import { openMemory } from "../store/memory.ts";

const maxBytes = 4 * 1024 * 1024;

/** Hash of a project's file; null: it is missing, or too large to be tracked. */
function hashFile(root: string, path: string): string | null {
  const file = join(root, path);
  const stat =
    path.startsWith("/") || path.split("/").includes("..") ? undefined : statSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > maxBytes) return null;
  return orNull(() => digest(readFileSync(file)));
}

/** Makes a fact with the current hashes of the files that it names. */
export function makeFact(
  root: string,
  text: string,
  run: string | null,
  pending: boolean,
  now: Date,
): Omit<MemoryFact, "id"> {
  const files = factNamesIn(text).flatMap((name) => {
    const hash = hashFile(root, name);
    return hash === null ? [] : [[name, hash] as const];
  });
  return { text, run, pending, at: now.toISOString(), files: Object.fromEntries(files) };
}

/** The facts for a request, one a line; drops those whose files have changed. */
export function recallFacts(stateFolder: string, root: string, task: string): string {
  const memory = openMemory(stateFolder);
  const facts = memory.list();
  const stale = facts.filter(({ files }) =>
    Object.entries(files).some(([path, hash]) => hashFile(root, path) !== hash),
  );
  memory.drop(new Set(stale.map(({ id }) => id)));
  return chooseFacts(
    facts.filter((fact) => !stale.includes(fact)),
    task,
  )
    .map(({ text }) => `- ${text}`)
    .join("\n");
}

interface Proposed {
  readonly texts: readonly string[];
  /** null: a person stated it. */
  readonly run: string | null;
  /** No person has seen it yet. */
  readonly pending: boolean;
  readonly now: Date;
}

/** Keeps new facts of a project and returns them. */
export function keepFacts(
  stateFolder: string,
  root: string,
  { texts, run, pending, now }: Proposed,
): readonly MemoryFact[] {
  return openMemory(stateFolder).add(texts.map((text) => makeFact(root, text, run, pending, now)));
}
