/** Runs an evaluation: every candidate on every task, as often as asked, without repeating finished work. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { digest } from "../../core/digest.ts";
import { toPaiError } from "../../core/error.ts";
import { type Bench, type EvalCandidate, tryCandidate } from "./candidate.ts";
import type { EvalTask } from "./load-tasks.ts";
import { type EvalResult, readResults } from "./result.ts";

/** Version of layout and judging; a new one makes earlier results invalid. */
const harness = "1";

export interface EvalPlan {
  readonly tasks: readonly EvalTask[];
  readonly candidates: readonly EvalCandidate[];
  readonly repeats: number;
  readonly jobs: number;
  /** USD for all work; null: only each run is limited. */
  readonly maxCost: number | null;
  readonly shard: { readonly index: number; readonly of: number };
  /** File to which results are appended, one JSON line each. */
  readonly file: string;
  /** Version and commit of this pai. */
  readonly pai: string;
}

export interface EvalItem {
  readonly key: string;
  readonly task: EvalTask;
  readonly candidate: EvalCandidate;
  readonly repeat: number;
}

export interface EvalProgress {
  readonly onStart: (todo: number, done: number) => void;
  readonly onResult: (result: EvalResult, left: number) => void;
}

/** All work of a plan, in the order of its tasks. */
export function itemsOf({
  tasks,
  candidates,
  repeats,
  shard,
  pai,
}: Omit<EvalPlan, "jobs" | "maxCost" | "file">): readonly EvalItem[] {
  const all = tasks.flatMap((task) =>
    candidates.flatMap((candidate) =>
      Array.from({ length: repeats }, (_, repeat): EvalItem => {
        const parts = [harness, pai, task.id, task.sha256, candidate.model, candidate.mode, String(repeat)];
        return { key: digest(parts.join("\0")).slice(0, 32), task, candidate, repeat };
      }),
    ),
  );
  return all.filter((_, at) => at % shard.of === shard.index - 1);
}

/**
 * Does the remaining work. Returns all results of this plan, including earlier ones, and how much the cost cap left
 * undone. Throws when it is interrupted; the file keeps finished results.
 */
export async function runEval(
  plan: EvalPlan,
  bench: Bench,
  { onStart, onResult }: EvalProgress,
): Promise<{ readonly results: readonly EvalResult[]; readonly undone: number }> {
  const items = itemsOf(plan);
  const kept = existsSync(plan.file) ? readResults(readFileSync(plan.file, "utf8")) : [];
  const known = new Map(kept.map((result) => [result.key, result] as const));
  // Work that ended in an error is tried again.
  const queue = items.filter(({ key }) => (known.get(key)?.error ?? null) !== null || !known.has(key));
  let left = queue.length;
  onStart(left, items.length - left);
  let cost = items.reduce((sum, { key }) => sum + (known.get(key)?.cost ?? 0), 0);

  const take = (): EvalItem | undefined => {
    bench.signal.throwIfAborted();
    return plan.maxCost !== null && cost >= plan.maxCost ? undefined : queue.shift();
  };
  const finish = ({ key, repeat }: EvalItem, figures: Omit<EvalResult, "v" | "key" | "repeat" | "pai">) => {
    const result: EvalResult = { v: 1, key, repeat, pai: plan.pai, ...figures };
    known.set(key, result);
    appendFileSync(plan.file, `${JSON.stringify(result)}\n`, { mode: 0o600 });
    cost += result.cost ?? 0;
    left -= 1;
    onResult(result, left);
  };
  const worker = async () => {
    for (let item = take(); item !== undefined; item = take()) {
      const room = plan.maxCost === null ? [] : ["--max-cost", (plan.maxCost - cost).toFixed(6)];
      finish(item, await tryCandidate(item.task, item.candidate, { ...bench, flags: [...bench.flags, ...room] }));
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: plan.jobs }, worker));
  const broken = ended.find((end) => end.status === "rejected");
  if (broken !== undefined) throw bench.signal.aborted ? toPaiError(bench.signal.reason) : broken.reason;
  return { results: items.flatMap(({ key }) => known.get(key) ?? []), undone: queue.length };
}
