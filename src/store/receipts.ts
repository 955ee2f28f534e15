/** The receipts of a workspace: `runs/ID.jsonl`, written as a run happens, found again, checked, and forgotten in time. */
import { closeSync, constants, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PaiError, toPaiError } from "../core/error.ts";
import { type Broken, type Fact, type FactOf, noHash, readReceipt, sealFact } from "../core/receipt.ts";
import { writeWhole } from "./safe-file.ts";

export interface Receipt {
  readonly id: string;
  /** Up to the first line that is not as it was written. */
  readonly facts: readonly Fact[];
  readonly broken: Broken | null;
}

export interface Ends {
  readonly started: FactOf<"run.started"> | null;
  readonly finished: FactOf<"run.finished"> | null;
}

/** A receipt that is being written. Never throws. */
export interface Page {
  add(fact: Fact): void;
  close(): void;
}

export interface Receipts {
  /** Ids, newest first. What is no regular file is no receipt. */
  ids(): readonly string[];
  read(id: string): Receipt;
  /** How a run began and ended, seals and shape unchecked; null for what is not there or was cut off. */
  ends(id: string): Ends;
  /** The run whose id is `wanted` or begins with it. Throws failed when there is none, usage when there are several. */
  find(wanted: string): string;
  begin(id: string, warn: (text: string) => void): Page;
  /** Forgets all but the newest; returns how many. */
  prune(now: Date): number;
}

/** As many runs as the journal keeps, and as long. */
const most = 200;
const days = 30;

const idShape = /^\d{8}-\d{9}-[0-9a-f]{4}$/;

/** `folder` is made when the first run is recorded. */
export function openReceipts(folder: string): Receipts {
  const fileOf = (id: string) => join(folder, `${id}.jsonl`);
  const ids = () => {
    try {
      const entries = readdirSync(folder, { withFileTypes: true });
      return entries
        .flatMap((entry) => (entry.isFile() && entry.name.endsWith(".jsonl") ? [entry.name.slice(0, -6)] : []))
        .filter((id) => idShape.test(id))
        .sort()
        .reverse();
    } catch {
      return [];
    }
  };
  return {
    ids,
    read: (id) => ({ id, ...readReceipt(readFileSync(fileOf(id)), id) }),
    ends: (id) => readEnds(fileOf(id)),
    find(wanted) {
      const found = ids().filter((id) => id.startsWith(wanted));
      const [id] = found.includes(wanted) ? [wanted] : found;
      if (id === undefined || wanted === "")
        throw new PaiError("failed", `there is no receipt of a run ${wanted}`, { hint: "see: pai history" });
      if (found.length > 1 && id !== wanted)
        throw new PaiError("usage", `${wanted} names ${found.length} runs: ${found.join(", ")}`);
      return id;
    },
    begin: (id, warn) => openPage(folder, fileOf(id), warn),
    prune(now) {
      const all = ids();
      const oldest = stampOf(new Date(now.getTime() - days * 86_400_000));
      const old = all.filter((id, at) => at >= most || id < oldest);
      for (const id of old) rmSync(fileOf(id), { force: true });
      return old.length;
    },
  };
}

/** The first and the last line; those between may be many. */
function readEnds(file: string): Ends {
  const parse = <T extends Fact["type"]>(line: Uint8Array, type: T): FactOf<T> | null => {
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

/** How ids of runs at this time begin. */
const stampOf = (at: Date) => at.toISOString().slice(0, 10).replaceAll("-", "");

/** One write a line, and no sync: a receipt need not outlive a power cut. */
function openPage(folder: string, file: string, warn: (text: string) => void): Page {
  let fd: number | null = null;
  let prev = noHash;
  let ended = false;
  return {
    add(fact) {
      if (ended) return;
      try {
        fd ??= create(folder, file);
        const { line, hash } = sealFact(fact, prev);
        writeWhole(fd, line);
        prev = hash;
      } catch (error) {
        ended = true;
        warn(`the receipt of this run cannot be kept: ${toPaiError(error).message}`);
      }
    },
    close() {
      ended = true;
      if (fd !== null) closeSync(fd);
      fd = null;
    },
  };
}

function create(folder: string, file: string): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  return openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
}
