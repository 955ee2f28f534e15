/** The receipts of a workspace, `runs/ID.jsonl`: writes them during a run, finds, verifies and prunes them. */

import { lstatSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { PaiError, toPaiError } from "../core/error.ts";
import { type Broken, type Fact, type FactOf, noHash, readReceipt, sealFact } from "../core/receipt.ts";
import { findId } from "../core/suggest.ts";
import { type Ends, noteEnded } from "./run-notes.ts";
import { listJsonl, openLines } from "./safe-file.ts";

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
