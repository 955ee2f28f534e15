/** The receipts of a workspace, `runs/ID.jsonl`: writes them during a run, finds, verifies and prunes them; notes for statistics. */

import { lstatSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { orNull, PaiError, toPaiError } from "../core/error.ts";
import { isFields, type Json } from "../core/model.ts";
import { type Broken, type Fact, type FactOf, noHash, readReceipt, sealFact } from "../core/receipt.ts";
import { findId } from "../core/suggest.ts";
import { textOfSystem } from "../system/lookups.ts";
import { listJsonl, openLines, writePrivate } from "./safe-file.ts";

export interface Receipt {
  readonly id: string;
  readonly facts: readonly Fact[];
  readonly broken: Broken | null;
}

/** A receipt that is being written. A failure to write causes one warning and never throws. */
export interface ReceiptWriter {
  add(fact: Fact): void;
  close(): void;
}

export type Receipts = ReturnType<typeof openReceipts>;

const days = 30;

const idShape = /^\d{8}-\d{9}-[0-9a-f]{4}$/;

export function openReceipts(folder: string) {
  const fileOf = (id: string) => join(folder, `${id}.jsonl`);
  /** Newest first; only regular files count. */
  const ids = (): readonly string[] =>
    listJsonl(folder)
      .filter((id) => idShape.test(id))
      .sort()
      .reverse();
  return {
    ids,
    read: (id: string): Receipt => ({ id, ...readReceipt(readFileSync(fileOf(id), "utf8"), id) }),
    ends: (id: string) => readEnds(fileOf(id)),
    /** The run whose id is `wanted` or begins with it. Throws failed if there is none, usage if there are several. */
    find(wanted: string): string {
      const hint = "see: pai history";
      const id = findId(ids(), wanted, "runs", hint);
      if (id === null) throw new PaiError("failed", `no receipt of run ${wanted}`, { hint });
      return id;
    },
    begin: (id: string, warn: (text: string) => void) => openWriter(fileOf(id), warn),
    /** Deletes receipts older than 30 days and all but the newest `keep`; returns how many. */
    prune(now: Date, keep: number): number {
      const all = ids();
      const oldest = stampOf(new Date(now.getTime() - days * 86_400_000));
      const old = all.filter((id, at) => at >= keep || id < oldest);
      if (old.length === 0) return 0;
      noteEnded(
        dirname(folder),
        old.map((id) => ({ id, ...readEnds(fileOf(id)) })),
      );
      for (const id of old) rmSync(fileOf(id), { force: true });
      return old.length;
    },
  };
}

/** How a run began and ended. Fast: checks neither the hashes that link the lines nor their shape. */
function readEnds(file: string): Ends {
  const parse = <T extends Fact["type"]>(line: Uint8Array, type: T) => {
    const fact = JSON.parse(new TextDecoder().decode(line)) as Fact;
    return fact.type === type ? (fact as FactOf<T>) : null;
  };
  try {
    if (!lstatSync(file).isFile()) return { started: null, finished: null };
    const bytes = readFileSync(file);
    const end = bytes.indexOf(10);
    const last = bytes.lastIndexOf(10, -2);
    const started = parse(bytes.subarray(0, end), "run.started");
    return { started, finished: bytes.at(-1) === 10 ? parse(bytes.subarray(last + 1), "run.finished") : null };
  } catch {
    return { started: null, finished: null };
  }
}

const stampOf = (at: Date) => at.toISOString().slice(0, 10).replaceAll("-", "");

/** Writes each line at once, without a sync: a receipt need not survive a power cut. */
function openWriter(file: string, warn: (text: string) => void): ReceiptWriter {
  const lines = openLines(file, true, (thrown) =>
    warn(`the receipt of this run cannot be kept: ${toPaiError(thrown, file).message}`),
  );
  let prev = noHash;
  return {
    add(fact) {
      const { line, hash } = sealFact(fact, prev);
      lines.write(line);
      prev = hash;
    },
    close: lines.close,
  };
}

// Notes on the runs of a workspace, one a line: undos, and the summaries of deleted receipts.
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
