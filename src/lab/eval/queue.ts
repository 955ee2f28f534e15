/** A queue of evaluations in the team's store: fill it, work on it, read its results. */

import { hostname } from "node:os";
import { openLog, showResult } from "../../cli/answer-document.ts";
import { version } from "../../cli/commands/version.ts";
import type { Base } from "../../cli/compose/base.ts";
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
  readGivenUp,
  readQueueResults,
  renewWork,
  takeWork,
  type Worker,
} from "../team/eval-queue.ts";
import { withStore } from "../team/link-team.ts";
import type { TeamStore } from "../team/team-store.ts";
import { type Bench, controls, figuresOf } from "./candidate.ts";
import type { EvalTask } from "./load-tasks.ts";
import { type EvalResult, readResults } from "./result.ts";
import { type EvalPlan, itemsOf, keepResult, keptResults, type WorkSource, workOn } from "./run-eval.ts";

const leaseSeconds = 60;
/** Milliseconds between looks at a queue whose work others have taken. */
const pauseMs = 2000;
const tries = 5;

export async function fill(base: Base, queue: string, plan: EvalPlan): Promise<number> {
  const work = itemsOf(plan).map(({ key, task, candidate, repeat }) => ({
    key,
    task: task.id,
    sha256: task.sha256,
    ...candidate,
    repeat,
  }));
  const filling = { queue, pai: version, maxCost: plan.maxCost };
  const added = await withStore(base, "--queue", (store) => fillQueue(store, filling, work));
  const text = `${counted(added, "item")} added to ${queue}, ${work.length - added} there before; empty it: pai eval worker TASKS --queue ${queue}\n`;
  return showResult(base.context, "eval", { queue, added, known: work.length - added }, text);
}

export async function readQueued(base: Base, queue: string): Promise<readonly EvalResult[]> {
  const rows = await withStore(base, "--queue", (store) => readQueueResults(store, queue));
  if (rows === null) throw new PaiError("usage", `unknown queue: ${queue}`);
  const results = readResults(rows.map((row) => JSON.stringify(row)).join("\n"));
  if (results.length === 0) throw new PaiError("usage", `the queue ${queue} has no results yet`);
  return results;
}

const failedWork = ({ key, task, model, mode, repeat }: QueuedWork, error: string): EvalResult => ({
  ...{ v: 1, key, task, model, mode, repeat, pai: version, passed: false, tampered: [], false_verified: false },
  ...figuresOf({ ended: null, ms: 0, error }),
  check: { exit: null, ms: 0, output: "" },
});

/** Whether a row, which somebody else wrote, names a valid candidate: it becomes arguments of a command. */
const isCandidate = ({ model, mode }: QueuedWork): boolean =>
  !model.startsWith("-") && (controls.includes(model) ? mode === "none" : modes.some((known) => known === mode));

interface Working {
  readonly queue: string;
  readonly tasks: readonly EvalTask[];
  /** USD that this worker may spend; null: only the queue's and each run's limits apply. */
  readonly maxCost: number | null;
  /** Local file of its results; the next start sends those that the database did not get. */
  readonly file: string;
  readonly bench: Bench;
}

/** The queue as a source of work, while the database is unreachable too: a worker outlives its restart. */
function openSource(store: TeamStore, worker: Worker, { tasks, maxCost, file, bench }: Working, log: typeof bench.say) {
  const bySha = new Map(tasks.map((task) => [task.sha256, task] as const));
  const done: EvalResult[] = [];
  let own = maxCost ?? Infinity;
  async function patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await ask();
      } catch (thrown) {
        const error = toPaiError(thrown);
        if (error.code !== "store_away" || tried === tries) throw error;
        log(`${error.message}; asking again`);
        await pause(pauseMs * tried, bench.signal);
      }
    }
  }
  const look = () => patiently(() => lookAtQueue(store, worker));
  const send = (result: EvalResult) => patiently(() => finishWork(store, worker.queue, result.key, result));
  const finish = async (result: EvalResult) => {
    keepResult(file, result);
    done.push(result);
    own -= result.cost ?? 0;
    await send(result);
    return (await look())?.open ?? 0;
  };
  /** What may be spent on the next work; 0: none is left. */
  const roomNow = async (isFound: boolean): Promise<number> => {
    const state = await look();
    if (state === null || (!isFound && state.taken === 0)) return 0;
    return Math.min(own, (state.maxCost ?? Infinity) - state.cost);
  };
  // Where others hold what is left it waits, since they may die.
  const take: WorkSource["take"] = async () => {
    while (own > 0) {
      bench.signal.throwIfAborted();
      const work = await patiently(() => takeWork(store, worker));
      const room = await roomNow(work !== null);
      const task = bySha.get(work?.sha256 ?? "");
      if (work === null && room <= 0) return null;
      if (work === null) await pause(pauseMs, bench.signal);
      else if (task === undefined || !isCandidate(work)) await finish(failedWork(work, "the candidate is not valid"));
      else return { item: { ...work, task, candidate: { model: work.model, mode: work.mode } }, room };
    }
    return null;
  };
  return { take, finish, look, send, done };
}

/**
 * Works on a queue until nothing is left that this worker could do; returns its own results. Throws usage for an unknown
 * queue, store_away if the database stays unreachable.
 */
export function work(base: Base, working: Working): Promise<readonly EvalResult[]> {
  const { queue, tasks, file, bench } = working;
  const name = `${hostname()} ${process.pid} ${crypto.randomUUID()}`;
  const worker = { queue, name, pai: version, tasks: tasks.map(({ sha256 }) => sha256), lease: leaseSeconds };
  const warn = (text: string) => openLog(base.context).notify({ level: "warning", code: "store", text });
  return withStore(base, "--queue", async (store) => {
    const source = openSource(store, worker, working, warn);
    if ((await source.look()) === null)
      throw new PaiError("usage", `unknown queue: ${queue}`, {
        hint: `fill it: pai eval run TASKS --queue ${queue}`,
      });
    for (const result of keptResults(file)) if (result.error === null) await source.send(result);
    const renewing = setInterval(() => void renewWork(store, worker).catch(() => {}), (leaseSeconds * 1000) / 3);
    try {
      await workOn(source, bench);
      for (const lost of await readGivenUp(store, queue)) await source.send(failedWork(lost, "no worker finished it"));
      return source.done;
    } finally {
      clearInterval(renewing);
      await giveBack(store, worker).catch(() => {});
    }
  });
}
