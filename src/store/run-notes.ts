/** Short notes on runs of a workspace, one a line, for statistics: which were undone, and what deleted receipts told. */
import { closeSync, constants, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isFields, type Json } from "../core/model.ts";
import type { FactOf } from "../core/receipt.ts";
import { type RunSummary, summarizeRun } from "../core/run-summary.ts";
import { writePrivate, writeWhole } from "./safe-file.ts";

const undoneIn = (stateFolder: string) => join(stateFolder, "undone.jsonl");
const endedIn = (stateFolder: string) => join(stateFolder, "ended.jsonl");

/** About 8,000 runs. Beyond it the older half is dropped. */
const maxBytes = 4 * 1024 * 1024;

/** Appends lines. A note that cannot be written only counts less later: nothing depends on it. */
function append(file: string, lines: readonly object[]): void {
  try {
    const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
    const fd = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      writeWhole(fd, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    } finally {
      closeSync(fd);
    }
    if (statSync(file).size <= maxBytes) return;
    const text = readFileSync(file, "utf8");
    writePrivate(file, text.slice(text.indexOf("\n", text.length / 2) + 1), { lasting: false });
  } catch {}
}

/** The lines of a file that are whole JSON objects; none where there is no such file. */
function* readLines(file: string): Generator<{ readonly [name: string]: Json }> {
  let text = "";
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return;
  }
  for (const line of text.split("\n")) {
    let json: Json = null;
    try {
      json = JSON.parse(line) as Json;
    } catch {}
    if (isFields(json)) yield json;
  }
}

/** Notes that a run was undone or brought back. */
export function noteUndone(stateFolder: string, run: string, kind: "undo" | "redo"): void {
  append(undoneIn(stateFolder), [{ run, kind }]);
}

/** By run: whether the last that happened to it was an undo. */
export function readUndone(stateFolder: string): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const { run, kind } of readLines(undoneIn(stateFolder)))
    if (typeof run === "string") found.set(run, kind === "undo");
  return found;
}

interface Ends {
  readonly id: string;
  readonly started: FactOf<"run.started"> | null;
  readonly finished: FactOf<"run.finished"> | null;
}

/** Without what went along with the request: no row of the statistics tells it. */
const withoutContext = (started: FactOf<"run.started">): FactOf<"run.started"> => ({
  ...started,
  task: { ...started.task, history: [], context: null, files: [] },
});

/** Keeps the first and the last fact of receipts that are about to be deleted. */
export function noteEnded(stateFolder: string, runs: readonly Ends[]): void {
  const lean = runs.map((run) => ({ ...run, started: run.started === null ? null : withoutContext(run.started) }));
  if (runs.length > 0) append(endedIn(stateFolder), lean);
}

/** The runs whose receipts were deleted. */
export function* readEnded(stateFolder: string): Generator<RunSummary> {
  for (const { id, started, finished } of readLines(endedIn(stateFolder)))
    if (typeof id === "string") yield summarizeRun(id, started as Ends["started"], finished as Ends["finished"]);
}
