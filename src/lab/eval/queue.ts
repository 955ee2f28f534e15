/** Subcommands of `pai eval` for a queue in the team's store: fill it, work on it, read its results. */
import { hostname } from "node:os";
import { showResult } from "../../cli/answer-document.ts";
import type { Context } from "../../cli/command.ts";
import { version } from "../../cli/commands/version.ts";
import type { Base } from "../../cli/compose/base.ts";
import { openLog } from "../../cli/open-log.ts";
import { PaiError } from "../../core/error.ts";
import { counted } from "../../ui/amount.ts";
import { fillQueue, readQueueResults } from "../team/eval-queue.ts";
import { withStore } from "../team/link-team.ts";
import type { Bench } from "./candidate.ts";
import type { EvalTask } from "./load-tasks.ts";
import { emptyQueue } from "./queue-worker.ts";
import { type EvalResult, readResults } from "./result.ts";
import { type EvalPlan, itemsOf } from "./run-eval.ts";

/** Seconds after which the work of a silent worker goes to another. */
const leaseSeconds = 60;
const pauseMs = 2000;

interface Filling extends Omit<EvalPlan, "jobs" | "file"> {
  readonly queue: string;
}

/** Adds all work of a plan to a queue and says how much is new. Returns the exit code; throws usage, store_away. */
export async function fill(context: Context, base: Base, plan: Filling): Promise<number> {
  const work = itemsOf(plan).map(({ key, task, candidate, repeat }) => ({
    key,
    task: task.id,
    sha256: task.sha256,
    ...candidate,
    repeat,
  }));
  const { queue, pai, maxCost } = plan;
  const added = await withStore(base, "--queue", (store) => fillQueue(store, { queue, pai, maxCost }, work));
  const text = `${counted(added, "item")} added to ${queue}, ${work.length - added} there before; empty it: pai eval worker TASKS --queue ${queue}\n`;
  return showResult(context, "eval", { queue, added, known: work.length - added }, text);
}

interface Working {
  readonly queue: string;
  readonly tasks: readonly EvalTask[];
  readonly jobs: number;
  readonly maxCost: number | null;
  readonly file: string;
  readonly bench: Bench;
  readonly render: (result: EvalResult, left: number) => string;
}

/** Works on a queue; returns this worker's own results. */
export function work(context: Context, base: Base, given: Working): Promise<readonly EvalResult[]> {
  const { queue, tasks, bench, render, ...rest } = given;
  const showProgress = context.flags.quiet === true ? () => {} : context.err;
  const log = openLog(context);
  const name = `${hostname()} ${process.pid} ${crypto.randomUUID()}`;
  const worker = { queue, name, pai: version, tasks: tasks.map(({ sha256 }) => sha256), lease: leaseSeconds };
  return withStore(base, "--queue", (store) =>
    emptyQueue(
      {
        ...rest,
        store,
        worker,
        tasks,
        pauseMs,
        onResult: (result, state) => showProgress(render(result, state?.open ?? 0)),
        warn: (text) => log.notify({ level: "warning", code: "store", text }),
      },
      bench,
    ),
  );
}

/** All results of a queue. Throws usage for an unknown queue, or one without results. */
export async function readQueued(base: Base, queue: string): Promise<readonly EvalResult[]> {
  const rows = await withStore(base, "--queue", (store) => readQueueResults(store, queue));
  if (rows === null) throw new PaiError("usage", `unknown queue: ${queue}`);
  const results = readResults(rows.map((row) => JSON.stringify(row)).join("\n"));
  if (results.length === 0) throw new PaiError("usage", `the queue ${queue} has no results yet`);
  return results;
}
