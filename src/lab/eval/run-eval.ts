/** Runs an evaluation: every candidate on every task, as often as asked, without repeating finished work. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { version } from "../../cli/commands/version.ts";
import { digest } from "../../core/digest.ts";
import { toPaiError } from "../../core/error.ts";
import { counted, priced } from "../../ui/amount.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { type Bench, type EvalCandidate, type EvalResult, readResults, tryCandidate } from "./candidate.ts";
import type { EvalTask } from "./load-tasks.ts";

/** Version of layout and judging; a new one makes earlier results invalid. */
const harness = "1";

export interface EvalPlan {
  readonly tasks: readonly EvalTask[];
  readonly candidates: readonly EvalCandidate[];
  readonly repeats: number;
  /** USD for all work; null: only each run is limited. */
  readonly maxCost: number | null;
  readonly shard: { readonly index: number; readonly of: number };
}

interface EvalItem {
  readonly key: string;
  readonly task: EvalTask;
  readonly candidate: EvalCandidate;
  readonly repeat: number;
}

/** Where work comes from and its results go: a plan of this machine, or a queue of the team. */
export interface WorkSource {
  /** The next work, and USD that it may cost (infinite: no cap); null: none is left. */
  readonly take: () => Promise<{ readonly item: EvalItem; readonly room: number } | null>;
  /** Keeps a result; returns how much work is left. */
  readonly finish: (result: EvalResult) => Promise<number>;
}

export function itemsOf({ tasks, candidates, repeats, shard }: EvalPlan): readonly EvalItem[] {
  const all = tasks.flatMap((task) =>
    candidates.flatMap((candidate) =>
      Array.from({ length: repeats }, (_, repeat): EvalItem => {
        const parts = [harness, version, task.id, task.sha256, candidate.model, candidate.mode, String(repeat)];
        return { key: digest(parts.join("\0")).slice(0, 32), task, candidate, repeat };
      }),
    ),
  );
  return all.filter((_, at) => at % shard.of === shard.index - 1);
}

export const keptResults = (file: string): readonly EvalResult[] =>
  existsSync(file) ? readResults(readFileSync(file, "utf8")) : [];

export const keepResult = (file: string, result: EvalResult): void =>
  appendFileSync(file, `${JSON.stringify(result)}\n`, { mode: 0o600 });

function renderResult({ passed, task, model, mode, error, tampered, ms, cost }: EvalResult, left: number): string {
  const how = tampered.length > 0 ? "tampered" : passed ? "passed" : error === null ? "failed" : "error";
  const facts = [`${(ms / 1000).toFixed(1)} s`, ...(cost === null ? [] : [priced(cost)]), `${left} left`];
  const who = mode === "none" ? model : `${model} ${mode}`;
  const why = error === null ? "" : `\n  ${visibleLine(error)}`;
  return `${how.padEnd(8)}  ${visibleLine(task)}  ${visibleLine(who)}  ${facts.join(", ")}${why}\n`;
}

/** Does the work of a source, `jobs` at a time. Throws when it is interrupted. */
export async function workOn({ take, finish }: WorkSource, bench: Bench): Promise<void> {
  const worker = async () => {
    for (let next = await take(); next !== null; next = await take()) {
      const { item, room } = next;
      const cap = Number.isFinite(room) ? ["--max-cost", Math.max(0.000001, room).toFixed(6)] : [];
      const figures = await tryCandidate(item.task, item.candidate, { ...bench, flags: [...bench.flags, ...cap] });
      const result: EvalResult = { v: 1, key: item.key, repeat: item.repeat, pai: version, ...figures };
      bench.say(renderResult(result, await finish(result)));
      bench.signal.throwIfAborted();
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: bench.jobs }, worker));
  const broken = ended.find((end) => end.status === "rejected");
  if (broken !== undefined) throw bench.signal.aborted ? toPaiError(bench.signal.reason) : broken.reason;
}

/**
 * Does the remaining work. Returns all results of this plan, including earlier ones in `file`, and how much the cost cap
 * left undone. Throws when it is interrupted; the file keeps finished results.
 */
export async function runEval(plan: EvalPlan, file: string, bench: Bench) {
  const items = itemsOf(plan);
  const known = new Map(keptResults(file).map((result) => [result.key, result] as const));
  // Work that ended in an error is tried again.
  const queue = items.filter(({ key }) => known.get(key)?.error !== null);
  let left = queue.length;
  let room = items.reduce((rest, { key }) => rest - (known.get(key)?.cost ?? 0), plan.maxCost ?? Infinity);
  bench.say(`${counted(plan.tasks.length, "task")}, ${left} to do, ${items.length - left} done before\n`);
  const take = async () => {
    const item = room > 0 ? queue.shift() : undefined;
    return item === undefined ? null : { item, room };
  };
  const finish = async (result: EvalResult) => {
    known.set(result.key, result);
    keepResult(file, result);
    room -= result.cost ?? 0;
    left -= 1;
    return left;
  };
  await workOn({ take, finish }, bench);
  return { results: items.flatMap(({ key }) => known.get(key) ?? []), undone: queue.length };
}
