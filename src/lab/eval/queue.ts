/** A queue of evaluations in the team's store: fill it, work on it, read its results. */

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { showResult } from "../../cli/answer-document.ts";
import type { Context } from "../../cli/command.ts";
import { version } from "../../cli/commands/version.ts";
import type { Base } from "../../cli/compose/base.ts";
import { openLog } from "../../cli/open-log.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import { pause } from "../../store/pause.ts";
import { modes } from "../../store/setting-table.ts";
import { counted } from "../../ui/amount.ts";
import {
  fillQueue,
  finishWork,
  giveBack,
  lookAtQueue,
  type QueuedWork,
  type QueueState,
  readGivenUp,
  readQueueResults,
  renewWork,
  takeWork,
  type Worker,
} from "../team/eval-queue.ts";
import { withStore } from "../team/link-team.ts";
import type { TeamStore } from "../team/team-store.ts";
import { type Bench, controls, type EvalCandidate, figuresOf, tryCandidate } from "./candidate.ts";
import type { EvalTask } from "./load-tasks.ts";
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
  /** USD that this worker may spend; null: only the queue's and each run's limits apply. */
  readonly maxCost: number | null;
  /** Local file of its results; the next start sends those that the database did not get. */
  readonly file: string;
  readonly bench: Bench;
  readonly render: (result: EvalResult, left: number) => string;
}

/** Works on a queue; returns this worker's own results. */
export function work(context: Context, base: Base, given: Working): Promise<readonly EvalResult[]> {
  const { queue, bench, render, ...rest } = given;
  const showProgress = context.flags.quiet === true ? () => {} : context.err;
  const log = openLog(context);
  const name = `${hostname()} ${process.pid} ${crypto.randomUUID()}`;
  const worker = { queue, name, pai: version, tasks: rest.tasks.map(({ sha256 }) => sha256), lease: leaseSeconds };
  return withStore(base, "--queue", (store) =>
    emptyQueue(
      {
        ...rest,
        store,
        worker,
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

interface QueueWork extends Omit<Working, "queue" | "bench" | "render"> {
  readonly store: TeamStore;
  readonly worker: Worker;
  /** Milliseconds between polls of a queue whose work others have taken. */
  readonly pauseMs: number;
  readonly onResult: (result: EvalResult, state: QueueState | null) => void;
  readonly warn: (text: string) => void;
}

/** The result of work that could not be done. */
const failedWork = ({ key, task, model, mode, repeat }: QueuedWork, pai: string, error: string): EvalResult => ({
  ...{ v: 1, key, task, model, mode, repeat, pai, passed: false, tampered: [], false_verified: false },
  ...figuresOf({ ended: null, ms: 0, error }),
  check: { exit: null, ms: 0, output: "" },
});

/** Whether a row, which somebody else wrote, names a valid candidate: it becomes arguments of a command. */
const isCandidate = ({ model, mode }: QueuedWork): boolean =>
  !model.startsWith("-") && (controls.includes(model) ? mode === "none" : modes.some((known) => known === mode));

/** Attempts to reach the database before a worker gives up. */
const tries = 5;

/** Retries while the database is unreachable, so that a worker survives its restart. */
async function patiently<T>({ pauseMs, warn }: QueueWork, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  for (let left = tries; ; left -= 1) {
    try {
      return await ask();
    } catch (thrown) {
      const error = toPaiError(thrown);
      if (error.code !== "store_away" || left <= 1) throw error;
      warn(`${error.message}; asking again`);
      await pause(pauseMs * (tries - left + 1), signal);
    }
  }
}

/** Sends results that an earlier start of this worker could not send. */
async function tellEarlier({ store, worker, file }: QueueWork): Promise<void> {
  const kept = existsSync(file) ? readResults(readFileSync(file, "utf8")) : [];
  for (const result of kept) if (result.error === null) await finishWork(store, worker.queue, result.key, result);
}

/**
 * Works until nothing is left that this worker could do; waits for work that others have taken, since they may die.
 * Returns its own results. Throws usage for an unknown queue, store_away if the database stays unreachable.
 */
async function emptyQueue(plan: QueueWork, bench: Bench): Promise<readonly EvalResult[]> {
  const { store, worker, tasks, file } = plan;
  const { signal } = bench;
  const bySha = new Map(tasks.map((task) => [task.sha256, task] as const));
  const done: EvalResult[] = [];
  let cost = 0;
  const look = () => patiently(plan, signal, () => lookAtQueue(store, worker));
  if ((await look()) === null)
    throw new PaiError("usage", `unknown queue: ${worker.queue}`, {
      hint: `fill it: pai eval run TASKS --queue ${worker.queue}`,
    });
  await patiently(plan, signal, () => tellEarlier(plan));

  const finish = async (result: EvalResult) => {
    appendFileSync(file, `${JSON.stringify(result)}\n`, { mode: 0o600 });
    done.push(result);
    cost += result.cost ?? 0;
    await patiently(plan, signal, () => finishWork(store, worker.queue, result.key, result));
    plan.onResult(result, await look());
  };
  const mayTake = () => plan.maxCost === null || cost < plan.maxCost;
  const next = async (): Promise<QueuedWork | null> => {
    for (;;) {
      signal.throwIfAborted();
      const work = mayTake() ? await patiently(plan, signal, () => takeWork(store, worker)) : null;
      if (work !== null || !mayTake()) return work;
      const state = await look();
      const isSpent = state !== null && state.maxCost !== null && state.cost >= state.maxCost;
      if (state === null || state.taken === 0 || isSpent) return null;
      await pause(plan.pauseMs, signal);
    }
  };
  const work = async () => {
    for (let item = await next(); item !== null; item = await next()) {
      const { key, sha256, model, mode, repeat } = item;
      const task = bySha.get(sha256);
      if (task === undefined)
        throw new PaiError("failed", `the queue returned a task that was not requested: ${item.task}`);
      if (!isCandidate(item)) {
        await finish(failedWork(item, worker.pai, "the candidate is not valid"));
        continue;
      }
      const limits = [plan.maxCost === null ? null : plan.maxCost - cost, await leftOf(look)].filter(
        (left) => left !== null,
      );
      const room = limits.length === 0 ? [] : ["--max-cost", Math.max(0.000001, Math.min(...limits)).toFixed(6)];
      const candidate: EvalCandidate = { model, mode };
      const figures = await tryCandidate(task, candidate, { ...bench, flags: [...bench.flags, ...room] });
      await finish({ v: 1, key, repeat, pai: worker.pai, ...figures });
    }
  };

  const renewing = setInterval(() => void renewWork(store, worker).catch(() => {}), (worker.lease * 1000) / 3);
  try {
    const ended = await Promise.allSettled(Array.from({ length: plan.jobs }, work));
    const broken = ended.find((end) => end.status === "rejected");
    if (broken !== undefined) throw signal.aborted ? toPaiError(signal.reason) : broken.reason;
    for (const lost of await readGivenUp(store, worker.queue))
      await finishWork(store, worker.queue, lost.key, failedWork(lost, worker.pai, "no worker finished it"));
    return done;
  } finally {
    clearInterval(renewing);
    await giveBack(store, worker).catch(() => {});
  }
}

/** USD that the queue has left; null: no cap. */
async function leftOf(look: () => Promise<QueueState | null>): Promise<number | null> {
  const state = await look();
  return state === null || state.maxCost === null ? null : state.maxCost - state.cost;
}
