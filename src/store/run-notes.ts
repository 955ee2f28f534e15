/** Notes on the runs of a workspace for statistics, one a line: undos, and the summaries of deleted receipts. */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { orNull } from "../core/error.ts";
import { isFields, type Json } from "../core/model.ts";
import type { FactOf } from "../core/receipt.ts";
import { textOfSystem } from "../system/lookups.ts";
import { openLines, writePrivate } from "./safe-file.ts";

const undoneIn = (stateFolder: string) => join(stateFolder, "undone.jsonl");
const endedIn = (stateFolder: string) => join(stateFolder, "ended.jsonl");

const maxBytes = 4 * 1024 * 1024;

/** Appends lines. Ignores errors: a missing note only makes a statistic less complete. */
function append(file: string, lines: readonly object[]): void {
  try {
    const open = openLines(file, false, () => {});
    open.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    open.close();
    if (statSync(file).size <= maxBytes) return;
    const text = readFileSync(file, "utf8");
    writePrivate(file, text.slice(text.indexOf("\n", text.length / 2) + 1), { lasting: false });
  } catch {}
}

function readLines(file: string): readonly { readonly [name: string]: Json }[] {
  const lines = textOfSystem(file).split("\n");
  return lines.map((line) => orNull(() => JSON.parse(line) as Json)).filter((json) => isFields(json));
}

export function noteUndone(stateFolder: string, run: string, kind: "undo" | "redo"): void {
  append(undoneIn(stateFolder), [{ run, kind }]);
}

/** For each run whether its last change of status was an undo. */
export function readUndone(stateFolder: string): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const { run, kind } of readLines(undoneIn(stateFolder)))
    if (typeof run === "string") found.set(run, kind === "undo");
  return found;
}

/** The first and the last fact of a receipt; null: missing or unreadable. */
export interface Ends {
  readonly started: FactOf<"run.started"> | null;
  readonly finished: FactOf<"run.finished"> | null;
}

interface Ended extends Ends {
  readonly id: string;
}

const withoutContext = (started: FactOf<"run.started">): FactOf<"run.started"> => ({
  ...started,
  task: { ...started.task, history: [], context: null, files: [] },
});

export function noteEnded(stateFolder: string, runs: readonly Ended[]): void {
  const lean = runs.map((run) => ({ ...run, started: run.started === null ? null : withoutContext(run.started) }));
  append(endedIn(stateFolder), lean);
}

export function* readEnded(stateFolder: string): Generator<Ended> {
  for (const { id, started, finished } of readLines(endedIn(stateFolder)))
    if (typeof id === "string")
      yield { id, started: started as Ends["started"], finished: finished as Ends["finished"] };
}
